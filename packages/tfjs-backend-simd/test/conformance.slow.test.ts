/** tfjs-core's own tests against this backend: all of them, whatever its other backends leave out. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { exclusions, switchedOff } from './conformance-exclusions.ts';

interface Outcome {
  /** What went wrong outside a test. */
  readonly suites: readonly string[];
  readonly specs: readonly { readonly name: string; readonly status: string; readonly messages: readonly string[] }[];
}

async function run(variant: string, threads: number): Promise<Outcome> {
  const program = fileURLToPath(new URL('./programs/conformance.ts', import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  try {
    const results = join(folder, 'results.json');
    const env = { ...process.env, POSENC_THREADS: String(threads) };
    const args = ['--conditions=posenc-source', program, variant, results];
    await promisify(execFile)(process.execPath, args, { env, maxBuffer: 2 ** 26 });
    return JSON.parse(readFileSync(results, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test.each([
  ['relaxed', 1],
  ['relaxed', 2],
  ['plain', 1],
  ['plain', 2],
] as const)('%s, %i threads', async (variant, threads) => {
  const { suites, specs } = await run(variant, threads);
  const named = (status: string) => specs.filter((spec) => spec.status === status);
  const excluded = (name: string) => exclusions.some((exclusion) => name.includes(exclusion.name));
  const failed = named('failed');
  expect(suites).toEqual([]);
  expect(failed.filter(({ name }) => !excluded(name))).toEqual([]);
  expect(exclusions.filter((exclusion) => !failed.some(({ name }) => name.includes(exclusion.name)))).toEqual([]);
  expect(named('pending').map(({ name }) => name)).toEqual(switchedOff);
  expect(named('passed').length).toBeGreaterThan(4200);
});
