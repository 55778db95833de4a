// The chart of one plan: address axis, shapes with names, lines, outlines.

const LEFT = 78;
const RIGHT = 14;
const TOP = 22;
const BOTTOM = 4;
/** More names than this in one frame are nobody's friend. */
const MOST_NAMES = 1500;
const FONT = "11px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif";

class Chart {
  constructor(plan) {
    this.plan = plan;
    this.raster = new Raster();
    this.canvas = make("canvas", { class: "shapes" });
    this.over = make("canvas", { class: "over", tabindex: 0, role: "application" });
    this.heading = make("figcaption");
    this.curve = new Curve();
    this.box = make("div", { class: "box" }, this.canvas, this.over);
    this.figure = make("figure", {}, this.heading, this.box, this.curve.canvas);
  }

  /** The plot inside the margins, in CSS pixels. */
  measure() {
    const { width, height } = this.box.getBoundingClientRect();
    this.width = Math.max(1, Math.floor(width) - LEFT - RIGHT);
    this.height = Math.max(1, Math.floor(height) - TOP - BOTTOM);
    this.density = Math.min(3, devicePixelRatio || 1);
    for (const canvas of [this.canvas, this.over]) fitCanvas(canvas, width, height, this.density);
    this.raster.resize(Math.round(this.width * this.density), Math.round(this.height * this.density));
  }

  x(camera, step) {
    return LEFT + (step - camera.t0) / (camera.t1 - camera.t0) * this.width;
  }

  y(camera, byte) {
    return TOP + this.height - (byte - camera.a0) / (camera.a1 - camera.a0) * this.height;
  }

  step(camera, x) {
    return camera.t0 + (x - LEFT) / this.width * (camera.t1 - camera.t0);
  }

  byte(camera, y) {
    return camera.a0 + (TOP + this.height - y) / this.height * (camera.a1 - camera.a0);
  }

  paint(camera, space, look, shade) {
    this.camera = camera;
    this.space = space;
    const ticks = binaryTicks(camera.a0, camera.a1, Math.max(2, this.height / 60));
    const [left, wide] = space.peakStep === null ? [LEFT, 0] : this.band(space.peakStep);
    const band = [left, left + wide].map((x) => Math.max(0, Math.min(this.raster.image.width, Math.round((x - LEFT) * this.density))));
    const pixels = { ...look.pixels, full: look.fills.full, faded: look.fills.faded, ticks, band };
    this.drawn = this.raster.paint(space.layer, camera, pixels, shade);
    const context = this.canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.putImageData(this.raster.image, Math.round(LEFT * this.density), Math.round(TOP * this.density));
    context.setTransform(this.density, 0, 0, this.density, 0, 0);
    context.font = FONT;
    this.peak(context, space, look);
    this.names(context, space.layer, look, shade);
    this.ties(context, space, look);
    this.wrongs(context, space, look);
    this.edges(context, space, look);
    this.handovers(context, space, look);
    this.axis(context, ticks, look);
    this.lines(context, space, look);
  }

  axis(context, ticks, look) {
    context.fillStyle = look.css.muted;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const tick of ticks) context.fillText(human(tick, true), LEFT - 8, this.y(this.camera, tick));
    context.strokeStyle = look.css.line;
    context.lineWidth = 1;
    context.strokeRect(LEFT - 0.5, TOP - 0.5, this.width + 1, this.height + 1);
  }

  /** The step with most bytes in use: its paper is tinted, and thin lines run across the shapes. */
  peak(context, space, look) {
    if (space.peakStep === null) return;
    const [x, width] = this.band(space.peakStep);
    if (width === 0) return;
    context.fillStyle = look.css.peak;
    context.globalAlpha = 0.7;
    for (const at of width < 4 ? [x] : [x, x + width - 1]) context.fillRect(at, TOP, 1, this.height);
    context.globalAlpha = 1;
    context.textBaseline = "alphabetic";
    context.textAlign = x > LEFT + this.width / 2 ? "right" : "left";
    context.fillText(`peak at ${stepWords(space.peakStep)}`, context.textAlign === "right" ? x + width : x, TOP - 7);
  }

  /** Where one step lies, at least 2 pixels wide; no width if it is out of sight. */
  band(step) {
    const from = Math.max(LEFT, this.x(this.camera, step));
    const to = Math.min(LEFT + this.width, Math.max(from + 2, this.x(this.camera, step + 1)));
    return to > from && this.x(this.camera, step + 1) > LEFT ? [from, to - from] : [0, 0];
  }

  /** Names go into the part of a shape that is in sight. */
  names(context, layer, look, shade) {
    let left = MOST_NAMES;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let i = 0; i < layer.length && left > 0; i += 1) {
      if (layer.kind[i] !== ALIVE || shade[layer.buffer[i]] !== 2) continue;
      const x0 = Math.max(LEFT, this.x(this.camera, layer.start[i]));
      const x1 = Math.min(LEFT + this.width, this.x(this.camera, layer.end[i]));
      const y0 = Math.max(TOP, this.y(this.camera, layer.high[i]));
      const y1 = Math.min(TOP + this.height, this.y(this.camera, layer.low[i]));
      if (Math.min(x1 - x0, y1 - y0) < 13 || Math.max(x1 - x0, y1 - y0) < 26) continue;
      if (this.name(context, layer.buffer[i], layer.slot[i], look, x0, x1, y0, y1)) left -= 1;
    }
  }

  name(context, buffer, slot, look, x0, x1, y0, y1) {
    const upright = x1 - x0 < 60 && y1 - y0 > 1.4 * (x1 - x0);
    const [length, thickness] = upright ? [y1 - y0, x1 - x0] : [x1 - x0, y1 - y0];
    const copy = (buffers.slots?.[buffer] ?? 1) > 1 ? ` · slot ${slot}` : "";
    const text = shortened(context, `${buffers.name[buffer]}${copy}`, length - 8);
    if (text === null) return false;
    context.save();
    context.translate((x0 + x1) / 2, (y0 + y1) / 2);
    if (upright) context.rotate(-Math.PI / 2);
    context.fillStyle = isBright(look.fills.rgb[buffer]) ? "#111" : "#fff";
    const size = buffers.shape?.[buffer] ?? human(sizeOf(buffer), true);
    const hasRoom = thickness > 30 && context.measureText(size).width < length - 8;
    context.fillText(text, 0, hasRoom ? -7 : 0.5);
    context.globalAlpha = 0.75;
    if (hasRoom) context.fillText(size, 0, 7);
    context.restore();
    return true;
  }

  /** A dashed frame around buffers that are tied to each other, where it can be told from their own edges. */
  ties(context, space, look) {
    context.strokeStyle = look.css.ink;
    context.lineWidth = 1;
    context.setLineDash([5, 3]);
    for (const { start, end, low, high } of space.ties) {
      const x0 = Math.max(LEFT, this.x(this.camera, start)) - 1.5;
      const y0 = Math.max(TOP, this.y(this.camera, high)) - 1.5;
      const x1 = Math.min(LEFT + this.width, this.x(this.camera, end)) + 1.5;
      const y1 = Math.min(TOP + this.height, this.y(this.camera, low)) + 1.5;
      if (x1 - x0 > 10 && y1 - y0 > 10) context.strokeRect(x0, y0, x1 - x0, y1 - y0);
    }
    context.setLineDash([]);
  }

  /** Where a wrong plan has two buffers on the same bytes: a red area, never too small to see. */
  wrongs(context, space, look) {
    if (space.wrong.length === 0) return;
    context.save();
    context.beginPath();
    context.rect(LEFT, TOP, this.width, this.height);
    context.clip();
    context.fillStyle = look.css.wrong;
    for (const { start, end, low, high } of space.wrong) {
      const [x, y] = [this.x(this.camera, start), this.y(this.camera, high)];
      context.fillRect(x, y, Math.max(2, this.x(this.camera, end) - x), Math.max(2, this.y(this.camera, low) - y));
    }
    context.restore();
  }

  /** Reuse that costs something: a bar over the common bytes where the later buffer begins, tied to the end of the earlier. */
  handovers(context, space, look) {
    if (space.handovers.length === 0) return;
    context.save();
    context.beginPath();
    context.rect(LEFT, TOP, this.width, this.height);
    context.clip();
    context.strokeStyle = look.css.handover;
    for (const { earlier, later, from, to, low, high } of space.handovers) {
      const isPicked = state.selected === earlier || state.selected === later;
      context.globalAlpha = state.selected < 0 || isPicked ? 1 : 0.25;
      const [x, top, bottom] = [this.x(this.camera, to), this.y(this.camera, high), this.y(this.camera, low)];
      context.lineWidth = 1;
      stroke(context, this.x(this.camera, from), (top + bottom) / 2, x, (top + bottom) / 2);
      context.lineWidth = 3;
      stroke(context, x, top + 1, x, Math.max(bottom - 1, top + 3));
    }
    context.restore();
  }

  /** Edges between stacked shared objects, where they are not too close together. */
  edges(context, space, look) {
    context.strokeStyle = look.css.muted;
    context.setLineDash([1, 3]);
    let last = Infinity;
    for (const edge of space.edges) {
      const y = Math.round(this.y(this.camera, edge)) + 0.5;
      if (last - y < 4 || y < TOP || y > TOP + this.height) continue;
      stroke(context, LEFT, y, LEFT + this.width, y);
      last = y;
    }
    context.setLineDash([]);
  }

  /** Lower bound, extent, capacity; lines that coincide share a label. */
  lines(context, space, look) {
    const lines = [];
    const add = (name, bytes, colour, dash) => {
      const same = lines.find((line) => line.bytes === bytes);
      if (same) same.name = `${name} = ${same.name}`;
      else lines.push({ name, bytes, colour, dash });
    };
    if (space.lower > 0) add("lower bound", space.lower, look.css.lower, [7, 4]);
    add("extent", space.extent, look.css.ink, []);
    if (space.capacity !== null) add("capacity", space.capacity, look.css.capacity, [2, 3]);
    lines.sort((a, b) => a.bytes - b.bytes);
    for (const [index, line] of lines.entries()) {
      const y = this.y(this.camera, line.bytes);
      const hasCloseOne = index + 1 < lines.length && y - this.y(this.camera, lines[index + 1].bytes) < 18;
      if (y > TOP + this.height + 1) continue;
      const isBeyond = y < TOP - 1;
      context.strokeStyle = line.colour;
      context.lineWidth = 1.5;
      context.setLineDash(line.dash);
      if (!isBeyond) stroke(context, LEFT, y, LEFT + this.width, y);
      context.setLineDash([]);
      if (isBeyond && line.name !== "capacity") continue;
      const at = isBeyond ? TOP - 14 : Math.max(TOP - 4, hasCloseOne ? y + 9 : y - 9);
      this.pill(context, `${line.name} ${human(line.bytes)}${isBeyond ? " ↑" : ""}`, line.colour, at, look);
    }
  }

  pill(context, text, colour, y, look) {
    const width = context.measureText(text).width + 10;
    const x = LEFT + this.width - width - 4;
    context.fillStyle = look.css.paperVeil;
    context.fillRect(x, y - 7.5, width, 15);
    context.fillStyle = colour;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillText(text, x + 5, y);
  }

  /** Outlines of what is selected and what is under the pointer, and the chosen step. */
  paintOver(selected, hovered, step, look) {
    const context = this.over.getContext("2d");
    context.setTransform(this.density, 0, 0, this.density, 0, 0);
    context.clearRect(0, 0, this.over.width, this.over.height);
    context.save();
    context.beginPath();
    context.rect(LEFT - 1, TOP - 1, this.width + 2, this.height + 2);
    context.clip();
    if (step !== null && step !== this.space.peakStep) {
      const [x, width] = this.band(step);
      context.fillStyle = look.css.stepBand;
      context.fillRect(x, TOP, width, this.height);
    }
    for (const member of tiedTo(selected)) this.outline(context, member, look.css.lower, 2);
    this.outline(context, hovered, look.css.ink, 1.5);
    this.outline(context, selected, look.css.ink, 3);
    context.restore();
  }

  outline(context, buffer, colour, width) {
    if (buffer < 0) return;
    const { layer } = this.space;
    context.strokeStyle = colour;
    context.lineWidth = width;
    for (let i = 0; i < layer.length; i += 1) {
      if (layer.buffer[i] !== buffer || layer.kind[i] === TAKEN) continue;
      const x0 = this.x(this.camera, layer.start[i]);
      const y0 = this.y(this.camera, layer.high[i]);
      context.setLineDash(layer.kind[i] === IDLE ? [4, 3] : []);
      context.strokeRect(x0, y0, this.x(this.camera, layer.end[i]) - x0, this.y(this.camera, layer.low[i]) - y0);
    }
    context.setLineDash([]);
  }

  /** The topmost shape at a point, with a little tolerance for thin ones; -1 if there is none. */
  hit(x, y, shade) {
    if (x < LEFT || x > LEFT + this.width || y < TOP || y > TOP + this.height) return -1;
    const { layer } = this.space;
    const slack = (this.camera.t1 - this.camera.t0) / this.width;
    const lift = (this.camera.a1 - this.camera.a0) / this.height;
    const t = this.step(this.camera, x);
    const a = this.byte(this.camera, y);
    for (const near of [0, 1.5]) {
      for (let i = layer.length - 1; i >= 0; i -= 1) {
        if (layer.start[i] - near * slack <= t && t < layer.end[i] + near * slack
          && layer.low[i] - near * lift <= a && a < layer.high[i] + near * lift && shade[layer.buffer[i]] > 0) return i;
      }
    }
    return -1;
  }
}

/** The other members of a buffer's tied group: they move with it. */
function tiedTo(buffer) {
  const group = buffer < 0 ? null : buffers.group?.[buffer] ?? null;
  if (group === null) return [];
  return Array.from({ length: count }, (_, member) => member).filter((member) => member !== buffer && buffers.group[member] === group);
}

function fitCanvas(canvas, width, height, density) {
  const [w, h] = [Math.round(width * density), Math.round(height * density)];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
}

function stroke(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

/** The text, or its two ends around an ellipsis: names often differ only in one of them. */
function shortened(context, text, room) {
  if (text.length * 2 < room && context.measureText(text).width <= room) return text;
  const characters = Array.from(text.slice(0, 400));
  for (let keep = Math.min(characters.length - 1, Math.floor(room / 5)); keep >= 5; keep -= 1) {
    const head = Math.ceil(keep / 2);
    const cut = `${characters.slice(0, head).join("")}…${characters.slice(characters.length - (keep - head)).join("")}`;
    if (context.measureText(cut).width <= room) return cut;
  }
  return null;
}
