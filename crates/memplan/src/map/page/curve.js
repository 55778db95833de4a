// The curve under a chart: bytes in use over time, and the axis of steps.

const CURVE_TOP = 8;
const AXIS = 34;

class Curve {
  constructor() {
    this.canvas = make("canvas", { class: "curve", role: "img" });
  }

  paint(camera, space, look, step, density) {
    const { width, height } = this.canvas.getBoundingClientRect();
    fitCanvas(this.canvas, width, height, density);
    this.width = Math.max(1, Math.floor(width) - LEFT - RIGHT);
    this.bottom = Math.max(CURVE_TOP + 10, Math.floor(height) - AXIS);
    this.camera = camera;
    const context = this.canvas.getContext("2d");
    context.setTransform(density, 0, 0, density, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = FONT;
    this.area(context, space, look);
    this.marks(context, space, look, step);
    this.axis(context, space, look);
  }

  x(step) {
    return LEFT + (step - this.camera.t0) / (this.camera.t1 - this.camera.t0) * this.width;
  }

  step(x) {
    return this.camera.t0 + (x - LEFT) / this.width * (this.camera.t1 - this.camera.t0);
  }

  y(bytes, peak) {
    return this.bottom - bytes / Math.max(1, peak) * (this.bottom - CURVE_TOP);
  }

  /** Each column of pixels shows the highest value in it, so no peak gets lost. */
  area(context, space, look) {
    const { live } = space;
    const columns = new Float64Array(this.width).fill(0);
    for (let i = 0; i + 1 < live.length; i += 2) {
      const end = i + 2 < live.length ? live[i + 2] : data.last;
      if (end <= this.camera.t0 || live[i] >= this.camera.t1) continue;
      const from = Math.max(0, Math.floor(this.x(live[i]) - LEFT + 0.5));
      const to = Math.min(this.width, Math.max(from + 1, Math.floor(this.x(end) - LEFT + 0.5)));
      for (let x = from; x < to; x += 1) columns[x] = Math.max(columns[x], live[i + 1]);
    }
    context.beginPath();
    context.moveTo(LEFT, this.bottom);
    for (let x = 0; x < this.width; x += 1) {
      const y = this.y(columns[x], space.peak);
      context.lineTo(LEFT + x, y);
      context.lineTo(LEFT + x + 1, y);
    }
    context.lineTo(LEFT + this.width, this.bottom);
    context.closePath();
    context.fillStyle = look.css.live;
    context.fill();
    context.strokeStyle = look.css.liveEdge;
    context.lineWidth = 1;
    context.stroke();
  }

  marks(context, space, look, step) {
    for (const [at, colour] of [[space.peakStep, look.css.peakBand], [step, look.css.stepBand]]) {
      if (at === null || (at === step && step === space.peakStep && colour === look.css.stepBand)) continue;
      const from = Math.max(LEFT, this.x(at));
      const to = Math.min(LEFT + this.width, Math.max(from + 2, this.x(at + 1)));
      context.fillStyle = colour;
      if (to > from && this.x(at + 1) > LEFT) context.fillRect(from, 0, to - from, this.bottom);
    }
  }

  axis(context, space, look) {
    context.fillStyle = look.css.muted;
    context.strokeStyle = look.css.line;
    stroke(context, LEFT, this.bottom + 0.5, LEFT + this.width, this.bottom + 0.5);
    context.textBaseline = "middle";
    context.textAlign = "right";
    context.fillText(human(space.peak, true), LEFT - 8, CURVE_TOP + 2);
    context.fillText("in use", LEFT - 8, CURVE_TOP + 17);
    context.textAlign = "center";
    for (const tick of decimalTicks(this.camera.t0, this.camera.t1, Math.max(2, this.width / 80))) {
      const x = this.x(tick);
      stroke(context, x, this.bottom, x, this.bottom + 4);
      const half = context.measureText(exact(tick)).width / 2;
      context.fillText(exact(tick), Math.min(x, LEFT + this.width + RIGHT - half), this.bottom + 13);
    }
    const words = data.step === "" ? "step" : `step: ${data.step}`;
    context.fillText(shortened(context, words, this.width) ?? "step", LEFT + this.width / 2, this.bottom + 27);
  }
}

/** Bytes in use at a step. */
function liveAt(space, step) {
  const { live } = space;
  let [low, high] = [0, live.length / 2];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (live[2 * middle] <= step) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : live[2 * low - 1];
}
