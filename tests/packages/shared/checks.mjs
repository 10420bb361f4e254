// What the suites of packages share: their arguments, checks and deadlines.

import { isDeepStrictEqual } from 'node:util';

const STEP_MILLISECONDS = 30_000;

/** Reads `--name value` arguments: these are required, and others have defaults. */
export function readArguments(names, defaults = {}) {
  const words = process.argv.slice(2);
  const read = (name) => words[words.indexOf(`--${name}`) + 1];
  for (const name of names) if (!words.includes(`--${name}`)) throw new Error(`--${name} is required`);
  const given = [...names, ...Object.keys(defaults)].filter((name) => words.includes(`--${name}`));
  return { ...defaults, ...Object.fromEntries(given.map((name) => [name, read(name)])) };
}

/** Fails when a step has not ended at the deadline. */
export function within(step, promise) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`${step}: no end`)), STEP_MILLISECONDS); });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export class Checks {
  constructor() {
    this.count = 0;
    this.failures = [];
  }

  equal(name, found, expected) {
    this.count += 1;
    if (!isDeepStrictEqual(found, expected)) this.failures.push({ name, found, expected });
  }

  fail(name, error) {
    this.failures.push({ name, error: String(error?.stack ?? error).slice(0, 1500) });
  }

  print() {
    console.log(JSON.stringify({ checks: this.count, failures: this.failures }));
  }
}
