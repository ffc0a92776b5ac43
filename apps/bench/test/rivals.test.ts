/** Every rival trains the very model of the standard step: same weights, same batch, same losses; or the benchmark says what is wrong. */
import { spawnSync } from 'node:child_process';
import {
  type Contender,
  measureProducts,
  measureStandardStep,
  nodeModule,
  quickSizes,
  type StepOptions,
} from 'posenc/bench';
import { describe, expect, it } from 'vitest';
import { products, rivals } from '../src/rivals.ts';

const options: StepOptions = {
  sizes: { ...quickSizes, modelDim: 32, mlpDim: 64, batch: 2, length: 16 },
  rounds: 1,
  watch: { rest: async () => {}, loadBefore: [], otherCores: () => ({ median: 0, min: 0, max: 0, n: 1 }) },
  signal: new AbortController().signal,
  onProgress() {},
};
const once = (contender: Contender) => ({ contender, threads: 1 });
const wasm: Contender = {
  name: 'wasm',
  kind: 'ours',
  threaded: false,
  start: (folder) => nodeModule(new URL('../../cli/src/bench/step-child.ts', import.meta.url), [folder, 'wasm']),
};
const hasTorch = spawnSync('python3', ['-c', 'import torch']).status === 0;

const talking = (name: string, lines: readonly unknown[], more: Partial<Contender> = {}): Contender => ({
  name,
  kind: 'rival',
  threaded: false,
  start: () => ({
    command: process.execPath,
    args: [
      '-e',
      `const lines = ${JSON.stringify(lines)};
       console.log(JSON.stringify(lines.shift()));
       require('node:readline').createInterface({ input: process.stdin }).on('line', () => console.log(JSON.stringify(lines.shift())));`,
    ],
  }),
  ...more,
});

describe('the standard step', () => {
  it('is the same in posenc and in every rival', async () => {
    const { contenders, parameters } = await measureStandardStep([wasm, ...rivals].map(once), options);
    expect(contenders.map(({ name }) => name).sort()).toEqual([wasm, ...rivals].map(({ name }) => name).sort());
    const measured = contenders.filter((c) => c.status === 'measured');
    expect(measured).toHaveLength(hasTorch ? 5 : 4);
    const ours = measured.find(({ name }) => name === 'wasm')!;
    // 64·32 embeddings; per layer 4·(32·32 + 32), 2·32·64 + 64 + 32 and two norms; the last norm.
    expect(parameters).toBe(64 * 32 + 2 * (4 * (32 * 32 + 32) + 2 * 32 * 64 + 64 + 32 + 4 * 32) + 2 * 32);
    for (const { name, losses } of measured) {
      expect(losses).toHaveLength(5);
      expect(Math.abs(losses[0]! - Math.log(64)), name).toBeLessThan(0.2);
      expect(losses.at(-1)!, name).toBeLessThan(losses[0]! - 0.1);
      losses.forEach((loss, i) => {
        expect(Math.abs(loss - ours.losses[i]!), `${name}, loss ${i + 1}`).toBeLessThan(1e-4);
      });
    }
  });

  const measure = (rival: Contender) => measureStandardStep([wasm, rival].map(once), options);
  const ready = { version: '1', variant: '', threads: 1, parameters: 19200 };
  const steps = (losses: readonly number[]) => losses.map((loss) => ({ values: [loss], seconds: [0.01] }));

  it('refuses another model, another start, another optimiser', async () => {
    await expect(measure(talking('wide', [{ ...ready, parameters: 7 }]))).rejects.toThrow(/wide has 7 parameters/);
    await expect(measure(talking('confident', [ready, ...steps([2, 1, 1, 1, 1])]))).rejects.toThrow(
      /confident does not take the standard step: its first loss is 2/,
    );
    await expect(measure(talking('other', [ready, ...steps([4.1, 4, 3.9, 3.8, 3.7])]))).rejects.toThrow(
      /loss 1 is 4\.1/,
    );
    await expect(measure(talking('lost', [ready, ...steps([Number.NaN, 1, 1, 1, 1])]))).rejects.toThrow(/first loss/);
  });

  it('fails when a rival that must be there is absent, and says how to get it', async () => {
    const gone: Contender = {
      ...talking('jax', []),
      getIt: 'npm run setup installs it.',
      start: () => ({ command: process.execPath, args: ['--input-type=module', '-e', "import '@jax-js/none'"] }),
    };
    await expect(measure(gone)).rejects.toThrow(/^jax did not start: .*Cannot find package[^\n]*\n {2}npm run setup/);
  });

  it('goes on without one that may be absent, and keeps why', async () => {
    const message = 'python3 cannot import torch';
    for (const rival of [
      talking('PyTorch', [{ absent: message }]),
      { ...talking('PyTorch', []), start: () => ({ command: 'no-such-python', args: [] }) },
    ]) {
      const { contenders } = await measure(rival);
      expect(contenders[1]).toMatchObject({ status: 'absent', reason: expect.stringMatching(/torch|no-such-python/) });
    }
  });
});

describe('the matrix product', () => {
  const ours: Contender = {
    ...wasm,
    start: (size) => nodeModule(new URL('../../cli/src/bench/product-child.ts', import.meta.url), [size, 'wasm']),
  };
  const measure = (others: readonly Contender[]) =>
    measureProducts([ours, ...others].map(once), { ...options, size: 24 });

  it('is the same in posenc and in PyTorch, as it is and held to AVX2', async () => {
    const { contenders } = await measure(products);
    const measured = contenders.flatMap((c) => (c.status === 'measured' ? [c] : []));
    expect(measured.map(({ name }) => name).sort()).toEqual(
      [ours, ...(hasTorch ? products : [])].map(({ name }) => name).sort(),
    );
    for (const { gflops, rounds } of measured) expect(gflops.median).toBeCloseTo((2 * 24 ** 3) / rounds[0]! / 1e9);
    const capability = (name: string) => measured.find((c) => c.name === name)?.variant;
    if (hasTorch) expect(capability('PyTorch CPU, AVX2')).toMatch(/^(AVX2|DEFAULT)$/);
    else expect(contenders.filter((c) => c.status === 'absent')).toHaveLength(products.length);
  });

  it('is no other', async () => {
    const answers = { values: Array(5).fill(3), seconds: Array(5).fill(0.01) };
    const other = talking('other', [{ version: '1', variant: '', threads: 1 }, answers]);
    await expect(measure([other])).rejects.toThrow(/^other computes another product: 3, not /);
    const failing = talking('failing', [{ version: '1', variant: '', threads: 1 }, { failed: 'no memory' }]);
    await expect(measure([failing])).rejects.toThrow(/^failing: no memory$/);
  });
});
