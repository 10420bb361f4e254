// Serves the task pages on a loopback port and records which of them report that they are solved.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const PAGES = fileURLToPath(new URL('./pages/', import.meta.url));
const KINDS = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

export class PageServer {
  #server;
  #task = null;
  #isSolved = false;
  #notify = null;

  static async start() {
    const pages = new PageServer();
    pages.#server = createServer((request, response) => pages.#respond(request, response));
    await new Promise((resolve) => pages.#server.listen(0, '127.0.0.1', resolve));
    return pages;
  }

  /** Starts a task: forgets earlier reports and gives the URL of its page. */
  begin(task) {
    this.#task = task;
    this.#isSolved = false;
    return `http://127.0.0.1:${this.#server.address().port}/${task}.html`;
  }

  async #respond(request, response) {
    const url = new URL(request.url, 'http://127.0.0.1');
    if (url.pathname === '/solved') {
      if (url.searchParams.get('task') === this.#task) {
        this.#isSolved = true;
        this.#notify?.();
      }
      response.writeHead(204).end();
      return;
    }
    if (url.pathname === '/favicon.ico') {
      response.writeHead(204).end();
      return;
    }
    const path = normalize(join(PAGES, url.pathname));
    const body = path.startsWith(PAGES) ? await readFile(path).catch(() => null) : null;
    if (body === null) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': KINDS[extname(path)] ?? 'text/plain', 'cache-control': 'no-store' }).end(body);
  }

  /** Whether the page has reported success, now or within the time. */
  async isSolved(milliseconds) {
    if (this.#isSolved) return true;
    let timer;
    await new Promise((resolve) => {
      this.#notify = resolve;
      timer = setTimeout(resolve, milliseconds);
    });
    clearTimeout(timer);
    this.#notify = null;
    return this.#isSolved;
  }

  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
