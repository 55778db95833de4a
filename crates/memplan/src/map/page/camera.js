// The camera: which steps and bytes are in sight. All charts of a space share one.

class Camera {
  constructor(first, last, top) {
    this.all = { t0: first, t1: Math.max(last, first + 1), a0: 0, a1: Math.max(top, 1) };
    this.fit();
  }

  fit() {
    Object.assign(this, this.all);
  }

  get isFitted() {
    return ["t0", "t1", "a0", "a1"].every((side) => this[side] === this.all[side]);
  }

  /** Makes a step wider and a byte higher, keeping one point where it is. */
  zoom(time, address, t = (this.t0 + this.t1) / 2, a = (this.a0 + this.a1) / 2) {
    const { all } = this;
    const scale = (low, high, at, factor, least, most) => {
      const span = Math.max(least, Math.min(most, (high - low) / factor));
      const share = (at - low) / (high - low);
      return [at - share * span, at + (1 - share) * span];
    };
    [this.t0, this.t1] = scale(this.t0, this.t1, t, time, Math.min(2, all.t1 - all.t0), all.t1 - all.t0);
    [this.a0, this.a1] = scale(this.a0, this.a1, a, address, Math.min(8, all.a1), all.a1);
    this.clamp();
  }

  pan(steps, bytes) {
    this.t0 += steps;
    this.t1 += steps;
    this.a0 += bytes;
    this.a1 += bytes;
    this.clamp();
  }

  /** Puts a rectangle into the middle, with room around it. */
  show(start, end, low, high) {
    const t = (end - start) * 1.5 + 2;
    const a = (high - low) * 1.5 + 8;
    this.t0 = (start + end) / 2 - t;
    this.t1 = (start + end) / 2 + t;
    this.a0 = (low + high) / 2 - a;
    this.a1 = (low + high) / 2 + a;
    this.clamp();
  }

  clamp() {
    const inside = (low, high, least, most) => {
      if (high - low >= most - least) return [least, most];
      const shift = Math.max(least - low, 0) + Math.min(most - high, 0);
      return [low + shift, high + shift];
    };
    [this.t0, this.t1] = inside(this.t0, this.t1, this.all.t0, this.all.t1);
    [this.a0, this.a1] = inside(this.a0, this.a1, this.all.a0, this.all.a1);
  }
}

/** Ticks at 1, 2 or 5 times a power of ten: steps. */
function decimalTicks(low, high, wanted) {
  const least = Math.max(1, (high - low) / wanted);
  const power = 10 ** Math.floor(Math.log10(least));
  const distance = [1, 2, 5, 10].map((factor) => factor * power).find((width) => width >= least);
  return multiples(low, high, distance);
}

/** Ticks at powers of two: bytes. */
const binaryTicks = (low, high, wanted) => multiples(low, high, 2 ** Math.ceil(Math.log2(Math.max(1, (high - low) / wanted))));

function multiples(low, high, distance) {
  const ticks = [];
  for (let tick = Math.ceil(low / distance) * distance; tick <= high && ticks.length < 100; tick += distance) ticks.push(tick);
  return ticks;
}
