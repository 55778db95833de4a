// The words beside the picture: summary, the selected buffer, who is alive, all buffers.

const LISTED = 12;
/** Letters of a name in the narrow list of what is alive; all of them are in its tooltip. */
const ALIVE_LETTERS = 15;
const ALIVE_ROWS = 60;
const PAGE_ROWS = 200;

/** What it costs to take over the bytes of others, by level. */
const LEVELS = {
  level2: "level2: takes over bytes from its own pipe",
  "level2 across loops": "level2 across loops: takes over bytes from another loop",
  level1: "level1: takes over all slots of a multi-buffer",
  level0: "level0: waits for another pipe",
};

/** A list of terms with what they are. */
const facts = (entries) => make("dl", {}, ...entries.flatMap(([term, ...what]) => [make("dt", {}, term), make("dd", {}, ...what)]));

/** A name that selects its buffer. */
const link = (buffer, letters = Infinity) => make("button", { type: "button", class: "link", title: buffers.name[buffer], onclick: () => select(buffer, true) },
  named(middleOut(buffers.name[buffer], letters)));

function showSummary() {
  const shown = plans.map((plan) => summaryOf(plan, plans.length > 1));
  find("summary").replaceChildren(...shown);
}

function summaryOf(plan, isOneOfSeveral) {
  const space = spaceOf(plan, state.space);
  const over = space.lower > 0 ? space.extent / space.lower : null;
  const rows = [
    ["extent", make("strong", {}, human(space.extent)), small(data.elements ? "" : `${exact(space.extent)} B`)],
    space.lower > 0 ? ["lower bound", human(space.lower), small(over === 1 ? "reached" : over < 1 ? "not kept" : `extent is ${over.toFixed(3)} ×`)] : null,
    space.capacity !== null ? ["capacity", human(space.capacity), small(`${(100 * space.extent / Math.max(1, space.capacity)).toFixed(1)} % used`)] : null,
    ["peak in use", human(space.peak), small(space.peakStep === null ? "" : stepWords(space.peakStep))],
    ["buffers", exact(space.buffers)],
    plan.cost !== null ? ["reuse cost", make("strong", {}, exact(plan.cost[0])), small(costWords(plan.cost))] : null,
  ];
  const heading = isOneOfSeveral ? make("h2", {}, badge(plan), ` ${plan.facts.slice(1).join(" · ")}`) : make("h2", {}, spaceNames.length > 1 ? named(space.name) : "Plan");
  const wrong = plan.violations.length === 0 ? null
    : make("details", { class: "wrong", open: true }, make("summary", {}, many(plan.violated, "violation")),
      make("ul", {}, ...plan.violations.map((text) => make("li", {}, text))),
      plan.violated > plan.violations.length ? `and ${grouped.format(plan.violated - plan.violations.length)} more` : null);
  const advice = plan.advice ? make("p", { class: "advice" }, plan.advice) : null;
  return make("div", { class: "plan" }, heading, facts(rows.filter((row) => row !== null)), advice, wrong);
}

const small = (text) => make("small", {}, text === "" ? "" : ` ${text}`);
const badge = (plan) => make("span", { class: "badge" }, plan.letter);

function showPicked() {
  const buffer = state.selected;
  if (buffer < 0) {
    find("picked").replaceChildren(make("h2", {}, "Details"), make("p", { class: "hint" }, "Click a rectangle, or press n, to see what it is and whom it meets."));
    return;
  }
  const meets = conflictsOf(state.plan, buffer);
  const shares = sharersOf(state.plan, buffer, meets);
  find("picked").replaceChildren(
    make("h2", {}, named(buffers.name[buffer])),
    facts(factsOf(buffer)),
    listOf("Alive at the same time", meets, "these need other bytes"),
    listOf("Same bytes at another time", shares, "these share memory with it"),
    pricesOf(state.plan, buffer),
    make("p", {}, make("button", { type: "button", onclick: () => select(-1) }, "Clear"), " ",
      make("button", { type: "button", onclick: zoomToSelected }, "Zoom to it")),
  );
}

function listOf(heading, members, why) {
  const largest = [...members].sort((a, b) => sizeOf(b) - sizeOf(a) || a - b);
  const items = largest.slice(0, LISTED).map((buffer) => make("li", {}, link(buffer), small(human(sizeOf(buffer), true))));
  if (largest.length > LISTED) items.push(make("li", {}, `and ${grouped.format(largest.length - LISTED)} more`));
  return make("details", { open: largest.length > 0 }, make("summary", { title: why }, `${heading}: ${exact(largest.length)}`), make("ul", { class: "names" }, ...items));
}

/** Everything that is known about a buffer. */
function factsOf(buffer) {
  const column = (name) => buffers[name]?.[buffer] ?? null;
  const rows = [["size", column("shape") ?? bytesInFull(sizeOf(buffer))]];
  for (const plan of plans) rows.push([plans.length > 1 ? `offset, plan ${plan.letter}` : "offset", placeOf(plan, buffer)]);
  rows.push(["life", lifeWords(buffer)]);
  for (const { what, of } of buffers.notes) if (of[buffer] !== null) rows.push([what, of[buffer]]);
  if (column("pipe") !== null) rows.push(["pipe", column("pipe")]);
  for (const plan of plans.filter(({ levels }) => levels.length > 0)) {
    rows.push([plans.length > 1 ? `level, plan ${plan.letter}` : "level", LEVELS[plan.levels[buffer]] ?? "side by side: takes over nobody's bytes"]);
  }
  if (column("loop") !== null) rows.push(["loop", column("loop")]);
  if (column("slots") !== null) rows.push(["slots", `${column("slots")}, used in rotation`]);
  if (column("alignment") !== null) rows.push(["alignment", exact(column("alignment"))]);
  if (column("group") !== null) rows.push(["tied to", named(column("group")), ` at ${exact(column("at"))}, with ${many(tiedTo(buffer).length, "other")}`]);
  if (column("fixed") !== null) rows.push(["fixed", `must be at ${exact(column("fixed"))}`]);
  if (column("exclusive") !== null) rows.push(["exclusive", "shares with nobody"]);
  const victims = state.plan.victims.get(buffer);
  if (victims) rows.push(["in place over", ...victims.map((victim) => link(victim))]);
  return rows;
}

function placeOf(plan, buffer) {
  const offsets = plan.offsets[buffer];
  if (offsets === null || offsets === undefined) return "not placed";
  const where = plan.home[buffer] >= 0 && spaceNames.length > 1 ? ` in ${spaceNames[plan.home[buffer]]}` : "";
  const object = plan.objects[buffer] ?? null;
  if (object !== null) return `object ${object}${where}`;
  const shown = offsets.slice(0, 8).map(exact).join(", ");
  return `${shown}${offsets.length > 8 ? ", …" : ""}${where}`;
}

function lifeWords(buffer) {
  if (buffers.start[buffer] === null) return "never alive";
  const stretches = stretchesOf(state.plan, buffer);
  const words = stretches.slice(0, 8).map(([start, end]) => `${exact(start)}..${exact(end)}`).join(" ");
  if (stretches.length === 0) return `${exact(buffers.start[buffer])}..${exact(buffers.end[buffer])}`;
  return `${words}${stretches.length > 8 ? " …" : ""} (${many(stretches.reduce((sum, [start, end]) => sum + end - start, 0), "step")})`;
}

/** When a buffer is alive: the parts of its first slot, in order. */
function stretchesOf(plan, buffer) {
  if (plan.home[buffer] < 0) return [];
  const { layer } = spaceOf(plan, plan.home[buffer]);
  const stretches = [];
  for (let i = 0; i < layer.length; i += 1) {
    if (layer.buffer[i] === buffer && layer.kind[i] === ALIVE && layer.slot[i] === 0) stretches.push([layer.start[i], layer.end[i]]);
  }
  return stretches.sort((a, b) => a[0] - b[0]);
}

/** Whether a sorted list of stretches meets a range of steps. */
function meetsAny(stretches, start, end) {
  let [low, high] = [0, stretches.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (stretches[middle][1] <= start) low = middle + 1;
    else high = middle;
  }
  return low < stretches.length && stretches[low][0] < end;
}

/** The buffers of the same space that are alive at a step at which this one is. */
function conflictsOf(plan, buffer) {
  const found = new Set();
  if (buffer < 0 || plan.home[buffer] < 0) return found;
  const { layer } = spaceOf(plan, plan.home[buffer]);
  const mine = stretchesOf(plan, buffer);
  for (let i = 0; i < layer.length; i += 1) {
    if (layer.kind[i] === ALIVE && meetsAny(mine, layer.start[i], layer.end[i])) found.add(layer.buffer[i]);
  }
  found.delete(buffer);
  return found;
}

/** The buffers that have bytes of this one at other times. */
function sharersOf(plan, buffer, conflicts) {
  const found = new Set();
  if (plan.home[buffer] < 0) return found;
  const { layer } = spaceOf(plan, plan.home[buffer]);
  const mine = [];
  for (let i = 0; i < layer.length && mine.length < 16; i += 1) {
    if (layer.buffer[i] === buffer && layer.kind[i] === ALIVE) mine.push([layer.low[i], layer.high[i]]);
  }
  for (let i = 0; i < layer.length; i += 1) {
    const isOn = ([low, high]) => layer.low[i] < high && low < layer.high[i];
    if (layer.kind[i] === ALIVE && !conflicts.has(layer.buffer[i]) && mine.some(isOn)) found.add(layer.buffer[i]);
  }
  found.delete(buffer);
  return found;
}

function showAlive() {
  const space = spaceOf(state.plan, state.space);
  const step = state.step ?? space.peakStep;
  if (step === null) {
    find("alive").replaceChildren();
    return;
  }
  const alive = aliveAt(space, step);
  const total = liveAt(space, step);
  const head = make("tr", {}, ...["buffer", "size", "so far"].map((name) => make("th", { scope: "col" }, name)));
  let sum = 0;
  const rows = alive.slice(0, ALIVE_ROWS).map(([buffer, bytes]) => {
    sum += bytes;
    const share = bytes / Math.max(1, total);
    return make("tr", {}, make("td", { title: buffers.name[buffer] }, link(buffer, ALIVE_LETTERS), shareBar(share)), make("td", {}, human(bytes, true)),
      make("td", {}, `${(100 * sum / Math.max(1, total)).toFixed(1)} %`));
  });
  if (alive.length > ALIVE_ROWS) rows.push(make("tr", {}, make("td", { colspan: 3 }, `and ${grouped.format(alive.length - ALIVE_ROWS)} smaller ones`)));
  const isPeak = step === space.peakStep;
  find("alive").replaceChildren(
    make("h2", {}, isPeak ? `Alive at the peak, ${stepWords(step)}` : `Alive at ${stepWords(step)}`),
    make("p", { class: "hint" }, `${many(alive.length, "buffer")}, ${bytesInFull(total)} in use `,
      isPeak ? "" : make("button", { type: "button", class: "link", onclick: () => chooseStep(null) }, "back to the peak")),
    make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)),
  );
}

/** A bar under a name, as long as its share of the bytes. */
function shareBar(share) {
  const bar = make("div", { class: "bar" });
  bar.style.width = `${Math.max(1, Math.min(100, 100 * share))}%`;
  return bar;
}

/** Who is alive at a step with how many bytes, largest first. */
function aliveAt(space, step) {
  const { layer } = space;
  const bytes = new Map();
  for (let i = 0; i < layer.length; i += 1) {
    if (layer.kind[i] !== ALIVE || layer.start[i] > step || layer.end[i] <= step) continue;
    bytes.set(layer.buffer[i], (bytes.get(layer.buffer[i]) ?? 0) + layer.high[i] - layer.low[i]);
  }
  return [...bytes].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
}

/** The alternative to the picture: every buffer in a table that can be sorted. */
const COLUMNS = [
  ["name", (buffer) => buffers.name[buffer]],
  ["bytes", sizeOf],
  ["first step", (buffer) => buffers.start[buffer] ?? -1],
  ["end step", (buffer) => buffers.end[buffer] ?? -1],
  ["offset", (buffer) => state.plan.offsets[buffer]?.[0] ?? -1],
];
const order = { column: 2, down: false, rows: PAGE_ROWS };

function showAll() {
  if (!find("all").open) return;
  const value = COLUMNS[order.column][1];
  const compare = (a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : a - b);
  const kept = Array.from({ length: count }, (_, buffer) => buffer).filter(isKept).sort(compare);
  if (order.down) kept.reverse();
  const heads = COLUMNS.map(([name], column) => {
    const sorted = column === order.column ? (order.down ? "descending" : "ascending") : "none";
    return make("th", { scope: "col", "aria-sort": sorted }, make("button", { type: "button", class: "link", onclick: () => sortBy(column) }, name));
  });
  const rows = kept.slice(0, order.rows).map((buffer) => make("tr", { "aria-selected": buffer === state.selected },
    make("td", {}, link(buffer)), make("td", {}, exact(sizeOf(buffer))),
    make("td", {}, buffers.start[buffer] === null ? "never" : exact(buffers.start[buffer])),
    make("td", {}, buffers.end[buffer] === null ? "" : exact(buffers.end[buffer])), make("td", {}, placeOf(state.plan, buffer))));
  const more = kept.length > order.rows
    ? make("button", { type: "button", onclick: () => { order.rows += PAGE_ROWS; showAll(); } }, `Show more (${grouped.format(kept.length - order.rows)} left)`) : null;
  find("rows").replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows)), ...(more ? [more] : []));
}

function sortBy(column) {
  order.down = order.column === column && !order.down;
  order.column = column;
  showAll();
}

function showLegend() {
  const { legend } = state.fills[state.plan.index];
  const entries = [];
  if (legend.scale) {
    const bar = make("span", { class: "scale" });
    bar.style.background = `linear-gradient(90deg, ${legend.scale.stops.join(", ")})`;
    entries.push(make("span", {}, legend.scale.low), bar, make("span", {}, legend.scale.high));
  }
  for (const [colour, words] of legend.chips ?? []) {
    const chip = make("span", { class: "chip" });
    if (colour) chip.style.background = colour;
    entries.push(make("span", { class: "entry" }, colour ? chip : null, words));
  }
  const kinds = new Set(plans.flatMap((plan) => [...new Set(spaceOf(plan, state.space).layer.kind)]));
  if (kinds.has(IDLE)) entries.push(make("span", { class: "entry" }, make("span", { class: "chip idle" }), "reserved, not in use"));
  if (kinds.has(TAKEN)) entries.push(make("span", { class: "entry" }, make("span", { class: "chip taken" }), "taken over in place"));
  if (plans.some((plan) => spaceOf(plan, state.space).ties.length > 0)) entries.push(make("span", { class: "entry" }, make("span", { class: "chip tied" }), "tied together"));
  if (plans.some((plan) => spaceOf(plan, state.space).wrong.length > 0)) entries.push(make("span", { class: "entry" }, make("span", { class: "chip wrong-chip" }), "two buffers on the same bytes"));
  if (plans.some((plan) => spaceOf(plan, state.space).edges.length > 1)) entries.push(make("span", { class: "entry" }, make("span", { class: "chip edge" }), "edge of a shared object"));
  if (plans.some((plan) => spaceOf(plan, state.space).handovers.length > 0)) entries.push(make("span", { class: "entry" }, make("span", { class: "chip handover" }), "reuse that costs something"));
  find("legend").replaceChildren(...entries);
}
