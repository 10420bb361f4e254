// Runs named operations one after the other, each with its own deadline, and counts failures.
// Prints one JSON line per failure and one at the end.

import { once } from 'node:events';
import { createInterface } from 'node:readline';

const OPERATION_MILLISECONDS = 10_000;
const PAUSE_MILLISECONDS = 120_000;

export class OperationRunner {
  constructor(client, random) {
    this.client = client;
    this.random = random;
    this.operations = 0;
    this.failures = [];
    this.foreigners = 0;
    this.started = Date.now();
    process.on('unhandledRejection', (error) => this.fail('unhandled rejection', '-', error));
  }

  /** Runs one operation; an exception or a timeout is a failure with its name. */
  async run(name, context, operation) {
    const number = ++this.operations;
    let timer;
    const deadline = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no end after ${OPERATION_MILLISECONDS} ms`)), OPERATION_MILLISECONDS);
    });
    const work = Promise.resolve().then(operation);
    work.catch(() => {}); // After the deadline the result is ignored.
    try {
      await Promise.race([work, deadline]);
    } catch (error) {
      this.fail(name, context, error, number);
    } finally {
      clearTimeout(timer);
    }
  }

  fail(name, context, error, number = this.operations) {
    const message = String(error?.message ?? error).slice(0, 400);
    const failure = { operation: number, name, context, message };
    this.failures.push(failure);
    console.log(JSON.stringify({ failure }));
  }

  /**
   * Runs at least `count` operations: every one of the list in each context before any comes twice,
   * in random order, and `recheck` after every twentieth. Several clients with the same seed can each start
   * with one `part`, "1/2" and "2/2", so that together they run all operations.
   */
  async runMany({ operations, worlds, count, recheck, pauseAt, part = '1/1' }) {
    const [at, parts] = part.split('/').map(Number);
    const all = worlds.flatMap((world) => operations.map((operation) => ({ operation, world })));
    let round = this.random.shuffled(all).filter((_, index) => index % parts === at - 1);
    while (this.operations < count) {
      if (round.length === 0) {
        round = this.random.shuffled(all);
      }
      const { operation, world } = round.pop();
      await this.run(operation.name, world.kind, () => world.perform(operation));
      if (this.operations % 20 === 19) {
        for (const each of worlds) await this.run('settings still hold', each.kind, () => recheck(each));
      }
      if (pauseAt && this.operations >= pauseAt) {
        pauseAt = 0;
        await this.pause();
      }
    }
  }

  /** Prints a pause line for the parent process, and continues when the parent sends a line. */
  async pause() {
    const lines = createInterface({ input: process.stdin });
    console.log(JSON.stringify({ paused: this.operations }));
    await once(lines, 'line', { signal: AbortSignal.timeout(PAUSE_MILLISECONDS) }).finally(() => lines.close());
  }

  /** Records that a target of another client was seen; it belongs to no operation. */
  foreign(name, context, what) {
    this.foreigners++;
    this.fail(name, context, what, 0);
  }

  /** Prints the score and sets the exit code. */
  finish() {
    const broken = new Set(this.failures.map((failure) => failure.operation).filter((number) => number > 0)).size;
    console.log(JSON.stringify({
      client: this.client,
      operations: this.operations,
      passed: this.operations - broken,
      failed: broken,
      foreign: this.foreigners,
      failures: this.failures,
      milliseconds: Date.now() - this.started,
    }));
    process.exitCode = this.failures.length === 0 ? 0 : 1;
  }
}
