// Runs the task bench: every task with every tool, then a table or JSON of success, calls and bytes.
//
// node benches/tasks/run.mjs --tabwire target/debug/tabwire [--tool NAME]... [--json] [--transcripts] [FILTER]...

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { existsSync, readdirSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { Agent, Stuck } from './agent/agent.mjs';
import { AgentBrowser } from './drivers/agent_browser.mjs';
import { PlaywrightMcp } from './drivers/playwright_mcp.mjs';
import { Tabwire } from './drivers/tabwire.mjs';
import { TabwireExecute } from './drivers/tabwire_execute.mjs';
import { printTable } from './report.mjs';
import { TASKS } from './scripts/index.mjs';
import { PageServer } from './server.mjs';

/** How long a page may take to report success after the last call. */
const REPORT_TIME = 2_000;
/** No task takes longer than this. */
const TASK_TIME = 120_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tabwire: { type: 'string', default: 'target/debug/tabwire' },
    browser: { type: 'string', default: '/usr/bin/chromium' },
    tool: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    transcripts: { type: 'boolean', default: false },
  },
});

/** The tools that are installed, each with a directory of its own. */
async function findDrivers() {
  const modules = fileURLToPath(new URL('../peers/node_modules', import.meta.url));
  const { browser } = values;
  const drivers = [];
  const add = async (name, make) => {
    if (values.tool && !values.tool.includes(name)) return;
    const directory = await mkdtemp(join(tmpdir(), 'tabwire-tasks-'));
    await writeFile(join(directory, 'report.txt'), 'Quarterly report\n');
    drivers.push(Object.assign(make(directory), { directory }));
  };
  const program = join(process.cwd(), values.tabwire);
  const tabwire = values.tabwire.startsWith('/') ? values.tabwire : program;
  await add('tabwire', (directory) => new Tabwire({ program: tabwire, directory }));
  await add('tabwire execute', (directory) => new TabwireExecute({ program: tabwire, directory }));
  const peer = findAgentBrowser(join(modules, 'agent-browser/bin'));
  if (peer) {
    await add('agent-browser', (directory) => new AgentBrowser({ program: peer, directory, browser, interactive: false }));
    await add('agent-browser -i', (directory) => new AgentBrowser({ program: peer, directory, browser, interactive: true }));
  }
  const script = join(modules, '@playwright/mcp/cli.js');
  if (existsSync(script)) await add('playwright-mcp', (directory) => new PlaywrightMcp({ script, directory, browser }));
  return drivers;
}

function findAgentBrowser(folder) {
  const arch = process.arch === 'arm64' ? 'arm64' : 'x64';
  const name = existsSync(folder) && readdirSync(folder).find((each) => each === `agent-browser-${process.platform}-${arch}`);
  if (!name) return null;
  // `npm ci --ignore-scripts` leaves the program without its permission.
  chmodSync(join(folder, name), 0o755);
  return join(folder, name);
}

async function runTask(task, driver, server) {
  await driver.reset();
  const agent = new Agent(driver);
  const url = server.begin(task.name);
  let reason = '';
  try {
    const tooLong = new Promise((_, reject) => {
      setTimeout(() => reject(new Stuck('took too long')), TASK_TIME).unref();
    });
    // A driver may keep actions without a look.
    await Promise.race([agent.open(url).then(() => task.run(agent)).then(() => driver.flush?.()), tooLong]);
  } catch (error) {
    reason = error instanceof Stuck ? error.message : error.stack;
  }
  const solved = await server.isSolved(REPORT_TIME);
  const { calls, bytes, transcript } = driver.meter;
  const { textTargets } = agent;
  reason ||= solved ? '' : 'the page does not report success';
  return { task: task.name, tool: driver.name, solved, calls, bytes, textTargets, reason, transcript };
}

async function main() {
  const tasks = TASKS.filter(({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)));
  const server = await PageServer.start();
  const drivers = await findDrivers();
  const results = [];
  const running = new Set();
  const stopAll = async () => {
    for (const driver of running) await driver.stop().catch(() => {});
    for (const driver of drivers) await rm(driver.directory, { recursive: true, force: true }).catch(() => {});
    server.stop();
  };
  // A reader that stops early, such as `head`, must not keep the tools from being ended.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => stopAll().then(() => process.exit(1)));
  try {
    for (const driver of drivers) {
      running.add(driver);
      await driver.start();
      for (const task of tasks) {
        const result = await runTask(task, driver, server);
        results.push(result);
        process.stderr.write(`${driver.name}: ${task.name}: ${result.solved ? 'solved' : `FAILED (${result.reason})`}, ${result.calls} calls, ${result.bytes} bytes\n`);
        if (values.transcripts || (!result.solved && !values.json)) process.stderr.write(`${result.transcript.join('\n')}\n`);
      }
      await driver.stop();
      running.delete(driver);
    }
  } finally {
    await stopAll();
  }
  if (values.json) console.log(JSON.stringify(results, null, 1));
  printTable(results, values.json ? console.error : console.log);
}

await main();
