/**
 * A file that one process on a machine holds at a time. It appears with its holder's name in it, all at once, and is left behind
 * by a process that was killed: then the next one takes it away. Only one process may do so at a time, because between reading
 * a dead holder's name and removing the file another could have put its own there.
 */
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** Who holds a file. */
export interface Holder {
  readonly pid: number;
  readonly host: string;
}

/** The function that gives the file back, or who holds it. */
export type Hold = { readonly release: () => void } | { readonly holder: Holder };

/** Held by this process; a file with our number that is not among them was left by another process of that number. */
const held = new Set<string>();

/** Milliseconds. */
const pause = 20;

/**
 * Takes the file, waiting for at most `patience` milliseconds while a living process has it. Errors of the file system are
 * thrown as they are.
 */
export function holdFile(path: string, patience = 0): Hold {
  for (let waited = 0; ; ) {
    if (create(path)) {
      held.add(path);
      return { release: () => giveBack(path) };
    }
    const holder = readHolder(path);
    if (holder === 'nobody') continue;
    if (holder !== 'unknown' && isAlive(holder, path)) {
      // A process of another machine cannot be asked, and this one does not wait for itself.
      if (holder.host !== hostname() || holder.pid === process.pid || waited >= patience) return { holder };
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause);
      waited += pause;
    } else {
      const taking = holdFile(`${path}.takeover`, 3000);
      if ('holder' in taking) return taking;
      const still = readHolder(path);
      if (still === 'unknown' || (still !== 'nobody' && !isAlive(still, path))) rmSync(path, { force: true });
      taking.release();
    }
  }
}

function giveBack(path: string): void {
  held.delete(path);
  rmSync(path, { force: true });
}

let drafts = 0;

/** Whether the file was not there and is now, whole. */
function create(path: string): boolean {
  const text = JSON.stringify({ pid: process.pid, host: hostname() } satisfies Holder);
  const draft = `${path}.${process.pid}-${drafts++}`;
  try {
    writeFileSync(draft, text);
    linkSync(draft, path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code!)) throw error;
    return createWithoutLinks(path, text);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** On a file system without hard links, where the file is empty for a moment. */
function createWithoutLinks(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

function readHolder(path: string): Holder | 'nobody' | 'unknown' {
  try {
    const { pid, host } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Holder>;
    return Number.isInteger(pid) && pid! > 0 && typeof host === 'string' ? { pid: pid!, host } : 'unknown';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'nobody';
    if (code !== undefined) throw error;
    return 'unknown'; // damaged: whoever wrote it cannot be at work
  }
}

function isAlive({ pid, host }: Holder, path: string): boolean {
  if (host !== hostname()) return true;
  if (pid === process.pid) return held.has(path);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
