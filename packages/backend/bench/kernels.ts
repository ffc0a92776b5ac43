/**
 * Stock wasm kernels against ours: minimum of repeated short runs, in one process, so only the ratio means something.
 *
 *     node --conditions=posenc-source bench/kernels.ts [name part]
 */
import * as tf from '@tensorflow/tfjs';
import '@tensorflow/tfjs-backend-wasm';
import { installKernels, restoreStockKernels } from '../src/wasm/install.ts';
import { trainStep } from './step.ts';

await tf.setBackend('wasm');

interface Case {
  readonly name: string;
  readonly run: () => tf.TensorContainer;
  readonly flops?: number;
}

const random = (...shape: number[]) => tf.randomUniform(shape, -1, 1);

function matMul(note: string, a: number[], b: number[], transposeA = false, transposeB = false): Case {
  const [A, B] = [random(...a), random(...b)];
  const [M, K] = transposeA ? [a.at(-1)!, a.at(-2)!] : [a.at(-2)!, a.at(-1)!];
  const N = (transposeB ? b.at(-2) : b.at(-1))!;
  const batch = Math.max(...[a, b].map((shape) => tf.util.sizeFromShape(shape.slice(0, -2))));
  const op = (shape: number[], transposed: boolean) => `[${shape}]${transposed ? 'ᵀ' : ''}`;
  return {
    name: `matMul ${op(a, transposeA)}·${op(b, transposeB)} ${note}`,
    // A new right operand each time, as in training: one used before would be multiplied from its packed copy.
    run: () => tf.matMul(A, tf.add(B, 0), transposeA, transposeB),
    flops: 2 * batch * M * K * N,
  };
}

function op(name: string, f: (...x: tf.Tensor[]) => tf.TensorContainer, ...shapes: number[][]): Case {
  const inputs = shapes.map((shape) => random(...shape));
  return { name: `${name} ${shapes.map((shape) => `[${shape}]`).join(' ')}`, run: () => f(...inputs) };
}

const ids = tf.tensor1d(
  Array.from({ length: 1024 }, (_, i) => (i * 37) % 65),
  'int32',
);
const cases: Case[] = [
  matMul('linear', [1024, 128], [128, 512]),
  matMul('its input gradient', [1024, 512], [128, 512], false, true),
  matMul('its weight gradient', [1024, 128], [1024, 512], true, false),
  matMul('tied logits', [1024, 128], [65, 128], false, true),
  matMul('shared right operand', [8, 128, 128], [1, 128, 128]),
  matMul('q·kᵀ', [32, 128, 32], [32, 128, 32], false, true),
  matMul('weights·v', [32, 128, 128], [32, 128, 32]),
  matMul('their gradient', [32, 128, 128], [32, 128, 32], true, false),
  matMul('q·kᵀ, small heads', [32, 64, 16], [32, 64, 16], false, true),
  matMul('one cached token', [4, 1, 32], [4, 128, 32], false, true),
  matMul('one token, tied logits', [1, 128], [65, 128], false, true),
  matMul('tiny', [32, 4, 4], [32, 4, 4]),
  op('transpose', (x) => tf.transpose(x), [1024, 128]),
  op('transpose', (x) => tf.transpose(x), [1000, 100]),
  op('transpose heads', (x) => tf.transpose(x, [0, 2, 1, 3]), [8, 128, 4, 32]),
  op('sum over rows', (x) => tf.sum(x, 0), [1024, 512]),
  op('sum over batch', (x) => tf.sum(x, 0), [8, 4, 128, 128]),
  op('sum over columns', (x) => tf.sum(x, 1), [1024, 512]),
  op('gather 1024 rows', (x) => tf.gather(x, ids), [65, 128]),
  op('broadcastTo [1024,128]', (x) => tf.broadcastTo(x, [1024, 128]), [1024, 1]),
  op('tile [2,1]', (x) => tf.tile(x, [2, 1]), [1024, 128]),
  op('maximum', (x, y) => tf.maximum(x, y), [1024, 128], [1024, 1]),
  op('greater', (x, y) => tf.greater(x, y), [1024, 128], [1024, 1]),
  op('tanh', (x) => tf.tanh(x), [1024, 512]),
  op('where x > 0', (x) => tf.where(tf.greater(x, 0), x, 0), [1024, 128]),
];

/** Fastest of the runs that fit into 200 ms (at least three), in ms. */
function fastest(run: () => tf.TensorContainer): number {
  let best = Number.POSITIVE_INFINITY;
  const end = performance.now() + 200;
  for (let n = 0; n < 3 || performance.now() < end; n++) {
    const start = performance.now();
    tf.dispose(tf.tidy(run));
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

function print(name: string, stock: number, ours: number): void {
  const factor = `${(stock / ours).toFixed(1)}×`;
  console.log(`${stock.toFixed(3).padStart(8)} ${ours.toFixed(3).padStart(10)} ${factor.padStart(8)}   ${name}`);
}

const wanted = cases.filter(({ name }) => name.includes(process.argv[2] ?? ''));
console.log('stock ms    ours ms   faster   case');
for (const { name, run, flops } of wanted) {
  restoreStockKernels();
  const stock = fastest(run);
  installKernels();
  const ours = fastest(run);
  print(name + (flops ? `  (${(flops / ours / 1e6).toFixed(1)} GFLOPS)` : ''), stock, ours);
}

if (!process.argv[2]) {
  const step = trainStep({ numLayers: 2, modelDim: 128, numHeads: 4, batch: 8, length: 128, vocab: 65 });
  installKernels();
  const ours = fastest(step);
  // Stock cannot take the gradient of gather: lend it our kernel.
  const { kernelFunc } = tf.getKernel('UnsortedSegmentSum', 'wasm');
  restoreStockKernels();
  tf.registerKernel({ kernelName: 'UnsortedSegmentSum', backendName: 'wasm', kernelFunc });
  print('training step: 2 layers, modelDim 128, 4 heads, batch 8 × 128', fastest(step), ours);
}
