// Opens every page of the built book: pictures are there, links lead to something, nothing is asked for from outside.
//
//   node book.mjs target/book

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const folder = resolve(process.argv[2]);
const executablePath = process.env.MEMPLAN_CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"] });
const context = await browser.newContext();
const page = await context.newPage();
const complaints = [];
page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error.message}`));
page.on("request", (request) => { if (!/^(file|data|blob|about):/.test(request.url())) complaints.push(`${page.url()} asks for ${request.url()}`); });

const files = readdirSync(folder).filter((file) => file.endsWith(".html") && !["404.html", "print.html", "toc.html"].includes(file));
assert.ok(files.length > 25, `only ${files.length} pages`);
let [pictures, links] = [0, 0];
for (const file of files) {
  await page.goto(pathToFileURL(join(folder, file)).href);
  const seen = await page.evaluate(() => ({
    heading: document.querySelector("main h1")?.textContent ?? "",
    images: [...document.querySelectorAll("main img")].map((image) => [image.src, image.naturalWidth]),
    links: [...document.querySelectorAll("main a[href]")].map((link) => link.href),
    width: document.documentElement.scrollWidth - innerWidth,
  }));
  assert.notEqual(seen.heading, "", `${file} has no heading`);
  assert.ok(seen.width <= 0, `${file} is ${seen.width} pixels too wide`);
  for (const [source, width] of seen.images) assert.ok(width > 0, `${file}: ${source} is no picture`);
  for (const link of seen.links.filter((link) => link.startsWith("file:"))) {
    const target = new URL(link);
    const path = fileURLToPath(target.href.split("#")[0]);
    // What is outside of the book leads to the repository, where the book stands beside it.
    const outside = !path.startsWith(folder);
    const there = outside ? existsSync(path.replace(dirname(dirname(folder)) + "/target/", dirname(dirname(folder)) + "/")) : existsSync(path);
    assert.ok(there, `${file}: ${link} leads nowhere`);
    const anchor = decodeURIComponent(target.hash.slice(1));
    if (anchor !== "" && !outside) assert.ok(readFileSync(path, "utf8").includes(`id="${anchor}"`), `${file}: ${link} has no such anchor`);
    links += 1;
  }
  pictures += seen.images.length;
}

// Blocks that are files say their names.
await page.goto(pathToFileURL(join(folder, "first-plan.html")).href);
const names = await page.locator("main .file-name").allTextContents();
assert.ok(names.includes("buffers.csv"), `first-plan.html names ${names}`);

// The search finds a page by its words, once its index is there.
await page.locator("#mdbook-search-toggle").click();
const results = page.locator("#mdbook-searchresults a");
for (let attempt = 0; attempt < 60 && await results.count() === 0; attempt += 1) {
  await page.locator("#mdbook-searchbar").fill("");
  await page.locator("#mdbook-searchbar").pressSequentially("lifetime");
  await page.waitForTimeout(500);
}
assert.ok(await results.count() > 0, "a search finds nothing");

assert.deepEqual(complaints, []);
await browser.close();
console.log(`${files.length} pages, ${pictures} pictures, ${links} links`);
