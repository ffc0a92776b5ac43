/** The command line for tests: in this process, or several lines in one fresh process. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Io } from '../src/io.ts';
import { run } from '../src/run.ts';

export interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Setting {
  readonly cwd?: string;
  readonly stdin?: string | Readable;
  readonly color?: boolean;
  readonly columns?: number;
}

/** Runs `posenc` with these arguments in this process. */
export async function cli(
  argv: readonly string[],
  { cwd = tmpdir(), stdin = '', color = false, columns }: Setting = {},
): Promise<Result> {
  const written = { out: '', err: '' };
  const output = (to: 'out' | 'err') => ({
    color,
    columns,
    write: (text: string) => {
      written[to] += text;
    },
  });
  const io: Io = {
    stdout: output('out'),
    stderr: output('err'),
    stdin: typeof stdin === 'string' ? Readable.from([Buffer.from(stdin)]) : stdin,
    cwd,
    env: {},
    interrupted: () => new AbortController().signal,
  };
  const code = await run(argv, io);
  return { code, ...written };
}

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Arguments for `node` that start the program from its sources. */
export const program = ['--conditions=posenc-source', file('../src/main.ts')];

/** Runs many command lines, one after another, in one process of plain Node.js: as users do, but with one start. */
export function batch(lines: readonly (readonly string[])[], cwd: string): Result[] {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--conditions=posenc-source', file('./batch.ts')], {
    cwd,
    input: JSON.stringify(lines),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`the batch ended with ${status}:\n${stderr}`);
  return JSON.parse(stdout) as Result[];
}

/** Words of a command line as a shell reads them: blanks separate, single and double quotes join. */
export function words(line: string): string[] {
  return [...line.matchAll(/(?:[^\s'"]+|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  );
}

const made: string[] = [];

/** A new folder with these files. A test file that makes some ends with `afterAll(removeFolders)`. */
export function folder(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const path = mkdtempSync(join(tmpdir(), 'posenc-cli-'));
  made.push(path);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content);
  return path;
}

export function removeFolders(): void {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
}
