/** A tiny suite: a trial takes a second on the cpu backend. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { parseSuite, type Suite } from '../src/index.ts';
import { environment } from './environment.ts';

export { environment };

export const suiteJson = {
  name: 'tiny',
  task: { type: 'babble' },
  model: { modelDim: 16, numLayers: 2, numHeads: 2 },
  training: { length: 12, batchSize: 4, steps: 12, learningRate: 0.02 },
  evaluation: { multiples: [1, 2], windows: 6 },
  seeds: [1, 2],
  encodings: [
    { encoding: { type: 'nope' } },
    {
      name: 'RoPE',
      encoding: { type: 'rope' },
      evaluate: [{ name: 'RoPE + PI', encoding: { type: 'rope', scaling: { type: 'linear', factor: 'auto' } } }],
    },
    { encoding: { type: 'learned', numPositions: 12 } },
  ],
};

export const suite = (changes: object = {}): Suite => parseSuite({ ...suiteJson, ...changes }, 'suite.json', '/');

export const task = () => environment.tasks.create(suiteJson.task);

/** A fresh folder, removed after the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'posenc training '));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
