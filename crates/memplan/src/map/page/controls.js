// Pointer, touch, wheel, keyboard, and the controls above the picture.

const WHEEL = 1.25;
const pointers = new Map();
let dragged = null;

/** A pointer's place in a chart, in CSS pixels. */
function placeIn(chart, event) {
  const { left, top } = chart.over.getBoundingClientRect();
  return [event.clientX - left, event.clientY - top];
}

function listen(chart) {
  const { over } = chart;
  over.addEventListener("wheel", (event) => {
    event.preventDefault();
    const [x, y] = placeIn(chart, event);
    const factor = WHEEL ** -Math.max(-3, Math.min(3, (event.deltaY || event.deltaX) / 100));
    zoomAt(chart, x, y, event.altKey ? 1 : factor, event.shiftKey ? 1 : factor);
  }, { passive: false });
  over.addEventListener("pointerdown", (event) => {
    over.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, placeIn(chart, event));
    dragged = pointers.size === 1 ? { far: 0 } : { far: Infinity };
  });
  over.addEventListener("pointermove", (event) => {
    if (pointers.has(event.pointerId)) drag(chart, event);
    else hover(chart, event);
  });
  const end = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    if (event.type === "pointerup" && dragged !== null && dragged.far < 5) pick(chart, event);
    if (pointers.size === 0) dragged = null;
  };
  over.addEventListener("pointerup", end);
  over.addEventListener("pointercancel", end);
  over.addEventListener("pointerleave", () => leave());
  over.addEventListener("dblclick", () => fitAll());
  over.addEventListener("keydown", keyInChart);
  const { canvas } = chart.curve;
  canvas.addEventListener("click", (event) => chooseStep(stepAt(chart, event)));
  canvas.addEventListener("pointermove", (event) => {
    const step = stepAt(chart, event);
    const space = spaceOf(chart.plan, state.space);
    tell(event, [stepWords(step), `${bytesInFull(liveAt(space, step))} in use`]);
  });
  canvas.addEventListener("pointerleave", () => leave());
}

function stepAt(chart, event) {
  const { left } = chart.curve.canvas.getBoundingClientRect();
  const step = Math.floor(chart.curve.step(event.clientX - left));
  return Math.max(data.first, Math.min(data.last - 1, step));
}

function zoomAt(chart, x, y, time, address) {
  const camera = state.camera();
  camera.zoom(time, address, chart.step(camera, x), chart.byte(camera, y));
  repaint();
}

/** One pointer moves the picture, two also stretch it. */
function drag(chart, event) {
  const camera = state.camera();
  const before = [...pointers.values()].map((place) => [...place]);
  const place = placeIn(chart, event);
  const old = pointers.get(event.pointerId);
  pointers.set(event.pointerId, place);
  dragged.far += Math.hypot(place[0] - old[0], place[1] - old[1]);
  const after = [...pointers.values()];
  const middle = (places) => [0, 1].map((axis) => places.reduce((sum, at) => sum + at[axis], 0) / places.length);
  const [from, to] = [middle(before), middle(after)];
  camera.pan((from[0] - to[0]) / chart.width * (camera.t1 - camera.t0), (to[1] - from[1]) / chart.height * (camera.a1 - camera.a0));
  if (after.length === 2) {
    const apart = (places) => Math.max(8, Math.hypot(places[0][0] - places[1][0], places[0][1] - places[1][1]));
    const factor = apart(after) / apart(before);
    camera.zoom(factor, factor, chart.step(camera, to[0]), chart.byte(camera, to[1]));
  }
  find("tip").hidden = true;
  repaint();
}

function hover(chart, event) {
  const shape = chart.hit(...placeIn(chart, event), state.shade);
  if (shape < 0) {
    leave();
    return;
  }
  const { layer } = chart.space;
  const buffer = layer.buffer[shape];
  const lines = [
    buffers.name[buffer],
    `size ${buffers.shape?.[buffer] ?? bytesInFull(sizeOf(buffer))}`,
    `${buffers.slots?.[buffer] ? `slot ${layer.slot[shape]} at ` : ""}bytes ${exact(layer.low[shape])}..${exact(layer.high[shape])}`,
    `steps ${exact(layer.start[shape])}..${exact(layer.end[shape])}`,
  ];
  if (layer.kind[shape] === IDLE) lines.push("reserved, not in use here");
  if (layer.kind[shape] === TAKEN) lines.push(`in place over ${(chart.plan.victims.get(buffer) ?? []).map((victim) => buffers.name[victim]).join(", ")}`);
  for (const { what, of } of buffers.notes) if (of[buffer] !== null) lines.push(`${what} ${of[buffer]}`);
  tell(event, lines);
  if (state.hovered !== buffer) {
    state.hovered = buffer;
    repaintOver();
  }
}

/** The tooltip, beside the pointer and inside the window. */
function tell(event, lines) {
  const tip = find("tip");
  tip.textContent = lines.join("\n");
  tip.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = tip;
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 4))}px`;
  tip.style.top = `${Math.max(4, Math.min(event.clientY + 16, innerHeight - height - 4))}px`;
}

function leave() {
  find("tip").hidden = true;
  if (state.hovered >= 0) {
    state.hovered = -1;
    repaintOver();
  }
}

function pick(chart, event) {
  const shape = chart.hit(...placeIn(chart, event), state.shade);
  state.plan = chart.plan;
  select(shape < 0 ? -1 : chart.space.layer.buffer[shape]);
}

function keyInChart(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const camera = state.camera();
  const [steps, bytes] = [(camera.t1 - camera.t0) / 8, (camera.a1 - camera.a0) / 8];
  const moves = {
    ArrowLeft: () => camera.pan(-steps, 0),
    ArrowRight: () => camera.pan(steps, 0),
    ArrowUp: () => camera.pan(0, bytes),
    ArrowDown: () => camera.pan(0, -bytes),
    "+": () => camera.zoom(WHEEL, WHEEL),
    "=": () => camera.zoom(WHEEL, WHEEL),
    "-": () => camera.zoom(1 / WHEEL, 1 / WHEEL),
    0: () => camera.fit(),
    Home: () => camera.fit(),
    n: () => selectNeighbour(1),
    p: () => selectNeighbour(-1),
    Enter: zoomToSelected,
    Escape: () => select(-1),
  };
  if (moves[event.key] === undefined) return;
  event.preventDefault();
  moves[event.key]();
  repaint();
}

function keyAnywhere(event) {
  const isTyping = event.target.closest?.("input, select, textarea, dialog") !== null && event.target !== document.body;
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
  const acts = {
    "/": () => find("find").focus(),
    "?": () => find("help").showModal(),
    c: () => chooseMode(nextOf(MODES.filter((mode) => mode.applies()), state.mode)),
    s: () => chooseSpace((state.space + 1) % spaceNames.length),
    t: switchTheme,
    f: flip,
  };
  if (acts[event.key] === undefined) return;
  event.preventDefault();
  acts[event.key]();
}

const nextOf = (list, item) => list[(list.indexOf(item) + 1) % list.length];

/** The controls above the picture. */
function makeControls() {
  const tabs = spaceNames.map((name, index) => make("button", {
    type: "button", role: "tab", id: `space-${index}`, "aria-controls": "stage", onclick: () => chooseSpace(index),
  }, named(name)));
  find("spaces").replaceChildren(...(tabs.length > 1 ? tabs : []));
  find("spaces").addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    chooseSpace((state.space + by + spaceNames.length) % spaceNames.length);
    find(`space-${state.space}`).focus();
  });
  if (plans.length > 1) {
    const choices = plans.map((plan) => make("button", { type: "button", "data-show": plan.index, onclick: () => choosePlans([plan]) }, `Plan ${plan.letter}`));
    const both = make("button", { type: "button", "data-show": "all", onclick: () => choosePlans(plans) }, "Side by side");
    find("plans").replaceChildren(...choices, both);
  }
  find("mode").replaceChildren(...MODES.filter((mode) => mode.applies()).map((mode) => make("option", { value: mode.name }, mode.words)));
  find("mode").addEventListener("change", (event) => chooseMode(MODES.find((mode) => mode.name === event.target.value)));
  find("find").addEventListener("input", (event) => narrow(event.target.value, state.least));
  find("find").addEventListener("keydown", (event) => {
    if (event.key === "Enter") selectNeighbour(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") narrow(event.target.value = "", state.least);
  });
  find("least").addEventListener("input", (event) => narrow(state.query, leastFor(Number(event.target.value))));
  const zoom = (factor) => () => {
    state.camera().zoom(factor, factor);
    repaint();
  };
  find("closer").addEventListener("click", zoom(WHEEL ** 2));
  find("wider").addEventListener("click", zoom(WHEEL ** -2));
  find("fit").addEventListener("click", fitAll);
  find("theme").addEventListener("click", switchTheme);
  find("ask").addEventListener("click", () => find("help").showModal());
  // Not a form: a notebook shows the page in a frame that must not send any.
  find("enough").addEventListener("click", () => find("help").close());
  find("all").addEventListener("toggle", showAll);
  document.addEventListener("keydown", keyAnywhere);
  addEventListener("resize", repaint);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refresh);
}

/** The slider is logarithmic: 0 is everything, 100 the largest buffer alone. */
function leastFor(value) {
  const largest = buffers.size.reduce((most, size) => Math.max(most, size ?? 0), 1);
  return value === 0 ? 0 : Math.floor(largest ** (value / 100));
}
