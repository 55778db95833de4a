// Shapes into pixels.
//
// Rectangles are filled row by row in a pixel buffer. A frame so costs one scan over the
// shapes and one visit of every pixel, whatever the number of shapes: 10^5 of them are no
// slower than 10^3. A shape thinner than a pixel is mixed in by the share it covers, so that
// crowds of tiny ones turn into an even tone instead of flicker.

/** How much a pixel shows at least of a shape that is thinner than it. */
const LEAST_SHARE = 0.25;
/** From this size on, neighbours are kept apart by a line of paper. */
const GAP_FROM = 4;

class Raster {
  resize(width, height) {
    if (this.image?.width === width && this.image.height === height) return;
    this.image = new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  /** Paints one layer; `look` has the colours, `shade` says hidden (0), faded (1) or full (2). */
  paint(layer, camera, look, shade) {
    const { width, height } = this.image;
    const across = width / (camera.t1 - camera.t0);
    const up = height / (camera.a1 - camera.a0);
    this.pixels.fill(look.paper);
    for (const tick of look.ticks) {
      const y = Math.round(height - (tick - camera.a0) * up);
      if (y >= 0 && y < height) this.pixels.fill(look.grid, y * width, (y + 1) * width);
    }
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
    return drawn;
  }

  /** Whole pixels inside the picture; at least one. */
  clipped(left, right, top, bottom) {
    const { width, height } = this.image;
    const x0 = Math.max(0, Math.min(width - 1, Math.round(left)));
    const y0 = Math.max(0, Math.min(height - 1, Math.round(top)));
    return [x0, Math.min(width, Math.max(x0 + 1, Math.round(right))), y0, Math.min(height, Math.max(y0 + 1, Math.round(bottom)))];
  }

  solid(left, right, top, bottom, colour) {
    const [x0, x1, y0, y1] = this.clipped(left, right, top, bottom);
    const { width } = this.image;
    const share = Math.min(1, right - left) * Math.min(1, bottom - top);
    if (share < 1) {
      const weight = Math.max(LEAST_SHARE, share);
      for (let y = y0; y < y1; y += 1) {
        for (let at = y * width + x0; at < y * width + x1; at += 1) this.pixels[at] = blended(this.pixels[at], colour, weight);
      }
      return;
    }
    const apart = right - left >= GAP_FROM && bottom - top >= GAP_FROM ? 1 : 0;
    for (let y = y0 + apart; y < y1; y += 1) this.pixels.fill(colour, y * width + x0, y * width + x1 - apart);
  }

  /** Taken over in place: stripes over what is there. */
  hatched(left, right, top, bottom, ink) {
    const [x0, x1, y0, y1] = this.clipped(left, right, top, bottom);
    const { width } = this.image;
    for (let y = y0; y < y1; y += 1) {
      for (let x = x0; x < x1; x += 1) {
        if ((x + y) % 7 < 2) this.pixels[y * width + x] = blended(this.pixels[y * width + x], ink, 0.55);
      }
    }
  }

  /** Reserved but not in use: sparse dots of the buffer's colour. */
  dotted(left, right, top, bottom, colour) {
    const [x0, x1, y0, y1] = this.clipped(left, right, top, bottom);
    const { width } = this.image;
    for (let y = y0; y < y1; y += 1) {
      const isEdge = y === y0 || y === y1 - 1;
      for (let x = x0; x < x1; x += 1) {
        const isDot = isEdge || x === x0 || x === x1 - 1 ? (x + y) % 4 < 2 : x % 4 === 0 && y % 4 === 0;
        if (isDot) this.pixels[y * width + x] = colour;
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
