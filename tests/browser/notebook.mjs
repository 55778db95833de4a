// Opens a page with a plan as a notebook shows it: it is drawn, and nothing that is in its names runs or is asked for.
//
//   node notebook.mjs FILE

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const url = pathToFileURL(process.argv[2]).href;
const executablePath = process.env.MEMPLAN_CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"] });
const page = await browser.newPage();
const complaints = [];
page.on("console", (message) => complaints.push(message.text()));
page.on("pageerror", (error) => complaints.push(error.message));
page.on("request", (request) => { if (![url, "data:,", "about:srcdoc"].includes(request.url())) complaints.push(request.url()); });
await page.goto(url);
const frame = page.frames()[1];
await frame.waitForFunction(() => window.memplan?.painted.frames > 0);
await frame.locator("canvas.over").focus();
await page.keyboard.press("n");
assert.ok((await frame.locator("#picked").innerText()).includes("<script>hacked=1</script>"));
assert.equal(await frame.evaluate(() => window.hacked), undefined);
assert.equal(await page.evaluate(() => window.hacked), undefined);
assert.deepEqual(complaints, []);
await browser.close();
