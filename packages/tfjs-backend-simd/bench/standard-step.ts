/**
 * How fast the simd backend is, as ratios to others in the same run: rounds alternate between the rivals, each ratio is of
 * one round, and the table shows their median and their spread.
 *
 *     node --conditions=posenc-source bench/standard-step.ts [--threads 2] [--rounds 5] [--without wasm,torch,lengths] [--json file]
 *
 * PyTorch is found as `python3` with torch; ATEN_CPU_CAPABILITY=avx2 MKL_ENABLE_INSTRUCTIONS=AVX2 holds it to AVX2.
 */
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import * as tf from '@tensorflow/tfjs';
import { alibi } from '../../encodings/alibi/src/index.ts';
import { rope } from '../../encodings/rope/src/index.ts';
import { t5 } from '../../encodings/t5/src/index.ts';
import { type SimdBackend, useSimd } from '../src/index.ts';
import { startTorch, useStockWasm } from './rivals.ts';
import { attentionPeak, createDecoding, createStep, standard } from './step.ts';

const { values: options } = parseArgs({
  options: {
    threads: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
    without: { type: 'string', default: '' },
    json: { type: 'string' },
  },
});
const threads = Number(options.threads);
const rounds = Number(options.rounds);
const without = options.without.split(',');

interface Row {
  readonly measure: string;
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
  readonly unit: string;
  readonly mustReach: string;
}
const rows: Row[] = [];
function report(measure: string, values: readonly number[], unit: string, mustReach = ''): void {
  const sorted = values.toSorted((a, b) => a - b);
  const row = { measure, median: median(sorted), lowest: sorted[0]!, highest: sorted.at(-1)!, unit, mustReach };
  rows.push(row);
  const show = (x: number) => (x >= 100 ? x.toFixed(0) : x.toFixed(2));
  const spread = `${show(row.lowest)} – ${show(row.highest)}`;
  console.log(
    `${measure.padEnd(58)} ${show(row.median).padStart(8)} ${unit.padEnd(7)} ${spread.padEnd(18)} ${mustReach}`,
  );
}
function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

async function milliseconds(step: () => unknown, repeat = 1): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < repeat; i++) {
    const start = performance.now();
    await step();
    times.push(performance.now() - start);
  }
  return median(times);
}

async function inRounds(sides: readonly (() => Promise<number>)[]): Promise<number[][]> {
  for (const side of sides) await side(); // Warm.
  const seen: number[][] = [];
  for (let round = 0; round < rounds; round++) {
    const times: number[] = [];
    for (const side of sides) times.push(await side());
    seen.push(times);
  }
  return seen;
}

Object.assign(tf.findBackend('cpu'), { firstUse: false }); // No advertisement from the cpu backend.
const torch = without.includes('torch') ? undefined : await startTorch();
const cpu = cpus()[0]!.model.trim();
const load = () => loadavg()[0]!.toFixed(1);
console.log(
  `${cpu}, ${cpus().length} cores, load ${load()}; Node ${process.version}; ${torch?.description ?? 'no PyTorch'}\n`,
);
console.log(`${'measure'.padEnd(58)} ${'median'.padStart(8)} ${''.padEnd(7)} ${'spread'.padEnd(18)} must reach`);

// One thread: the matrix product.
await useSimd({ threads: 1 });
const [a, b] = [tf.randomNormal([512, 512]), tf.randomNormal([512, 512])] as [tf.Tensor2D, tf.Tensor2D];
const gflops = (ms: number) => (2 * 512 ** 3) / ms / 1e6;
const product = () => milliseconds(() => tf.dispose(tf.matMul(a, b)), 20);
const products = await inRounds([
  product,
  ...(torch ? [async () => median(await torch.time({ matmul: 512 }, 1, 20))] : []),
]);
report(
  'matmul 512³, one thread',
  products.map(([ours]) => gflops(ours!)),
  'GFLOPS',
);
if (torch)
  report(
    '  over PyTorch',
    products.map(([ours, theirs]) => theirs! / ours!),
    '×',
    '≥ 0.9 (AVX2)',
  );
tf.dispose([a, b]);

// The standard step.
const { variant } = await useSimd({ threads });
const ours = createStep();
const simd = async () => {
  await useSimd({ threads });
  return milliseconds(ours.step, 3);
};
const { batchSize: batch, length, numLayers: layers } = standard;
const steps = await inRounds([
  simd,
  ...(torch ? [async () => median(await torch.time({ batch, length, layers }, threads, 3))] : []),
]);
report(
  `standard step, ${threads} threads, ${variant} SIMD`,
  steps.map(([ms]) => ms!),
  'ms',
);
if (torch)
  report(
    '  its time over PyTorch’s, same threads',
    steps.map(([ms, theirs]) => ms! / theirs!),
    '×',
    '≤ 1.25',
  );
if (!without.includes('wasm')) {
  await useStockWasm();
  const stock = createStep();
  const wasm = async () => {
    await useStockWasm();
    return milliseconds(stock.step);
  };
  const pairs: number[] = [];
  await wasm();
  for (let round = 0; round < Math.min(3, rounds); round++) pairs.push((await wasm()) / (await simd()));
  report('  faster than stock tfjs-wasm', pairs, '×', '≥ 20');
  stock.dispose();
}
await useSimd({ threads });
ours.dispose();

// Encodings against none.
if (!without.includes('lengths')) {
  for (const T of [1024, 2048]) {
    const sizes = { batchSize: 2048 / T, length: T, numLayers: 4 };
    const builds = {
      NoPE: createStep(sizes),
      T5: createStep(sizes, (dims) => t5.create({ numBuckets: 32, maxDistance: 128, perLayer: false }, dims)),
      ALiBi: createStep(sizes, (dims) => alibi.create(alibi.config.parse({}), dims)),
      RoPE: createStep(sizes, (dims) => rope.create(rope.config.parse({}), dims)),
    };
    const seen = await inRounds(
      Object.values(builds).map(
        ({ step }) =>
          () =>
            milliseconds(step),
      ),
    );
    for (const [i, name] of Object.keys(builds).entries())
      if (i > 0)
        report(
          `${name} over NoPE, step at T = ${T}`,
          seen.map((times) => times[i]! / times[0]!),
          '×',
          '≤ 1.15',
        );
    for (const { dispose } of Object.values(builds)) dispose();
  }
  const peak = (T: number) => attentionPeak(tf.backend() as SimdBackend, T);
  report('attention’s memory as T doubles (2048 to 4096)', [peak(4096) / peak(2048)], '×', 'doubles');
  const decoding = { short: createDecoding(512), long: createDecoding(2048) };
  const ratios = await inRounds([
    async () => (await milliseconds(decoding.short.full)) / (await milliseconds(decoding.short.cached, 10)),
    async () => (await milliseconds(decoding.long.full)) / (await milliseconds(decoding.long.cached, 10)),
  ]);
  report(
    'cached decoding over recomputing: T = 2048 against 512',
    ratios.map(([short, long]) => long! / short!),
    '×',
    '≥ 3.5',
  );
}
torch?.stop();
console.log(`\nload at the end: ${load()}`);
if (options.json) {
  const machine = { cpu, cores: cpus().length, node: process.version, torch: torch?.description };
  writeFileSync(options.json, `${JSON.stringify({ machine, threads, variant, load: loadavg()[0], rows }, null, 2)}\n`);
}
