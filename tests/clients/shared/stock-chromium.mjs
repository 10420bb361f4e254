// Starts a stock Chromium with a fresh profile and a debugging port, and ends it again.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const START_MILLISECONDS = 20_000;
const FLAGS = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync', '--remote-debugging-port=0'];

/** Waits for the first line that matches, or fails at the deadline. */
export function firstLine(stream, pattern) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the program did not start in time')), START_MILLISECONDS);
    createInterface({ input: stream }).on('line', (line) => {
      const match = pattern.exec(line);
      if (match) { clearTimeout(timer); resolve(match[1]); }
    });
  });
}

export async function startStockChromium(program = process.env.CHROMIUM ?? '/usr/bin/chromium') {
  const profile = await mkdtemp(join(tmpdir(), 'stock-chromium-'));
  const child = spawn(program, [...FLAGS, `--user-data-dir=${profile}`, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const endpoint = await firstLine(child.stderr, /DevTools listening on (ws:\S+)/);
  return {
    endpoint,
    async stop() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(timer);
      await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}
