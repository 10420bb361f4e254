// Runs programs to their end and counts what a model has to read of them.

import { spawn } from 'node:child_process';

/** No command of a tool takes longer than this. */
const LONGEST = 60_000;

/** Runs a program and gives its exit code and everything it printed. */
export function run(program, args, options) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    child.stdout.on('data', (data) => { text += data; });
    child.stderr.on('data', (data) => { text += data; });
    const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST);
    child.on('error', (error) => resolve({ code: -1, text: String(error) }));
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? -1, text: text.trim() });
    });
  });
}

/** The calls of one task and the bytes of their output. */
export class Meter {
  calls = 0;
  bytes = 0;
  transcript = [];

  count(command, output) {
    this.calls += 1;
    this.bytes += Buffer.byteLength(output);
    this.transcript.push(`$ ${command}\n${output}`);
  }
}

/** A command line as it would be typed. */
export function shown(program, args) {
  return [program, ...args.map((arg) => (/^[\w@./:,=+-]+$/.test(arg) ? arg : `'${arg}'`))].join(' ');
}
