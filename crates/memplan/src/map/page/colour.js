// Colours: what a buffer's fill says. Both the set and the scales can be told apart
// with any of the common kinds of colour blindness, and in grey by their lightness.

const SET = ["#77aadd", "#ee8866", "#eedd88", "#44bb99", "#ffaabb", "#99ddff", "#bbcc33", "#cccccc"];
const BY_SIZE = ["#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"];
const BY_LIFE = ["#08306b", "#31446b", "#565c6c", "#787877", "#9b9476", "#c0b46c", "#e4d354", "#fee838"];
const NOTHING = "#b0b0b0";

const parse = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const mixed = (a, b, share) => a.map((value, i) => Math.round(value + (b[i] - value) * share));
const packed = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
const css = ([r, g, b]) => `rgb(${r}, ${g}, ${b})`;
/** Whether black can be read on it better than white. */
const isBright = ([r, g, b]) => 0.299 * r + 0.587 * g + 0.114 * b > 128;

/** A colour between the stops of a scale, for a share of 0..1. */
function between(stops, share) {
  const at = Math.max(0, Math.min(1, share)) * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  return mixed(parse(stops[low]), parse(stops[low + 1]), at - low);
}

/** Colours along a quantity, on a scale of its logarithm. */
function scaled(quantity, stops, words) {
  let low = Infinity;
  let high = 0;
  for (let buffer = 0; buffer < count; buffer += 1) {
    const value = quantity(buffer);
    if (value > 0) low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const range = Math.log(high / low) || 1;
  return {
    of: (buffer) => (quantity(buffer) > 0 ? between(stops, Math.log(quantity(buffer) / low) / range) : parse(NOTHING)),
    scale: high > 0 ? { stops, low: words(low), high: words(high) } : null,
  };
}

/** A colour for each different value of a column; the most frequent ones get one of their own. */
function sorted(valueOf, words) {
  const times = new Map();
  let without = 0;
  for (let buffer = 0; buffer < count; buffer += 1) {
    const value = valueOf(buffer);
    if (value === null || value === undefined) without += 1;
    else times.set(value, (times.get(value) ?? 0) + 1);
  }
  const values = [...times.keys()].sort((a, b) => times.get(b) - times.get(a));
  const order = new Map(values.map((value, i) => [value, i]));
  const chips = values.slice(0, SET.length).map((value, i) => [SET[i], words(value)]);
  if (values.length > SET.length) chips.push([null, `and ${values.length - SET.length} more`]);
  return {
    of: (buffer) => {
      const at = order.get(valueOf(buffer));
      return parse(at === undefined ? NOTHING : SET[at % SET.length]);
    },
    chips: without > 0 ? [...chips, [NOTHING, "none"]] : chips,
  };
}

/** Whether a buffer is somewhere else in another plan. */
function moved(buffer) {
  const places = plans.map((plan) => `${plan.home[buffer]} ${plan.objects[buffer] ?? ""} ${plan.offsets[buffer] ?? ""}`);
  return places.some((place) => place !== places[0]);
}

/** A way to colour by what is noted about buffers. */
const byNote = (what, words) => ({
  name: what, words, applies: () => noteOf(what) !== undefined,
  of: () => sorted((buffer) => noteOf(what)?.[buffer], (value) => value),
});

/** A name without the number that tells several buffers of that name apart: allocations of one line of code, for example. */
const stem = (buffer) => buffers.name[buffer].replace(/#\d+$/, "");

/** Whether several buffers have one name but for the number; found out once, since there may be very many. */
let repeated = null;
const haveStems = () => (repeated ??= new Set(Array.from({ length: count }, (_, buffer) => stem(buffer))).size < count);

/** The ways to colour: name, words, whether it says anything here, and the colours for a plan. */
const MODES = [
  { name: "buffer", words: "buffer", applies: () => true, of: () => ({ of: (buffer) => parse(SET[buffer % SET.length]) }) },
  { name: "size", words: "size", applies: () => true, of: () => scaled(sizeOf, BY_SIZE, (bytes) => human(bytes, true)) },
  { name: "lifetime", words: "lifetime", applies: () => true, of: () => scaled(lifeOf, BY_LIFE, (steps) => many(steps, "step")) },
  { name: "stem", words: "name without its number", applies: haveStems, of: () => sorted(stem, (name) => name) },
  {
    name: "space", words: "memory space", applies: () => spaceNames.length > 1,
    of: (plan) => sorted((buffer) => (plan.home[buffer] < 0 ? null : plan.home[buffer]), (home) => spaceNames[home]),
  },
  byNote("kind", "kind"),
  byNote("op", "op that writes it"),
  {
    name: "pipe", words: "pipe", applies: () => buffers.pipe !== undefined,
    of: () => sorted((buffer) => buffers.pipe?.[buffer], (pipe) => pipe),
  },
  {
    name: "object", words: "shared object", applies: () => plans.some((plan) => plan.objects.length > 0),
    of: (plan) => sorted((buffer) => plan.objects[buffer], (object) => `object ${object}`),
  },
  {
    name: "group", words: "tied group", applies: () => buffers.group !== undefined,
    of: () => sorted((buffer) => buffers.group?.[buffer], (group) => group),
  },
  {
    name: "moved", words: "moved between plans", applies: () => plans.length > 1,
    of: () => ({
      of: (buffer) => parse(moved(buffer) ? SET[1] : SET[0]),
      chips: [[SET[0], "same place"], [SET[1], "somewhere else"]],
    }),
  },
];

/** Colours mean something from the start: what a buffer is for, else what makes it, else how large it is. */
const usualMode = () => {
  const best = ["kind", "pipe", "object", "size"].map((name) => MODES.find((mode) => mode.name === name));
  return best.find((mode) => mode.applies()) ?? MODES[0];
};

/** The fills of all buffers for a plan: as they are, and faded into the paper. */
function fillsOf(plan, mode, paper) {
  const colours = mode.of(plan);
  const rgb = Array.from({ length: count }, (_, buffer) => colours.of(buffer));
  return {
    rgb,
    full: Uint32Array.from(rgb, packed),
    faded: Uint32Array.from(rgb, (colour) => packed(mixed(colour, paper, 0.84))),
    legend: colours,
  };
}
