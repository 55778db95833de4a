// The state of the page and how it comes onto the screen.

const state = {
  space: 0,
  plan: plans[0],
  shown: plans,
  mode: usualMode(),
  query: "",
  least: 0,
  selected: -1,
  hovered: -1,
  step: null,
  shade: new Uint8Array(count).fill(2),
  fills: [],
  camera: () => cameras[state.space],
};

/** A capacity far above the plans would squeeze them; then only its name is shown. */
function topOf(index) {
  const spaces = plans.map((plan) => spaceOf(plan, index));
  const needed = Math.max(...spaces.map((space) => Math.max(space.extent, space.lower, 1)));
  const capacity = Math.max(...spaces.map((space) => space.capacity ?? 0));
  return Math.max(needed, capacity <= 1.5 * needed ? capacity : 0) * 1.03;
}

const cameras = spaceNames.map((_, index) => new Camera(data.first, data.last, topOf(index)));
const charts = plans.map((plan) => new Chart(plan));
let look = null;

/** Colours of the theme, as the style sheet has them. */
function readLook() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  look = {
    css: {
      ink: value("--ink"), muted: value("--muted"), line: value("--line"), lower: value("--lower"), capacity: value("--capacity"),
      peak: value("--peak"), peakBand: value("--peak-band"), stepBand: value("--step-band"), live: value("--live"),
      liveEdge: value("--live-edge"), paperVeil: value("--paper-veil"), wrong: value("--wrong"), handover: value("--handover"),
    },
    pixels: { paper: packed(parse(value("--paper"))), bandPaper: packed(parse(value("--peak-paper"))), grid: packed(parse(value("--grid"))), ink: packed(parse(value("--hatch"))) },
    paper: parse(value("--paper")),
  };
}

/** Everything anew: after a change of space, plans, colours or theme. */
function refresh() {
  readLook();
  state.fills = plans.map((plan) => fillsOf(plan, state.mode, look.paper));
  for (const chart of charts) chart.figure.hidden = !state.shown.includes(chart.plan);
  document.body.classList.toggle("several", state.shown.length > 1);
  for (const [index, tab] of [...find("spaces").children].entries()) {
    tab.setAttribute("aria-selected", index === state.space);
    tab.tabIndex = index === state.space ? 0 : -1;
  }
  for (const button of find("plans").children) {
    const isOn = state.shown.length > 1 ? button.dataset.show === "all" : button.dataset.show === String(state.shown[0].index);
    button.setAttribute("aria-pressed", isOn);
  }
  find("mode").value = state.mode.name;
  find("theme").textContent = isDark() ? "☀" : "☾";
  find("theme").setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours");
  shadeAll();
  showSummary();
  showPicked();
  showAlive();
  showTradeOff();
  showLegend();
  showAll();
  repaint();
}

let waiting = false;

/** Paints in the next frame, once for any number of calls. */
function repaint() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    paint();
  });
}

function paint() {
  const start = performance.now();
  const camera = state.camera();
  for (const chart of charts.filter((chart) => state.shown.includes(chart.plan))) {
    const space = spaceOf(chart.plan, state.space);
    chart.measure();
    chart.paint(camera, space, { ...look, fills: state.fills[chart.plan.index] }, state.shade);
    chart.curve.paint(camera, space, look, state.step, chart.density);
    chart.over.setAttribute("aria-label", labelOf(chart.plan, space));
    chart.curve.canvas.setAttribute("aria-label", `Bytes in use over time; the peak is ${human(space.peak)}`);
    chart.heading.replaceChildren(...(plans.length > 1 ? [badge(chart.plan), ` ${plans[chart.plan.index].facts.slice(1).join(" · ")}, extent ${human(space.extent)}`] : []));
  }
  repaintOver();
  painted.last = performance.now() - start;
  painted.frames += 1;
  if (painted.frames === 1) painted.first = performance.now();
}

const painted = { first: null, last: null, frames: 0 };

const labelOf = (plan, space) => `Memory map${plans.length > 1 ? ` of plan ${plan.letter}` : ""}: ${many(space.buffers, "buffer")}`
  + `, extent ${human(space.extent)}, time across, addresses up. Arrow keys move, plus and minus zoom, n and p select buffers. The table below says the same in text.`;

function repaintOver() {
  for (const chart of charts) if (chart.space && state.shown.includes(chart.plan)) chart.paintOver(state.selected, state.hovered, state.step, look);
}

/** Whether the search and the filter by size let a buffer through. */
const isKept = (buffer) => sizeOf(buffer) >= state.least && (state.query === "" || buffers.name[buffer].toLowerCase().includes(state.query));

/** Who is drawn in full, who faded, who not at all. */
function shadeAll() {
  const conflicts = conflictsOf(state.plan, state.selected);
  let kept = 0;
  for (let buffer = 0; buffer < count; buffer += 1) {
    const isFound = isKept(buffer);
    const isFocused = state.selected < 0 ? isFound : buffer === state.selected || conflicts.has(buffer);
    kept += isFound ? 1 : 0;
    state.shade[buffer] = sizeOf(buffer) < state.least && buffer !== state.selected ? 0 : isFocused ? 2 : 1;
  }
  const isNarrow = state.query !== "" || state.least > 0;
  const limit = state.least > 0 ? `, ${human(state.least, true)} or more` : "";
  find("kept").textContent = isNarrow ? `${grouped.format(kept)} of ${many(count, "buffer")}${limit}` : "";
}

function narrow(query, least) {
  state.query = query.trim().toLowerCase();
  state.least = least;
  order.rows = PAGE_ROWS;
  shadeAll();
  showAll();
  repaint();
}

/** Selects a buffer, or nothing with -1; `reveal` also brings it into sight. */
function select(buffer, reveal = false) {
  state.selected = buffer;
  if (buffer >= 0 && state.plan.home[buffer] >= 0 && state.plan.home[buffer] !== state.space) {
    state.space = state.plan.home[buffer];
    refresh();
  }
  shadeAll();
  showPicked();
  showAll();
  if (buffer >= 0) {
    find("say").textContent = `${buffers.name[buffer]}, ${human(sizeOf(buffer))}, offset ${placeOf(state.plan, buffer)}, steps ${lifeWords(buffer)}`;
    if (reveal && !isInSight(buffer)) zoomToSelected();
  }
  repaint();
}

/** The rectangle around a buffer in the plan that is looked at; `null` if it has none. */
function boundsOf(plan, buffer) {
  if (plan.home[buffer] < 0) return null;
  const { layer } = spaceOf(plan, plan.home[buffer]);
  let bounds = null;
  for (let i = 0; i < layer.length; i += 1) {
    if (layer.buffer[i] !== buffer) continue;
    bounds ??= { start: Infinity, end: 0, low: Infinity, high: 0 };
    bounds.start = Math.min(bounds.start, layer.start[i]);
    bounds.end = Math.max(bounds.end, layer.end[i]);
    bounds.low = Math.min(bounds.low, layer.low[i]);
    bounds.high = Math.max(bounds.high, layer.high[i]);
  }
  return bounds;
}

function isInSight(buffer) {
  const bounds = boundsOf(state.plan, buffer);
  const camera = state.camera();
  return bounds === null || (bounds.end > camera.t0 && bounds.start < camera.t1 && bounds.high > camera.a0 && bounds.low < camera.a1);
}

function zoomToSelected() {
  const bounds = state.selected < 0 ? null : boundsOf(state.plan, state.selected);
  if (bounds === null) return;
  state.camera().show(bounds.start, bounds.end, bounds.low, bounds.high);
  repaint();
}

/** The next or previous buffer in time among those that are found. */
function selectNeighbour(by) {
  const list = Array.from({ length: count }, (_, buffer) => buffer)
    .filter((buffer) => isKept(buffer) && state.plan.home[buffer] === state.space)
    .sort((a, b) => buffers.start[a] - buffers.start[b] || a - b);
  if (list.length === 0) return;
  const at = list.indexOf(state.selected);
  select(list[at < 0 ? (by > 0 ? 0 : list.length - 1) : (at + by + list.length) % list.length], true);
}

function chooseStep(step) {
  state.step = step;
  showAlive();
  repaint();
}

function chooseSpace(index) {
  state.space = index;
  state.step = null;
  if (state.selected >= 0 && state.plan.home[state.selected] !== index) state.selected = -1;
  refresh();
}

function choosePlans(shown) {
  state.shown = shown;
  if (!shown.includes(state.plan)) state.plan = shown[0];
  refresh();
}

/** From one plan to the next, in the same place: what moves is what differs. */
function flip() {
  if (plans.length > 1) choosePlans([nextOf(plans, state.shown.length > 1 ? plans[plans.length - 1] : state.shown[0])]);
}

function chooseMode(mode) {
  state.mode = mode;
  refresh();
}

function fitAll() {
  state.camera().fit();
  repaint();
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function switchTheme() {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  refresh();
}

function start() {
  find("title").textContent = data.title || "Memory map";
  find("facts").textContent = plans.length > 1 ? `${many(count, "buffer")}, ${many(plans.length, "plan")}` : plans[0].facts.join(" · ");
  find("charts").replaceChildren(...charts.map((chart) => chart.figure));
  makeControls();
  charts.forEach(listen);
  refresh();
}

/** For scripts that drive the page, and for its tests. */
window.memplan = {
  painted,
  palettes: { set: SET, size: BY_SIZE, lifetime: BY_LIFE },
  /** Where the middle of a buffer is on the screen, by name. */
  place(name, plan = 0) {
    const buffer = buffers.name.indexOf(name);
    const bounds = buffer < 0 ? null : boundsOf(plans[plan], buffer);
    if (bounds === null) return null;
    const chart = charts[plan];
    const { left, top } = chart.over.getBoundingClientRect();
    const camera = state.camera();
    return { x: left + chart.x(camera, (bounds.start + bounds.end) / 2), y: top + chart.y(camera, (bounds.low + bounds.high) / 2) };
  },
  /** What is in sight and what is chosen. */
  view() {
    const { t0, t1, a0, a1, isFitted } = state.camera();
    return {
      steps: [t0, t1], bytes: [a0, a1], isFitted, space: spaceNames[state.space], mode: state.mode.name, dark: isDark(),
      selected: state.selected < 0 ? null : buffers.name[state.selected], shown: state.shown.map((plan) => plan.letter),
      full: state.shade.reduce((sum, shade) => sum + (shade === 2 ? 1 : 0), 0), drawn: charts.map((chart) => chart.drawn ?? 0),
      wrong: plans.map((plan) => spaceOf(plan, state.space).wrong.length),
      handovers: plans.map((plan) => spaceOf(plan, state.space).handovers.length),
    };
  },
};

if (plans.length > 0) start();
