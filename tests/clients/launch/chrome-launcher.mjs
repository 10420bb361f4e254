// Launches a browser as a stock library does, and runs commands: one line of JSON in, one line out.
//
//   node launch/chrome-launcher.mjs --tool playwright|playwright-persistent|puppeteer-pipe|puppeteer-port
//     --executable PATH [--profile DIRECTORY] [--arguments "--a --b=c"] [--window yes]
//
// Commands: {"first": URL}, which loads in the first page, {"title": URL} {"eval": EXPRESSION} {"pages": true} {"close": true}. An error is {"error":
// MESSAGE}.

import { createInterface } from 'node:readline';
import { readArguments } from '../shared/command-line.mjs';

const settings = readArguments({ profile: '', arguments: '', window: '' }, ['tool', 'executable']);
const args = ['--no-sandbox', ...settings.arguments.split(' ').filter(Boolean)];
const say = (line) => console.log(JSON.stringify(line));
const STEP_MILLISECONDS = 20_000;

async function launchPlaywright() {
  const { chromium } = await import('playwright-core');
  const options = { executablePath: settings.executable, args, timeout: STEP_MILLISECONDS, headless: !settings.window };
  if (settings.tool === 'playwright-persistent') {
    const context = await chromium.launchPersistentContext(settings.profile, options);
    context.on('close', () => say({ disconnected: true }));
    return { newPage: () => context.newPage(), pages: () => context.pages(), close: () => context.close(), context };
  }
  const browser = await chromium.launch(options);
  const context = await browser.newContext();
  browser.on('disconnected', () => say({ disconnected: true }));
  return { newPage: () => context.newPage(), pages: () => context.pages(), close: () => browser.close() };
}

async function launchPuppeteer() {
  const { default: puppeteer } = await import('puppeteer-core');
  const browser = await puppeteer.launch({
    executablePath: settings.executable,
    pipe: settings.tool === 'puppeteer-pipe',
    args,
    headless: true,
    timeout: STEP_MILLISECONDS,
    userDataDir: settings.profile || undefined,
  });
  browser.on('disconnected', () => say({ disconnected: true }));
  return {
    newPage: () => browser.newPage(),
    pages: () => browser.pages(),
    close: () => browser.close(),
    version: () => browser.version(),
    pid: browser.process()?.pid,
  };
}

const browser = await (settings.tool.startsWith('playwright') ? launchPlaywright() : launchPuppeteer());
let page;

async function carryOut(command) {
  if (command.title !== undefined) {
    page ??= await browser.newPage();
    await page.goto(command.title, { timeout: STEP_MILLISECONDS });
    return { title: await page.title() };
  }
  if (command.first !== undefined) {
    [page] = await browser.pages();
    await page.goto(command.first, { timeout: STEP_MILLISECONDS });
    return { title: await page.title() };
  }
  if (command.eval !== undefined) return { value: await page.evaluate(command.eval) };
  if (command.fresh !== undefined) {
    page = await browser.newPage();
    return { fresh: true };
  }
  if (command.pages !== undefined) return { pages: (await browser.pages()).length };
  if (command.close !== undefined) {
    await browser.close();
    return { closed: true };
  }
  throw new Error(`unknown command ${JSON.stringify(command)}`);
}

say({ ready: true, pid: browser.pid ?? null });
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  try {
    say(await carryOut(command));
  } catch (error) {
    say({ error: String(error?.message ?? error).slice(0, 400) });
  }
  if (command.close) process.exit(0);
}
