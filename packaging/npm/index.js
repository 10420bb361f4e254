// Finds the program of this platform, and gives CDP clients the URL of a session.
'use strict';

const { execFile } = require('node:child_process');
const path = require('node:path');

/** The path of the program. */
function programPath() {
  const name = `@tabwire/${process.platform}-${process.arch}`;
  try {
    return path.join(path.dirname(require.resolve(`${name}/package.json`)), 'bin', 'tabwire');
  } catch {
    throw new Error(`The package ${name} is missing. Install tabwire again without --omit=optional.`);
  }
}

/** The CDP URL of a session, for `connectOverCDP` and `puppeteer.connect`. It is a secret. */
function connect({ session, join = false, http = false } = {}) {
  const options = [...(session ? ['--session', session] : []), '--json', 'cdp-url', ...(join ? ['--join'] : [])];
  return new Promise((resolve, reject) => {
    execFile(programPath(), options, { encoding: 'utf8' }, (error, stdout, stderr) => {
      if (error) {
        reject(new Error(stderr.trim() || stdout.trim() || error.message));
        return;
      }
      const urls = JSON.parse(stdout);
      resolve(http ? urls.http : urls.websocket);
    });
  });
}

module.exports = { connect, programPath };
