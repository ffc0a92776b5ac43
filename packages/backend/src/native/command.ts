/** Programs that an installation runs: their temporary files and caches stay inside its folder, their output in its log. */
import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from './system.ts';

export interface Workshop {
  /** The installation's folder. */
  readonly folder: string;
  /** Of this attempt alone, inside it: an orphan of an attempt that was killed writes into a folder nobody reads. */
  readonly work: string;
  readonly env: Env;
  readonly signal: AbortSignal | undefined;
}

export class CommandFailed extends Error {}

/** Runs a program to its end in the attempt's folder. Rejects with the last of what it said. */
export function runCommand(shop: Workshop, program: string, args: readonly string[]): Promise<void> {
  const temporary = join(shop.work, 'tmp');
  mkdirSync(temporary, { recursive: true });
  const env = {
    ...shop.env,
    TMPDIR: temporary,
    TMP: temporary,
    TEMP: temporary,
    PYTHONDONTWRITEBYTECODE: '1',
    npm_config_devdir: join(shop.folder, 'cache', 'node-gyp'),
  };
  const log = (text: string) => appendFileSync(join(shop.folder, 'install.log'), text);
  log(`$ ${[program, ...args].join(' ')}\n`);
  return new Promise((done, fail) => {
    const child = spawn(program, args, { cwd: shop.work, env, stdio: ['ignore', 'pipe', 'pipe'], signal: shop.signal });
    let tail = '';
    const hear = (chunk: Buffer) => {
      log(String(chunk));
      tail = (tail + String(chunk)).slice(-6000);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('error', fail);
    child.on('close', (code, killedBy) => {
      if (code === 0) done();
      else fail(new CommandFailed(killedBy ? `ended by ${killedBy}` : reasonIn(tail)));
    });
  });
}

/** The line that says why: programs put it first, last or in the middle. */
function reasonIn(output: string): string {
  const lines = output.split('\n').map((line) => line.replace(/^npm (error|ERR!) ?/, '').trim());
  const reason =
    lines.find((line) => /\b(ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENOSPC|EACCES)\b/.test(line)) ??
    lines.find((line) => /\berror\b/i.test(line)) ??
    lines.findLast(Boolean);
  return (reason ?? 'it said nothing').slice(0, 300);
}
