// Shapes into pixels.
//
// Rectangles are filled row by row in a pixel buffer. A frame so costs one scan over the
// shapes and one visit of every pixel, whatever the number of shapes: 10^5 of them are no
// slower than 10^3. Shapes thinner than a pixel share it by the area they cover, so that
// crowds of tiny ones turn into an even tone instead of flicker.

/** How much a pixel shows at least of the shapes in it. */
const LEAST_COVER = 0.3;
/** From this size on, neighbours are kept apart by a line of paper. */
const GAP_FROM = 4;

class Raster {
  resize(width, height) {
    if (this.image?.width === width && this.image.height === height) return;
    this.image = new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    /** How much of each pixel is covered, 0 to 1. */
    this.cover = new Float32Array(width * height);
  }

  /** Paints one layer; `look` has the colours, `shade` says hidden (0), faded (1) or full (2). */
  paint(layer, camera, look, shade) {
    const { width, height } = this.image;
    const across = width / (camera.t1 - camera.t0);
    const up = height / (camera.a1 - camera.a0);
    this.cover.fill(0);
    let drawn = 0;
    for (let i = 0; i < layer.length; i += 1) {
      const buffer = layer.buffer[i];
      if (shade[buffer] === 0 || layer.end[i] <= camera.t0 || layer.start[i] >= camera.t1) continue;
      if (layer.high[i] <= camera.a0 || layer.low[i] >= camera.a1) continue;
      const left = (layer.start[i] - camera.t0) * across;
      const right = (layer.end[i] - camera.t0) * across;
      const top = height - (layer.high[i] - camera.a0) * up;
      const bottom = height - (layer.low[i] - camera.a0) * up;
      const colour = shade[buffer] === 2 ? look.full[buffer] : look.faded[buffer];
      drawn += 1;
      if (layer.kind[i] === ALIVE) this.solid(left, right, top, bottom, colour);
      else if (layer.kind[i] === TAKEN) this.hatched(left, right, top, bottom, look.ink);
      else this.dotted(left, right, top, bottom, colour);
    }
    const lines = new Set(look.ticks.map((tick) => Math.round(height - (tick - camera.a0) * up)));
    for (let y = 0; y < height; y += 1) {
      const paper = lines.has(y) ? look.grid : look.paper;
      this.lay(y, 0, look.band[0], paper);
      this.lay(y, look.band[0], look.band[1], lines.has(y) ? look.grid : look.bandPaper);
      this.lay(y, look.band[1], width, paper);
    }
    return drawn;
  }

  /** Puts the paper under a part of a row. */
  lay(y, from, to, paper) {
    const { width } = this.image;
    for (let at = y * width + from; at < y * width + to; at += 1) {
      const cover = this.cover[at];
      if (cover === 0) this.pixels[at] = paper;
      else if (cover < 1) this.pixels[at] = blended(paper, this.pixels[at], Math.max(LEAST_COVER, cover));
    }
  }

  /** Whole pixels inside the picture, at least one, in `x0` to `y1`: no garbage for each of 10^5 shapes. */
  clip(left, right, top, bottom) {
    const { width, height } = this.image;
    this.x0 = Math.max(0, Math.min(width - 1, Math.round(left)));
    this.y0 = Math.max(0, Math.min(height - 1, Math.round(top)));
    this.x1 = Math.min(width, Math.max(this.x0 + 1, Math.round(right)));
    this.y1 = Math.min(height, Math.max(this.y0 + 1, Math.round(bottom)));
  }

  solid(left, right, top, bottom, colour) {
    this.clip(left, right, top, bottom);
    const { x0, x1, y0, y1 } = this;
    const { width } = this.image;
    const share = Math.min(1, right - left) * Math.min(1, bottom - top);
    if (share < 1) {
      for (let y = y0; y < y1; y += 1) {
        for (let at = y * width + x0; at < y * width + x1; at += 1) this.add(at, colour, share);
      }
      return;
    }
    const apart = right - left >= GAP_FROM && bottom - top >= GAP_FROM ? 1 : 0;
    for (let row = (y0 + apart) * width; row < y1 * width; row += width) {
      this.pixels.fill(colour, row + x0, row + x1 - apart);
      this.cover.fill(1, row + x0, row + x1 - apart);
    }
  }

  /** A shape that covers a part of a pixel: its colour counts by that part. */
  add(at, colour, share) {
    const cover = this.cover[at];
    this.pixels[at] = cover === 0 ? colour : blended(this.pixels[at], colour, share / (cover + share));
    this.cover[at] = Math.min(1, cover + share);
  }

  /** Taken over in place: stripes over what is there. */
  hatched(left, right, top, bottom, ink) {
    this.clip(left, right, top, bottom);
    const { x0, x1, y0, y1 } = this;
    const { width } = this.image;
    for (let y = y0; y < y1; y += 1) {
      for (let x = x0; x < x1; x += 1) {
        const at = y * width + x;
        if ((x + y) % 7 >= 2) continue;
        this.pixels[at] = this.cover[at] === 0 ? ink : blended(this.pixels[at], ink, 0.55);
        this.cover[at] = 1;
      }
    }
  }

  /** Reserved but not in use: sparse dots of the buffer's colour. */
  dotted(left, right, top, bottom, colour) {
    this.clip(left, right, top, bottom);
    const { x0, x1, y0, y1 } = this;
    const { width } = this.image;
    for (let y = y0; y < y1; y += 1) {
      const isEdge = y === y0 || y === y1 - 1;
      for (let x = x0; x < x1; x += 1) {
        const isDot = isEdge || x === x0 || x === x1 - 1 ? (x + y) % 4 < 2 : x % 4 === 0 && y % 4 === 0;
        if (!isDot) continue;
        this.pixels[y * width + x] = colour;
        this.cover[y * width + x] = 1;
      }
    }
  }
}

function blended(below, above, weight) {
  const channel = (shift) => {
    const from = (below >>> shift) & 255;
    return Math.round(from + (((above >>> shift) & 255) - from) * weight) << shift;
  };
  return (255 << 24 | channel(16) | channel(8) | channel(0)) >>> 0;
}
