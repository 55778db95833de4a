// Numbers in words, and elements made of text only.

const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** `5.742 MiB`; `trim` leaves out decimals that say nothing. The sizes of textures count elements. */
function human(bytes, trim = false) {
  if (data.elements) return many(bytes, "element");
  if (bytes < 1024) return `${grouped.format(bytes)} B`;
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit + 1 < UNITS.length) {
    value /= 1024;
    unit += 1;
  }
  const digits = value.toFixed(3);
  return `${trim ? digits.replace(/\.?0+$/, "") : digits} ${UNITS[unit]}`;
}

/** Beyond 2^53 the last digits are not known here. */
const exact = (number) => (number > Number.MAX_SAFE_INTEGER ? "≈ " : "") + grouped.format(number);
const bytesInFull = (bytes) => (bytes < 1024 || data.elements ? human(bytes) : `${human(bytes)} (${exact(bytes)} B)`);
const many = (number, noun) => `${grouped.format(number)} ${noun}${number === 1 ? "" : "s"}`;

/** An element with text or elements in it. Text stays text: nothing here reads markup. */
function make(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...content.filter((part) => part !== null && part !== undefined));
  return element;
}

/** A long text with its middle left out: names of one network often begin alike, and end differently. */
function middleOut(text, most) {
  const characters = Array.from(text);
  if (characters.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  return `${characters.slice(0, head).join("")}…${characters.slice(characters.length - (most - 1 - head)).join("")}`;
}

const find = (id) => document.getElementById(id);

/** A name of the input, kept apart from the text around it in both directions of writing. */
const named = (name) => make("bdi", {}, name);
