/** The parent's side of the protocol: a process that is asked for one thing at a time and answers in lines of JSON. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface Child {
  /** The next line the process prints. Rejects with ChildEnded when it ends instead. */
  receive(): Promise<unknown>;
  send(message: unknown): void;
  /** Closes its standard input, which ends it; kills it when that does not. */
  stop(): Promise<void>;
}

/** The process ended before it answered. */
export class ChildEnded extends Error {
  override readonly name = 'ChildEnded';
}

/** A program to start, in words rather than one line. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const patience = 2000;

/** Starts a process. `signal` kills it, and `receive` then rejects. */
export function startChild({ command, args, env }: Command, signal: AbortSignal): Child {
  const child = spawn(command, [...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    signal,
    killSignal: 'SIGKILL',
  });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors = (errors + chunk).slice(-4000);
  });
  const waiting: { done: (message: unknown) => void; fail: (error: Error) => void }[] = [];
  const arrived: unknown[] = [];
  let ended: Error | undefined;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message: unknown = JSON.parse(line);
    const next = waiting.shift();
    if (next) next.done(message);
    else arrived.push(message);
  });
  const end = (why: string) => {
    ended ??= new ChildEnded(`${why}${errors.trim() ? `:\n${errors.trim()}` : ''}`);
    for (const { fail } of waiting.splice(0)) fail(ended);
  };
  const closed = new Promise<void>((done) => {
    child.once('error', (error) => {
      end(`${command} could not be started (${error.message})`);
      done();
    });
    child.once('close', (code, killedBy) => {
      end(`the process ended ${killedBy ? `by ${killedBy}` : `with code ${code}`}`);
      done();
    });
  });
  child.stdin.on('error', () => {}); // it has ended, and `close` says so

  return {
    send: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    receive: () =>
      new Promise((done, fail) => {
        if (arrived.length) done(arrived.shift());
        else if (ended) fail(ended);
        else waiting.push({ done, fail });
      }),
    async stop() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), patience);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** A module beside this file, with the conditions this process runs under: .ts from the sources, .js from the published package. */
export function nodeModule(module: URL, args: readonly string[], env?: Command['env']): Command {
  const path = module.pathname.replace(/\.[jt]s$/, import.meta.url.endsWith('.ts') ? '.ts' : '.js');
  return { command: process.execPath, args: [...process.execArgv, decodeURIComponent(path), ...args], env };
}
