// Runs the prepared specs with the stock client in Node: the baseline. Writes a file of JSON lines for each spec.
// Usage: node stock.mjs CHECKOUT PREPARED RESULTS OUTPUT PACKAGES BROWSER LIMIT WORKERS NAME...

import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import vm from "node:vm";
import { certificateOf, serveAsset, startServer } from "./server.mjs";

const [checkout, prepared, results, output, packages, executablePath, limit, workers, ...names] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(packages), "package.json"));
const playwright = require("playwright");
const { expect: stockExpect } = require("playwright/test");
const harness = fs.readFileSync(new URL("./harness.js", import.meta.url), "utf8");
const { makeTest, SpecServer, specUtils, extendExpect, runSpec } = vm.runInThisContext(`(() => { ${harness}; return { makeTest, SpecServer, specUtils, extendExpect, runSpec }; })()`, { filename: "harness.js" });
const expect = extendExpect(stockExpect);
const utils = specUtils(expect);

process.on("unhandledRejection", () => {});
process.on("uncaughtException", () => {});

const flags = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
// Playwright's own list, and the browser's pop-ups: each context would start two processes for them.
const features = "AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,DialMediaRouteProvider,GlobalMediaControls,HttpsUpgrades,LensOverlay,MediaRouter,PaintHolding,ThirdPartyStoragePartitioning,BlockOriginHeaderModificationOnRedirect,Translate,AutoDeElevate,OptimizationHints,NetworkTimeServiceQuerying,AimEnabled,WebUIOmniboxPopup,WebUIOmniboxAimPopup,PreloadTopChromeWebUI";
const browser = await playwright.chromium.launch({ executablePath, args: [...flags, "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", `--disable-features=${features}`] });
// Without its browser a spec has no result: the next run measures it again.
browser.on("disconnected", () => process.exit(1));

async function startBoth() {
  const made = {};
  for (const [kind, certificate] of [["http"], ["https", certificateOf(checkout)]]) {
    const { server, port } = await startServer((request, response) => {
      try {
        Promise.resolve(made[kind].handle(request, response)).catch(() => {});
      } catch {
        response.destroy();
      }
    }, certificate);
    made[kind] = new SpecServer(port, kind, (request, response, options) => void serveAsset(checkout, request, response, options));
    made[kind].close = () => server.closeAllConnections();
  }
  return made;
}

async function runFile(name, servers, report) {
  const code = fs.readFileSync(path.join(prepared, `${name}.js`), "utf8");
  const { test, tests } = makeTest();
  const folder = path.join(checkout, "tests/page");
  const modules = (source) => {
    if (source === "./pageTest") return { test, expect, rafraf: utils.rafraf };
    if (source.startsWith("../config/")) return utils;
    // Internals of the stock client: a test that needs them fails on both sides.
    if (source.startsWith("../../packages/") || source === "formidable") return new Proxy({}, { get: () => ({}) });
    if (source.startsWith("playwright") || source.startsWith("@playwright")) return { ...playwright, expect };
    const found = require(source);
    return { ...found, default: found };
  };
  vm.runInThisContext(`(function (__import, require, __dirname, __filename) { ${code}\n})`, { filename: `${name}.ts` })(modules, require, folder, path.join(folder, `${name}.ts`));
  const major = Number.parseInt(browser.version(), 10);
  const side = {
    fixtures: { server: servers.http, httpsServer: servers.https, asset: (one) => path.join(checkout, "tests/assets", one), playwright, browser, browserType: playwright.chromium, browserVersion: browser.version(), browserMajorVersion: major },
    testInfo: (file, title) => {
      const outputDir = path.join(output, file, title.replace(/[^\w]+/g, "-").slice(0, 80));
      return { title, annotations: [], outputDir, outputPath: (...parts) => (fs.mkdirSync(outputDir, { recursive: true }), path.join(outputDir, ...parts)), project: { name: "chromium" } };
    },
    newPage: async () => {
      const context = await browser.newContext();
      return { context, page: await context.newPage() };
    },
    end: async (made) => {
      await made?.context.close();
      for (const server of Object.values(servers)) {
        server.clear();
        server.close();
      }
    },
  };
  await runSpec(name, tests, test, side, { filter: "", limit: Number(limit), only: null }, report);
}

const queue = [...names];
await Promise.all(Array.from({ length: Number(workers) }, async () => {
  const servers = await startBoth();
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    const lines = [];
    try {
      await runFile(name, servers, (result) => lines.push(`${JSON.stringify(result)}\n`));
    } catch (error) {
      lines.push(`${JSON.stringify({ id: name, status: "broken", error: String(error.stack ?? error) })}\n`);
    }
    fs.writeFileSync(path.join(results, `${name}.jsonl`), lines.join(""));
  }
}));
process.exitCode = 0;
browser.removeAllListeners("disconnected");
await browser.close();
process.exit();
