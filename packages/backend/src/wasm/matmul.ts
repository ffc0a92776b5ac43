/**
 * BatchMatMul through the fast path. The stock kernel multiplies with XNNPACK (46 GFLOPS) when nothing is transposed
 * and the batch is 1, and otherwise with a scalar loop (1.5–4 GFLOPS). So: transpose first; fold the batch into the
 * rows when the right operand is shared; else run the fast path on each slice in place.
 *
 *     C[…, M, N] = op(A)[…, M, K] · op(B)[…, K, N],   batch dimensions broadcast
 */
import * as tf from '@tensorflow/tfjs';
import { onCpu } from './fallback.ts';
import { call, type Kernel, reshaped, type WasmBackend } from './memory.ts';
import { native } from './native.ts';

export const batchMatMul =
  (stock: Kernel): Kernel =>
  (args) => {
    const { inputs, backend, attrs } = args;
    const a = inputs.a!;
    const b = inputs.b!;
    const transposeA = Boolean(attrs.transposeA);
    const transposeB = Boolean(attrs.transposeB);
    if (a.dtype !== 'float32' || b.dtype !== 'float32') return onCpu('BatchMatMul', args);

    const batchA = a.shape.slice(0, -2);
    const batchB = b.shape.slice(0, -2);
    const batch = tf.broadcast_util.assertAndGetBroadcastShape(batchA, batchB);
    const [M, K] = lastTwo(a.shape, transposeA);
    const [inner, N] = lastTwo(b.shape, transposeB);
    if (K !== inner)
      throw new Error(
        `matMul: inner sizes ${K} and ${inner} of shapes [${a.shape}] and [${b.shape}] ` +
          `with transposeA=${transposeA}, transposeB=${transposeB} must match`,
      );

    const [countA, countB, count] = [batchA, batchB, batch].map(tf.util.sizeFromShape) as [number, number, number];
    const shared = countB === 1;
    const rows = shared ? countA * M : M;
    const aligned = countA === count && (countB === count || shared);
    if (count * M * N > 0 && K > 0 && aligned && tooSmall(rows, K * N, shared && !transposeB)) return stock(args);

    const out = backend.makeOutput([...batch, M, N], 'float32');
    if (count * M * N === 0) return out;
    if (K === 0) {
      backend.typedArrayFromHeap(out).fill(0);
      return out;
    }

    const left = transposeA ? swapped(backend, a, [countA, K, M]) : a;
    const right = transposeB ? swapped(backend, b, [countB, N, K]) : b;
    const { multiply, multiplyTensors } = native(backend);
    const [A, B, C] = [left, right, out].map((info) => backend.dataIdMap.get(info.dataId)) as [Data, Data, Data];
    if (shared && keepsPacked(right.dataId, K, N)) multiplyTensors(A.id, B.id, C.id, rows, K, N);
    else if (shared) multiply(A.memoryOffset, B.memoryOffset, C.memoryOffset, rows, K, N);
    else {
      const sliceA = sliceIndex(batchA, batch);
      const sliceB = sliceIndex(batchB, batch);
      for (let i = 0; i < count; i++) {
        const fromA = A.memoryOffset + 4 * M * K * sliceA(i);
        const fromB = B.memoryOffset + 4 * K * N * sliceB(i);
        multiply(fromA, fromB, C.memoryOffset + 4 * M * N * i, M, K, N);
      }
    }
    if (transposeA) backend.disposeData(left.dataId);
    if (transposeB) backend.disposeData(right.dataId);
    return out;
  };

type Data = { readonly id: number; readonly memoryOffset: number };

/**
 * Below this the scalar loop wins: XNNPACK first packs the right operand (about 2 ns an element, what four rows cost
 * in the loop) and a call costs 1 µs. A shared right operand that stays as it is keeps its packed copy when used again.
 */
function tooSmall(rows: number, rightSize: number, packedOnce: boolean): boolean {
  return !packedOnce && (rows - 4) * rightSize < 2048;
}

/**
 * XNNPACK's packed copy lives as long as the tensor number it was made under, and is found by that number alone: after
 * a reshape the stock kernel multiplies with the old shape and returns wrong numbers. So a right operand is packed
 * under a passing number, and under its own only when the same data comes a second time in the same shape: weights
 * that are used again and again are packed once, a gradient that is used once leaves nothing behind.
 */
function keepsPacked(dataId: object, K: number, N: number): boolean {
  const first = seen.get(dataId);
  if (!first) seen.set(dataId, [K, N]);
  return first?.[0] === K && first[1] === N;
}
const seen = new WeakMap<object, readonly [number, number]>();

const lastTwo = (shape: number[], transposed: boolean): [number, number] =>
  (transposed ? [shape.at(-1), shape.at(-2)] : [shape.at(-2), shape.at(-1)]) as [number, number];

const swapped = (backend: WasmBackend, x: tf.TensorInfo, shape: number[]) =>
  call(backend, 'Transpose', { x: reshaped(x, shape) }, { perm: [0, 2, 1] });

/** Which slice of an operand with batch dimensions `from` meets slice i of a result with batch dimensions `to`. */
function sliceIndex(from: number[], to: number[]): (i: number) => number {
  const size = tf.util.sizeFromShape(from);
  if (size === tf.util.sizeFromShape(to)) return (i) => i;
  if (size === 1) return () => 0;
  return (i) => {
    let index = 0;
    let stride = 1;
    for (let axis = 1; axis <= from.length; axis++) {
      const extent = to.at(-axis)!;
      const own = from.at(-axis)!;
      if (own > 1) index += (i % extent) * stride;
      stride *= own;
      i = Math.floor(i / extent);
    }
    return index;
  };
}
