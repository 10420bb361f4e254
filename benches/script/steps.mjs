// Twenty steps by Playwright: prints the time of the steps and Node's memory as JSON.

import { createRequire } from "node:module";
import process from "node:process";

const require = createRequire(new URL("../../tests/clients/package.json", import.meta.url));
const { chromium } = require("playwright-core");

const executablePath = process.env.TABWIRE_BROWSER ?? "/usr/bin/chromium";
const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath, args });
const page = await browser.newPage();
await page.goto(process.argv[2]);
const before = performance.now();
for (let i = 0; i < 10; i++) await page.fill(`#f${i}`, `value ${i}`);
const texts = [];
for (let i = 0; i < 5; i++) {
  await page.click(`#b${i}`);
  texts.push(await page.innerText(`#b${i}`));
}
const ms = performance.now() - before;
if (texts[4] !== "done4") throw new Error(texts.join());
console.log(JSON.stringify({ ms, texts, rss_kib: Math.round(process.memoryUsage.rss() / 1024) }));
await browser.close();
