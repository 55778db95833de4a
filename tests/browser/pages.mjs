// Opens memory map pages in a real Chromium, uses them as people do, and looks at what they show.
//
//   node pages.mjs FOLDER
//
// FOLDER holds the pages (made by the test `pages_in_a_real_browser` of memplan-cli); screenshots and
// report.txt with the measured times are written beside them. Exit code 1 and a message if anything is wrong.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const folder = resolve(process.argv[2]);
const SIZE = { width: 1400, height: 860 };
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const executablePath = process.env.MEMPLAN_CHROMIUM ?? "/usr/bin/chromium";

const browser = await chromium.launch({ executablePath, args: FLAGS });
const report = [];

/** Opens a page, does something with it, and asks that it neither complains nor asks for anything. */
async function withPage(name, options, use) {
  const url = pathToFileURL(join(folder, name)).href;
  const context = await browser.newContext({ viewport: SIZE, ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => complaints.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => { complaints.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  const own = [url, "data:,", "about:srcdoc"];
  page.on("request", (request) => { if (!own.includes(request.url())) complaints.push(`request: ${request.url()}`); });
  await page.goto(url);
  if (!name.endsWith("notebook.html") && !name.endsWith(".svg")) await page.waitForFunction(() => window.memplan?.painted.frames > 0);
  await use(page);
  assert.deepEqual(complaints, [], `${name} complained or asked for something`);
  await context.close();
}

const text = (page, selector) => page.locator(selector).innerText();

/** Lets the page paint once more. */
const settle = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

async function view(page) {
  await settle(page);
  return page.evaluate(() => window.memplan.view());
}

async function openTable(page) {
  await page.locator("#all > summary").click();
  await page.locator("#rows tbody tr").first().waitFor();
}

async function hover(page, name, plan = 0) {
  const place = await page.evaluate(([name, plan]) => window.memplan.place(name, plan), [name, plan]);
  assert.ok(place, `${name} has a place`);
  await page.mouse.move(place.x - 1, place.y);
  await page.mouse.move(place.x, place.y);
  return place;
}

/** The most frequent colours of a chart, to see what was really painted. */
const colours = (page) => page.evaluate(() => {
  const canvas = document.querySelector("canvas.shapes");
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Map();
  for (let at = 0; at < data.length; at += 4) {
    const key = `${data[at]},${data[at + 1]},${data[at + 2]}`;
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  return [...seen].sort((a, b) => b[1] - a[1]).slice(0, 12);
});

// Ten buffers that have everything: two spaces, gaps, windows, slots, ties, overlays, pipes.
await withPage("ten.html", {}, async (page) => {
  assert.equal(await text(page, "#title"), "ten.json");
  assert.deepEqual(await page.locator("#spaces [role=tab]").allInnerTexts(), ["ub", "l1"]);
  assert.match(await text(page, "#summary"), /extent\s+\d.*lower bound.*capacity\s+192\.000 KiB/s);
  assert.match(await text(page, "#alive"), /Alive at the peak, step \d/);
  assert.match(await text(page, "#legend"), /reserved, not in use.*taken over in place.*tied together/s);

  await hover(page, "gelu");
  const tip = await text(page, "#tip");
  assert.match(tip, /^gelu\nsize 64\.000 KiB \(65,536 B\)\n(slot \d at )?bytes [\d,]+\.\.[\d,]+\nsteps \d+\.\.\d+/);

  await hover(page, "window");
  await page.mouse.down();
  await page.mouse.up();
  assert.equal((await view(page)).selected, "window");
  assert.match(await text(page, "#picked"), /window\s+size\s+16\.000 KiB.*life\s+2\.\.4 6\.\.9 \(5 steps\).*Alive at the same time: [1-9]/s);
  assert.match(await text(page, "#say"), /^window, 16\.000 KiB/);

  await page.locator("#mode").selectOption("pipe");
  assert.match(await text(page, "#legend"), /vector.*cube.*none/s);

  await page.locator("#space-1").click();
  const second = await view(page);
  assert.equal(second.space, "l1");
  assert.equal(second.selected, null, "what is not here is not selected");
  assert.equal(second.drawn[0], 2);
  await page.keyboard.press("ArrowLeft");
  assert.equal((await view(page)).space, "ub", "tabs follow the arrow keys");
  await page.screenshot({ path: join(folder, "ten.png") });
});

// The curve chooses the step whose buffers are listed; the table says everything in text.
await withPage("ten.html", {}, async (page) => {
  const curve = await page.locator("canvas.curve").boundingBox();
  await page.mouse.click(curve.x + curve.width - 40, curve.y + 40);
  assert.match(await text(page, "#alive h2"), /^Alive at step 1\d/i);
  await page.getByRole("button", { name: "back to the peak" }).click();
  assert.match(await text(page, "#alive h2"), /^Alive at the peak/i);
  await openTable(page);
  assert.equal(await page.locator("#rows tbody tr").count(), 10);
  await page.getByRole("button", { name: "bytes" }).click();
  await page.getByRole("button", { name: "bytes" }).click();
  assert.equal(await page.locator("#rows th[aria-sort=descending]").innerText(), "bytes");
  const sizes = (await page.locator("#rows tbody td:nth-child(2)").allInnerTexts()).map((size) => Number(size.replaceAll(",", "")));
  assert.deepEqual(sizes, [...sizes].sort((a, b) => b - a));
});

// A model: what its buffers are, what makes them, what a step is; colours say what a buffer is for.
await withPage("model.html", {}, async (page) => {
  assert.equal((await view(page)).mode, "kind");
  assert.match(await text(page, "#legend"), /intermediate result.*scratch memory.*input.*output/s);
  assert.match(await text(page, "#alive h2"), /^Alive at the peak, step \d+: TRANSPOSE_CONV/i);
  const names = await page.locator("#alive .link").allInnerTexts();
  assert.ok(names.includes("TRANSPO…cratch0"), `names are shortened in the middle: ${names}`);
  await hover(page, "up_a");
  assert.match(await text(page, "#tip"), /\nkind intermediate result\nop TRANSPOSE_CONV.*\ntensor 1x32x32x4 INT8/);
  assert.equal(await page.locator(".advice").count(), 0, "nothing is better than the best plan");
  await page.locator("#mode").selectOption("op");
  assert.match(await text(page, "#legend"), /CONV_2D/);
  await page.screenshot({ path: join(folder, "model.png") });
});

// Where a plan is not known to be the best, the page says what to try.
await withPage("huge.html", {}, async (page) => {
  assert.match(await text(page, ".advice"), /up to .* less\. What to try: the strategy auto searches on/);
});

// Keyboard alone: the order of focus, selection, moving, zooming, help, themes.
await withPage("ten.html", { colorScheme: "dark" }, async (page) => {
  assert.equal((await view(page)).dark, true, "follows the system");
  const order = [];
  for (let i = 0; i < 14; i += 1) {
    await page.keyboard.press("Tab");
    order.push(await page.evaluate(() => document.activeElement.id || document.activeElement.className));
  }
  assert.deepEqual(order.slice(0, 11), ["skip", "theme", "ask", "space-0", "mode", "find", "least", "closer", "wider", "fit", "over"]);
  await page.locator("canvas.over").focus();
  await page.keyboard.press("n");
  const first = (await view(page)).selected;
  await page.keyboard.press("n");
  assert.notEqual((await view(page)).selected, first);
  await page.keyboard.press("p");
  assert.equal((await view(page)).selected, first);
  await page.keyboard.press("Enter");
  await settle(page);
  assert.equal((await view(page)).isFitted, false);
  const before = await view(page);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("+");
  const after = await view(page);
  assert.ok(after.steps[1] - after.steps[0] < before.steps[1] - before.steps[0]);
  await page.keyboard.press("0");
  assert.equal((await view(page)).isFitted, true);
  await page.keyboard.press("Escape");
  assert.equal((await view(page)).selected, null);
  await page.keyboard.press("t");
  assert.equal((await view(page)).dark, false);
  await page.keyboard.press("?");
  assert.equal(await page.locator("#help").isVisible(), true);
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "find");
});

// Two fingers stretch the picture, one moves it, a tap selects.
await withPage("ten.html", { hasTouch: true }, async (page) => {
  const { x, y } = await hover(page, "gelu");
  const touch = await page.context().newCDPSession(page);
  const send = (type, ...touchPoints) => touch.send("Input.dispatchTouchEvent", { type, touchPoints });
  await send("touchStart", { x: x - 20, y, id: 1 }, { x: x + 20, y, id: 2 });
  for (let far = 25; far <= 60; far += 5) await send("touchMove", { x: x - far, y, id: 1 }, { x: x + far, y, id: 2 });
  await send("touchEnd");
  const stretched = await view(page);
  assert.ok(stretched.steps[1] - stretched.steps[0] < 10, `pinched to ${stretched.steps}`);
  await page.touchscreen.tap(x, y);
  assert.equal((await view(page)).selected, "gelu");
});

// A thousand buffers in two plans: side by side, one, the other.
await withPage("thousand.html", {}, async (page) => {
  assert.deepEqual((await view(page)).shown, ["A", "B"]);
  assert.equal(await page.locator("figure:visible").count(), 2);
  const captions = await page.locator("figcaption").allInnerTexts();
  assert.match(captions[0], /^A\s+plan greedy\.json, extent/);
  assert.match(captions[1], /^B\s+plan auto\.json, extent/);
  assert.deepEqual((await view(page)).drawn, [1000, 1000]);
  await page.locator("#mode").selectOption("moved");
  assert.match(await text(page, "#legend"), /same place.*somewhere else/s);
  await hover(page, "layer3/out21", 1);
  await page.mouse.down();
  await page.mouse.up();
  assert.match(await text(page, "#picked"), /offset, plan A.*offset, plan B/s);
  await page.screenshot({ path: join(folder, "thousand.png") });
  await page.locator("#picked").getByRole("button", { name: "Clear" }).click();
  await page.getByRole("button", { name: "Plan B" }).click();
  assert.deepEqual((await view(page)).shown, ["B"]);
  assert.equal(await page.locator("figure:visible").count(), 1);
  await page.keyboard.press("f");
  assert.deepEqual((await view(page)).shown, ["A"]);

  await page.locator("#find").fill("LAYER3/");
  assert.match(await text(page, "#kept"), /^7 of 1,000 buffers$/);
  assert.equal((await view(page)).full, 7);
  await page.keyboard.press("Enter");
  assert.match((await view(page)).selected, /^layer3\//);
  await page.keyboard.press("Escape");
  await page.locator("#least").fill("90");
  await settle(page);
  const large = await view(page);
  assert.ok(large.drawn[0] > 0 && large.drawn[0] < 400, `${large.drawn[0]} large ones`);
  assert.match(await text(page, "#kept"), /or more$/);
});

// Every way to colour paints something else.
await withPage("thousand.html", {}, async (page) => {
  const seen = new Set();
  for (const mode of ["buffer", "size", "lifetime"]) {
    await page.locator("#mode").selectOption(mode);
    await settle(page);
    assert.equal((await view(page)).mode, mode);
    seen.add(JSON.stringify(await colours(page)));
  }
  assert.equal(seen.size, 3);
  await page.locator("#theme").click();
  await settle(page);
  assert.equal((await colours(page))[0][0], "20,23,28", "dark paper");
});

// Text can be read in both themes (WCAG AA: 4.5 to 1), and colours can be told apart by everybody.
const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const channels = (hex) => [1, 3, 5].map((at) => linear(parseInt(hex.slice(at, at + 2), 16) / 255));
const luminance = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
function contrast(one, other) {
  const [dark, bright] = [luminance(channels(one)), luminance(channels(other))].sort((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
}
/** How the three kinds of colour blindness see linear colours. */
const EYES = {
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
/** CIE Lab of a linear colour: equal distances look equally different. */
function lab(rgb) {
  const [r, g, b] = rgb.map((value) => Math.max(0, Math.min(1, value)));
  const f = (t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const [x, y, z] = [(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505, 0.2126 * r + 0.7152 * g + 0.0722 * b, (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089].map(f);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
for (const colorScheme of ["light", "dark"]) {
  await withPage("ten.html", { colorScheme }, async (page) => {
    const value = (name) => page.evaluate((name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim(), name);
    for (const [ink, paper] of [["--ink", "--paper"], ["--ink", "--back"], ["--muted", "--back"], ["--muted", "--card"], ["--accent", "--card"],
      ["--accent-ink", "--accent"], ["--lower", "--paper"], ["--capacity", "--paper"], ["--peak", "--paper"]]) {
      const ratio = contrast(await value(ink), await value(paper));
      assert.ok(ratio >= 4.5, `${ink} on ${paper}, ${colorScheme}: ${ratio.toFixed(2)}`);
    }
    const palettes = await page.evaluate(() => window.memplan.palettes);
    for (const [kind, eye] of Object.entries(EYES)) {
      const seen = palettes.set.map((hex) => lab(eye.map((row) => row.reduce((sum, weight, i) => sum + weight * channels(hex)[i], 0))));
      for (let i = 0; i < seen.length; i += 1) {
        for (let j = 0; j < i; j += 1) {
          const apart = Math.hypot(...seen[i].map((part, k) => part - seen[j][k]));
          assert.ok(apart > 7, `${palettes.set[i]} and ${palettes.set[j]} are ${apart.toFixed(1)} apart with ${kind}`);
        }
      }
    }
    for (const scale of [palettes.size, palettes.lifetime]) {
      const lightness = scale.map((hex) => lab(channels(hex))[0]);
      assert.ok(lightness.every((value, i) => i === 0 || value > lightness[i - 1] + 4), `grows lighter: ${lightness.map(Math.round)}`);
    }
  });
}

// 10^5 buffers: the times are measured and reported.
await withPage("huge.html", {}, async (page) => {
  assert.equal((await view(page)).drawn[0], 100_000, "everything is drawn");
  const opened = await page.evaluate(() => ({
    first: window.memplan.painted.first,
    contentful: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null,
    parsed: performance.getEntriesByType("navigation")[0].domInteractive,
  }));
  report.push(`10^5 buffers: document parsed after ${opened.parsed.toFixed(0)} ms, map painted after ${opened.first.toFixed(0)} ms`);
  const box = await page.locator("canvas.over").boundingBox();
  const times = [];
  for (let i = 0; i < 8; i += 1) {
    times.push(await page.evaluate(([x, y]) => new Promise((done) => {
      const start = performance.now();
      const frames = window.memplan.painted.frames;
      document.querySelector("canvas.over").dispatchEvent(new WheelEvent("wheel", { clientX: x, clientY: y, deltaY: -100, bubbles: true, cancelable: true }));
      const wait = () => (window.memplan.painted.frames > frames ? done([performance.now() - start, window.memplan.painted.last]) : requestAnimationFrame(wait));
      requestAnimationFrame(wait);
    }), [box.x + box.width / 2, box.y + box.height * 0.8]));
  }
  const middle = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
  report.push(`10^5 buffers: a zoom step is on the screen after ${middle(times.map((time) => time[0])).toFixed(0)} ms, of which ${middle(times.map((time) => time[1])).toFixed(0)} ms are painting (median of ${times.length})`);
  const zoomed = await view(page);
  assert.ok(zoomed.steps[1] - zoomed.steps[0] < 20_000 && zoomed.drawn[0] < 60_000 && zoomed.drawn[0] > 0, JSON.stringify(zoomed));
  await page.locator("#find").fill("out4242");
  await page.keyboard.press("Enter");
  await settle(page);
  assert.match((await view(page)).selected, /out4242/);
  assert.match(await text(page, "#picked"), /Alive at the same time: [1-9]/);
  await page.screenshot({ path: join(folder, "huge.png") });
});

// Names that try to be markup, in every field: nothing runs, nothing is asked for, and all of it is shown as text.
const HOSTILE = "</script><script>hacked=1</script><img src=x onerror=hacked=1>";
const HOSTILE_FILE = "<img src=x onerror=hacked=1>";

/** The page has no element but its own, and no script but its own has run. */
async function isUnharmed(page) {
  assert.equal(await page.locator("img, iframe, object, embed, svg, base, form").count(), 0);
  assert.equal(await page.locator("link").count(), 1, "the empty icon");
  assert.equal(await page.locator("script").count(), 2, "our data and our script");
  assert.equal(await page.evaluate(() => window.hacked), undefined);
}

/** Selects the first buffer, and reads what the page says about it. */
async function pick(page) {
  await page.locator("canvas.over").first().focus();
  await page.keyboard.press("n");
  return text(page, "#picked");
}

await withPage("hostile.html", {}, async (page) => {
  assert.ok((await text(page, "#title")).includes(HOSTILE_FILE));
  assert.ok((await page.title()).includes(HOSTILE_FILE));
  assert.ok((await text(page, "#spaces")).includes(HOSTILE));
  for (const name of ["pipe", "group"]) {
    await page.locator("#mode").selectOption(name);
    assert.ok((await text(page, "#legend")).includes(HOSTILE), `${name} is shown as text`);
  }
  const picked = await pick(page);
  for (const field of [/^pipe\s+<\/script>/m, /^loop\s+<\/script>/m, /^tied to\s+<\/script>/m, /^level\s/m]) assert.match(picked, field);
  const place = await page.evaluate(() => window.memplan.place(window.memplan.view().selected));
  await page.mouse.move(place.x, place.y);
  await page.mouse.move(place.x + 1, place.y);
  assert.ok((await text(page, "#tip")).includes(HOSTILE));
  assert.ok((await page.locator("#alive .link").first().getAttribute("title")).includes(HOSTILE));
  assert.ok((await text(page, "#say")).includes(HOSTILE), "and said to those who listen");
  await openTable(page);
  assert.ok((await text(page, "#rows")).includes(HOSTILE));
  await page.locator("#find").fill(HOSTILE);
  assert.match(await text(page, "#kept"), /^2 of 3 buffers$/);
  await isUnharmed(page);
});
await withPage("hostile-plans.html", {}, async (page) => {
  for (const caption of await page.locator("figcaption").allInnerTexts()) assert.ok(caption.includes(HOSTILE_FILE), caption);
  assert.match(await text(page, "#summary li"), /<\/script><script>/, "what is wrong is said in text");
  assert.ok((await text(page, "#summary")).includes(HOSTILE_FILE));
  await isUnharmed(page);
});
await withPage("hostile-objects.html", {}, async (page) => {
  assert.ok((await pick(page)).includes(`${HOSTILE}`), "the symbol of a size");
  assert.match(await text(page, "#picked"), /^size\s+<\/script>[^]*?at most 4096 bytes/m);
  assert.match(await text(page, "#picked"), /^offset\s+object \d/m);
  await isUnharmed(page);
});
await withPage("hostile-source.html", {}, async (page) => {
  const picked = await pick(page);
  assert.ok(picked.includes(`${HOSTILE_FILE}&'".mlir:2`), `the file and the line: ${picked}`);
  assert.ok(picked.includes(`// ${HOSTILE}`), "the text of the line");
  await isUnharmed(page);
});
await withPage("hostile.svg", {}, async (page) => {
  assert.equal(await page.locator("script, img, image, foreignObject, a").count(), 0);
  assert.ok((await page.locator("rect > title").allTextContents()).some((title) => title.includes(HOSTILE)));
  assert.ok((await page.locator("text.title").textContent()).includes(HOSTILE_FILE));
  assert.equal(await page.evaluate(() => window.hacked), undefined);
});
await withPage("hostile-notebook.html", {}, async (page) => {
  const frame = page.frames()[1];
  await frame.waitForFunction(() => window.memplan?.painted.frames > 0);
  assert.ok((await frame.locator("#title").innerText()).includes(HOSTILE_FILE));
  assert.equal(await frame.evaluate(() => window.hacked), undefined);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
});

// SVG can be read at 10 to 2,000 buffers: every name lies inside its rectangle, none is small, and no words lie on each other.
for (const [name, fewest] of [["ten", 8], [10, 5], [100, 12], [500, 60], [2000, 80]]) {
  await withPage(`legible-${name}.svg`, { viewport: { width: 2600, height: 1420 } }, async (page) => {
    const seen = await page.evaluate(() => {
      const box = (element) => { const { left, top, right, bottom } = element.getBoundingClientRect(); return { left, top, right, bottom, words: element.textContent }; };
      const names = [...document.querySelectorAll("text.name")].map((text) => ({ ...box(text), around: box(text.previousElementSibling) }));
      const others = [...document.querySelectorAll("text:not(.name)")].map(box);
      const sizes = [...document.querySelectorAll("text")].map((text) => parseFloat(getComputedStyle(text).fontSize));
      return { names, others, sizes, paper: box(document.documentElement) };
    });
    assert.ok(seen.names.length >= fewest, `${name}: only ${seen.names.length} names`);
    assert.ok(Math.min(...seen.sizes) >= 11, `${name}: text of ${Math.min(...seen.sizes)} pixels`);
    const isInside = (one, other) => one.left >= other.left - 0.5 && one.top >= other.top - 1 && one.right <= other.right + 0.5 && one.bottom <= other.bottom + 1;
    const areApart = (one, other) => one.right <= other.left + 0.5 || other.right <= one.left + 0.5 || one.bottom <= other.top + 3 || other.bottom <= one.top + 3;
    for (const text of seen.names) assert.ok(isInside(text, text.around), `${name}: ${text.words} sticks out: ${JSON.stringify(text)}`);
    for (const [index, text] of seen.others.entries()) {
      assert.ok(isInside(text, seen.paper), `${name}: ${text.words} leaves the paper`);
      for (const other of seen.others.slice(0, index)) assert.ok(areApart(text, other), `${name}: ${text.words} lies on ${other.words}`);
    }
    report.push(`SVG of ${name} buffers: ${seen.names.length} names, each inside its rectangle`);
    await page.screenshot({ path: join(folder, `legible-${name}.png`) });
  });
}

// Who waits for whom: the level of a buffer.
await withPage("kernel.html", {}, async (page) => {
  assert.deepEqual(await page.locator("#spaces [role=tab]").allInnerTexts().catch(() => []), [], "one memory needs no tabs");
  const facts = {};
  for (let i = 0; i < 3; i += 1) {
    const picked = await pick(page);
    facts[picked.match(/%\w+/)[0]] = picked.match(/^level\s+(.*)$/m)[1];
    assert.match(picked, /^source\s+kernel\.mlir:\d+/m);
  }
  assert.match(facts["%x"], /^side by side/);
  assert.match(facts["%z"], /^level0: waits for another pipe/);
});

// Reuse that costs something: marked, listed, and drawn against the capacity.
await withPage("waits.html", {}, async (page) => {
  assert.deepEqual((await view(page)).handovers, [2]);
  assert.match(await text(page, "#summary"), /reuse cost\s+2\s+the least possible/);
  assert.match(await text(page, "#legend"), /reuse that costs something/);
  assert.match(await pick(page), /Reuse at a price: 1[\s\S]*costs 1/);
  const rows = await page.locator("#tradeoff tbody tr").allInnerTexts();
  assert.deepEqual(rows.map((row) => row.split(/\t/)[1]), ["0", "1", "2", "10"]);
  assert.equal(await page.locator("#tradeoff circle").count(), 4);
});

// Where a buffer comes from, and what is wrong with a plan.
await withPage("program.html", {}, async (page) => {
  await page.locator("canvas.over").focus();
  await page.keyboard.press("n");
  assert.match(await text(page, "#picked"), /source\s+layers\.mlir:2 +%a = memref\.alloc\(\)/);
});
await withPage("wrong.html", {}, async (page) => {
  assert.match(await text(page, "#summary"), /lower bound.*not kept.*1,\d\d\d violations.*and \d+ more/s);
  assert.ok(await page.locator("#summary li").count() > 0);
  assert.ok((await view(page)).wrong[0] > 100, "overlaps are marked");
  assert.match(await text(page, "#legend"), /two buffers on the same bytes/);
  await page.screenshot({ path: join(folder, "wrong.png") });
});

// In a notebook the page is in a frame that may run scripts and nothing else.
await withPage("notebook.html", {}, async (page) => {
  const frame = page.frames()[1];
  await frame.waitForFunction(() => window.memplan?.painted.frames > 0);
  await frame.locator("#ask").click();
  assert.equal(await frame.locator("#help").isVisible(), true);
  await frame.locator("#enough").click();
  assert.equal(await frame.locator("#help").isVisible(), false);
  await frame.locator("#mode").selectOption("size");
  assert.equal(await frame.evaluate(() => window.memplan.view().mode), "size");
});

// Narrow screens get one column.
await withPage("ten.html", { viewport: { width: 420, height: 800 } }, async (page) => {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${overflow} pixels too wide`);
  await page.screenshot({ path: join(folder, "narrow.png") });
});

// The pictures of the README: a training step by light, two plans of a thousand buffers in the dark.
const FRAME = { width: 1280, height: 760 };
await withPage("readme.html", { viewport: FRAME }, async (page) => {
  await page.screenshot({ path: join(folder, "page-light.png") });
});
await withPage("thousand.html", { viewport: FRAME, colorScheme: "dark" }, async (page) => {
  await page.locator("#mode").selectOption("size");
  await settle(page);
  await page.screenshot({ path: join(folder, "page-dark.png") });
});

// They still look like what the documents show, fonts of this machine aside.
const compare = await browser.newPage();
for (const name of process.env.MEMPLAN_BLESS ? [] : ["page-light.png", "page-dark.png"]) {
  const files = [join(folder, name), fileURLToPath(new URL(`../../docs/images/${name}`, import.meta.url))];
  const urls = files.map((file) => `data:image/png;base64,${readFileSync(file).toString("base64")}`);
  const apart = await compare.evaluate(async (urls) => {
    const pictures = await Promise.all(urls.map(async (url) => {
      const image = new Image();
      image.src = url;
      await image.decode();
      const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height).data;
    }));
    if (pictures[0].length !== pictures[1].length) return Infinity;
    return pictures[0].reduce((sum, value, i) => sum + Math.abs(value - pictures[1][i]), 0) / pictures[0].length;
  }, urls);
  assert.ok(apart < 8, `${name} in docs/images is out of date: ${apart.toFixed(1)} apart on average; MEMPLAN_BLESS=1 renews it`);
}

await browser.close();
writeFileSync(join(folder, "report.txt"), `${report.join("\n")}\n`);
console.log(report.join("\n"));
