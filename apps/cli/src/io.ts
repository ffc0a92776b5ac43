/** What a command may touch of the world outside, so that tests can run one without a process of its own. */
import type { Readable } from 'node:stream';
import type { WriteStream } from 'node:tty';

/** A stream that text goes to. */
export interface Output {
  write(text: string): unknown;
  /** Width in characters; undefined when it is not a terminal. */
  readonly columns?: number;
  /** Height in lines; undefined when it is not a terminal. */
  readonly rows?: number;
  /** Colours are wanted and shown. */
  readonly color: boolean;
}

/** All that a command may touch of the world outside. */
export interface Io {
  /** Results only: with --json, one JSON document and nothing else. */
  readonly stdout: Output;
  /** Everything else: progress, notes, errors. */
  readonly stderr: Output;
  readonly stdin: Readable;
  /** Relative paths start here. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Aborts at the first Ctrl-C, and makes the second one end the process. Until a command asks for it, the first one does:
   * a command that cannot stop half-way has nothing to tidy up.
   */
  interrupted(): AbortSignal;
}

/** The real process. */
export function processIo(): Io {
  const env = process.env;
  const controller = new AbortController();
  let listening = false;
  return {
    stdout: outputOf(process.stdout, env),
    stderr: outputOf(process.stderr, env),
    stdin: process.stdin,
    cwd: process.cwd(),
    env,
    interrupted() {
      if (!listening)
        process.on('SIGINT', () => {
          if (controller.signal.aborted) process.exit(130);
          controller.abort();
        });
      listening = true;
      return controller.signal;
    },
  };
}

function outputOf(stream: WriteStream, env: Io['env']): Output {
  return {
    write: (text) => stream.write(text),
    columns: stream.isTTY ? stream.columns : undefined,
    get rows() {
      return stream.isTTY ? stream.rows : undefined;
    },
    color: wantsColor(env, stream.isTTY),
  };
}

/** https://no-color.org and Node's FORCE_COLOR: NO_COLOR wins, then FORCE_COLOR, then whether it is a terminal. */
export function wantsColor(env: Io['env'], isTerminal: boolean): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return isTerminal && env.TERM !== 'dumb';
}
