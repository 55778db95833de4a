// What the page shows, read from the JSON in the file.

const data = JSON.parse(document.getElementById("data").textContent);
const buffers = data.buffers;
const count = buffers.name.length;
const plans = data.plans;

const IDLE = 0;
const ALIVE = 1;
const TAKEN = 2;

/** The shapes of one space as typed columns: quick to scan, so no index is needed. */
function layerOf(flat) {
  const length = flat.length / 6;
  const layer = {
    length,
    buffer: new Int32Array(length),
    slot: new Int32Array(length),
    kind: new Uint8Array(length),
    start: new Float64Array(length),
    end: new Float64Array(length),
    low: new Float64Array(length),
    high: new Float64Array(length),
  };
  for (let i = 0, at = 0; i < length; i += 1, at += 6) {
    layer.buffer[i] = flat[at];
    layer.slot[i] = Math.floor(flat[at + 1] / 3);
    layer.kind[i] = flat[at + 1] % 3;
    layer.start[i] = flat[at + 2];
    layer.end[i] = flat[at + 3];
    layer.low[i] = flat[at + 4];
    layer.high[i] = flat[at + 5];
  }
  return layer;
}

for (const [index, plan] of plans.entries()) {
  plan.index = index;
  plan.letter = String.fromCharCode(65 + (index % 26));
  plan.byName = new Map();
  plan.victims = new Map(plan.reused);
  plan.home = new Int32Array(count).fill(-1);
  for (const space of plan.spaces) {
    space.layer = layerOf(space.shapes);
    space.shapes = null;
    space.handovers = space.handovers.map(([earlier, later, weight, from, to, low, high]) => ({ earlier, later, weight, from, to, low, high }));
    space.buffers = new Set(space.layer.buffer).size;
    plan.byName.set(space.name, space);
  }
}

/** Every space that some plan uses, in order. */
const spaceNames = [...new Set(plans.flatMap((plan) => plan.spaces.map((space) => space.name)))];

for (const plan of plans) {
  for (const space of plan.spaces) {
    const at = spaceNames.indexOf(space.name);
    for (const buffer of space.layer.buffer) plan.home[buffer] = at;
  }
}

/** Of each shape, at most this many overlaps with earlier ones are marked: enough to see it. */
const MOST_WRONG = 4;

/** Where buffers are alive on the same bytes without being allowed to: marked in plans that do not verify. */
function overlapsOf(plan, layer) {
  const isAllowed = (a, b) => (a === b)
    || (buffers.group?.[a] !== undefined && buffers.group[a] !== null && buffers.group[a] === buffers.group[b])
    || (plan.victims.get(a) ?? []).includes(b) || (plan.victims.get(b) ?? []).includes(a);
  const alive = Array.from({ length: layer.length }, (_, i) => i).filter((i) => layer.kind[i] === ALIVE);
  alive.sort((i, j) => layer.start[i] - layer.start[j]);
  const found = [];
  let active = [];
  for (const i of alive) {
    active = active.filter((j) => layer.end[j] > layer.start[i]);
    let marked = 0;
    for (const j of active) {
      const [low, high] = [Math.max(layer.low[i], layer.low[j]), Math.min(layer.high[i], layer.high[j])];
      if (low >= high || isAllowed(layer.buffer[i], layer.buffer[j])) continue;
      found.push({ start: layer.start[i], end: Math.min(layer.end[i], layer.end[j]), low, high });
      marked += 1;
      if (marked === MOST_WRONG) break;
    }
    active.push(i);
  }
  return found;
}

/** What each group of tied buffers spans, from its first step to its last and from its lowest byte to its highest. */
function tiesOf(layer) {
  const spans = new Map();
  for (let i = 0; buffers.group !== undefined && i < layer.length; i += 1) {
    const group = buffers.group[layer.buffer[i]];
    if (group === null || layer.kind[i] === TAKEN) continue;
    const span = spans.get(group) ?? { start: Infinity, end: -Infinity, low: Infinity, high: -Infinity, members: new Set() };
    span.start = Math.min(span.start, layer.start[i]);
    span.end = Math.max(span.end, layer.end[i]);
    span.low = Math.min(span.low, layer.low[i]);
    span.high = Math.max(span.high, layer.high[i]);
    span.members.add(layer.buffer[i]);
    spans.set(group, span);
  }
  return [...spans.values()].filter((span) => span.members.size > 1);
}

for (const plan of plans) {
  for (const space of plan.spaces) space.ties = tiesOf(space.layer);
  for (const space of plan.spaces) space.wrong = plan.violations.length > 0 ? overlapsOf(plan, space.layer) : [];
}

/** Stands for a space that a plan does not use. */
const nowhere = {
  name: "", extent: 0, capacity: null, lower: 0, peak: 0, peakStep: null, edges: [], live: [], ties: [], wrong: [], handovers: [], buffers: 0, layer: layerOf([]),
};

const spaceOf = (plan, index) => plan.byName.get(spaceNames[index]) ?? nowhere;

/** What runs at a step, if that is known. */
const ranAt = new Map(data.steps);
const stepWords = (step) => `step ${exact(step)}${ranAt.has(step) ? `: ${ranAt.get(step)}` : ""}`;

/** What is known of a buffer under that heading, such as its kind. */
const noteOf = (what) => buffers.notes.find((note) => note.what === what)?.of;

/** Length of a life from first to last step; 0 if there is none. */
const lifeOf = (buffer) => (buffers.end[buffer] ?? 0) - (buffers.start[buffer] ?? 0);
const sizeOf = (buffer) => buffers.size[buffer] ?? 0;
