/** Opens a page of ours in headless Chromium and waits for what it reports. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** CHROMIUM, or where Linux distributions put it; undefined: none here. */
export const chromium = [process.env.CHROMIUM, ...places].find((path) => path && existsSync(path));

const flags = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-dev-shm-usage'],
];

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
};

export interface PageRequest {
  /** What is served. */
  readonly folder: string;
  /** Handed to the page in its address. */
  readonly options: object;
  /** Whether the server's headers isolate the page from other origins. */
  readonly isolated: boolean;
}

/** What the page sends to /result. Rejects when Chromium ends before that, or says nothing for two minutes. */
export async function visit({ folder, options, isolated }: PageRequest): Promise<unknown> {
  const profile = mkdtempSync(join(tmpdir(), 'chromium-'));
  const { server, result } = serve(folder, isolated);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const address = `http://127.0.0.1:${port}/index.html?${encodeURIComponent(JSON.stringify(options))}`;
  const browser = spawn(chromium!, [...flags, `--user-data-dir=${profile}`, address], { detached: true });
  try {
    return await Promise.race([result, death(browser)]);
  } finally {
    await end(browser);
    server.closeAllConnections();
    server.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

function serve(folder: string, isolated: boolean): { server: Server; result: Promise<unknown> } {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const isolation = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url!, 'http://127.0.0.1');
    if (request.method === 'POST') {
      response.end();
      resolve(JSON.parse(await textOf(request)));
      return;
    }
    const file = join(folder, pathname);
    if (!existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'Content-Type': types[extname(file)]!, ...(isolated ? isolation : {}) });
    response.end(readFileSync(file));
  });
  return { server, result: promise };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

function death(browser: ChildProcess): Promise<never> {
  let said = '';
  browser.stderr!.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  return new Promise((_, reject) => {
    browser.on('error', reject);
    browser.on('exit', (code) => reject(new Error(`Chromium ended with ${code}:\n${said}`)));
    setTimeout(() => reject(new Error(`Chromium reported nothing in two minutes:\n${said}`)), 120_000).unref();
  });
}

/** Ends the browser and the processes that it started: a group of its own. */
async function end(browser: ChildProcess): Promise<void> {
  if (browser.exitCode !== null || browser.pid === undefined) return;
  const gone = new Promise((resolve) => browser.once('exit', resolve));
  process.kill(-browser.pid, 'SIGKILL');
  await gone;
}
