/** A tiny suite on a text of its own, and the CLI run in this process or in one that can be killed. */
import { spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { run } from '../src/run.ts';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `posenc` with these arguments in a folder. */
export async function posenc(cwd: string, ...argv: string[]): Promise<Outcome> {
  const text = { stdout: '', stderr: '' };
  const output = (name: keyof typeof text) => ({
    color: false,
    write: (chunk: string) => {
      text[name] += chunk;
    },
  });
  const code = await run(argv, {
    stdout: output('stdout'),
    stderr: output('stderr'),
    stdin: Readable.from([]),
    cwd,
    env: {},
    interrupted: () => new AbortController().signal,
  });
  return { code, ...text };
}

/** The same in a process of its own, in its own group. */
export function posencProcess(cwd: string, ...argv: string[]) {
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  return spawn(process.execPath, ['--conditions=posenc-source', main, ...argv], {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

export const suite = {
  name: 'tiny',
  task: { type: 'text', file: 'verse.txt' },
  model: { modelDim: 16, numLayers: 1, numHeads: 2 },
  training: { length: 16, batchSize: 4, steps: 12, learningRate: 0.01 },
  evaluation: { multiples: [1, 2], windows: 4 },
  seeds: [1],
  encodings: [
    { encoding: { type: 'nope' } },
    {
      name: 'RoPE',
      encoding: { type: 'rope' },
      evaluate: [{ name: 'RoPE + PI', encoding: { type: 'rope', scaling: { type: 'linear', factor: 'auto' } } }],
    },
  ],
};

/** A fresh folder (with a space in its name) that holds suite.json and its text; removed after the test. */
export function suiteFolder(changes: object = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'posenc cli ')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(
    join(folder, 'verse.txt'),
    'shall i compare thee to a summers day thou art more lovely and more temperate\n'.repeat(30),
  );
  writeFileSync(join(folder, 'suite.json'), JSON.stringify({ ...suite, ...changes }));
  return folder;
}
