/**
 * C[…, M, N] = op(A)[…, M, K]·op(B)[…, K, N]; batch dimensions broadcast. Transposing is a matter of strides while packing.
 * When all of a batch share B, its rows are one tall A.
 */
import { broadcast_util, type TensorInfo } from '@tensorflow/tfjs-core';
import type { SimdBackend } from '../backend.ts';
import { type Kernel, onCpu, sizeOf, withMemory } from './kernel.ts';

export const batchMatMul: Kernel = (args) => {
  const { inputs, backend, attrs } = args;
  const [a, b] = [inputs.a!, inputs.b!];
  if (a.dtype !== 'float32' || b.dtype !== 'float32') return onCpu('BatchMatMul', args);
  return multiply(backend, a, b, Boolean(attrs.transposeA), Boolean(attrs.transposeB));
};

export function multiply(backend: SimdBackend, a: TensorInfo, b: TensorInfo, transposeA: boolean, transposeB: boolean) {
  const [batchA, batchB] = [a.shape.slice(0, -2), b.shape.slice(0, -2)];
  const batch = broadcast_util.assertAndGetBroadcastShape(batchA, batchB);
  const [M, K] = lastTwo(a.shape, transposeA);
  const [inner, N] = lastTwo(b.shape, transposeB);
  if (K !== inner)
    throw new Error(
      `matMul: inner sizes ${K} and ${inner} of shapes [${a.shape}] and [${b.shape}] ` +
        `with transposeA=${transposeA}, transposeB=${transposeB} must match`,
    );
  const out = backend.output([...batch, M, N]);
  const [countA, countB, count] = [sizeOf(batchA), sizeOf(batchB), sizeOf(batch)];
  if (count * M * N === 0) return out;
  if (K === 0) {
    backend.view(out).fill(0);
    return out;
  }
  const [strideM, strideAK] = transposeA ? [1, M] : [K, 1];
  const [strideK, strideN] = transposeB ? [1, K] : [N, 1];
  const [A, B, C] = [backend.address(a), backend.address(b), backend.address(out)];
  const product = { M, N, K, strideM, strideAK, strideK, strideN };
  if (countB === 1 && countA === count && !transposeA) run(backend, { ...product, M: count * M, A, B, C, count: 1 });
  else if (countA <= 1 && countB === count) run(backend, { ...product, A, B, C, count, sizeB: K * N });
  else if (countB <= 1 && countA === count) run(backend, { ...product, A, B, C, count, sizeA: M * K });
  else if (countA === count && countB === count)
    run(backend, { ...product, A, B, C, count, sizeA: M * K, sizeB: K * N });
  else {
    const [sliceA, sliceB] = [sliceIndex(batchA, batch), sliceIndex(batchB, batch)];
    for (let i = 0; i < count; i++)
      run(backend, {
        ...product,
        A: A + 4 * M * K * sliceA(i),
        B: B + 4 * K * N * sliceB(i),
        C: C + 4 * M * N * i,
        count: 1,
      });
  }
  return out;
}

interface Product {
  readonly M: number;
  readonly N: number;
  readonly K: number;
  readonly strideM: number;
  readonly strideAK: number;
  readonly strideK: number;
  readonly strideN: number;
  readonly A: number;
  readonly B: number;
  readonly C: number;
  /** Products in a row; floats from one operand to the next, 0 or absent: all share it. */
  readonly count: number;
  readonly sizeA?: number;
  readonly sizeB?: number;
}

/** Rows of one tile: what assembly/matmul.ts packs of A at a time. */
const tileRows = 96;
/** Multiplications worth a thread's while. */
const worthSharing = 60_000;

function run(backend: SimdBackend, p: Product): void {
  const { pool } = backend;
  const { M, N, K, strideM, strideAK, strideK, strideN, A, B, C, count, sizeA = 0, sizeB = 0 } = p;
  const grain = (work: number) => Math.ceil(worthSharing / Math.max(1, work));
  if (M < 4) {
    pool.run('matmulFewRows', count, grain(M * N * K), [
      ...[A, B, C, M, N, K, strideM, strideAK, strideK, strideN, sizeA, sizeB],
    ]);
    return;
  }
  const panels = Math.ceil(N / 8);
  const copies = sizeB === 0 ? 1 : count;
  const packedSize = panels * 8 * K;
  const down = Math.ceil(M / tileRows);
  // Few tiles: cut across as well, so that every thread has some.
  const cuts = Math.min(panels, Math.max(1, Math.floor((4 * pool.threads) / (count * down))));
  const columns = pool.threads === 1 ? panels * 8 : Math.max(64, Math.ceil(panels / cuts) * 8);
  const across = Math.ceil(N / columns);
  const scratchBytes = pool.call('matmulScratchBytes') * pool.threads;
  withMemory(backend, [4 * packedSize * copies, scratchBytes], ([packed, scratch]) => {
    pool.run('packB', panels * copies, grain(K * 2), [packed!, B, K, N, strideK, strideN, sizeB, panels]);
    pool.run('matmulTiles', count * down * across, grain(Math.min(M, tileRows) * K * Math.min(N, columns)), [
      ...[scratch!, A, packed!, C, M, N, K, strideM, strideAK, sizeA, sizeB === 0 ? 0 : packedSize, columns],
    ]);
  });
}

const lastTwo = (shape: number[], transposed: boolean): [number, number] =>
  (transposed ? [shape.at(-1), shape.at(-2)] : [shape.at(-2), shape.at(-1)]) as [number, number];

/** Which slice of an operand with batch dimensions `from` meets slice i of a result with batch dimensions `to`. */
function sliceIndex(from: number[], to: number[]): (i: number) => number {
  return (i) => {
    let [index, stride, rest] = [0, 1, i];
    for (let axis = 1; axis <= from.length; axis++) {
      const [extent, own] = [to.at(-axis)!, from.at(-axis)!];
      if (own > 1) index += (rest % extent) * stride;
      stride *= own;
      rest = Math.floor(rest / extent);
    }
    return index;
  };
}
