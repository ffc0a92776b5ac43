/**
 * BatchMatMul by the stock kernel, kept from what it gets wrong: it broadcasts one batch of matrices at most, knows float32
 * only, and finds XNNPACK's packed copy of a right operand by its tensor number alone, so that after a reshape it multiplies
 * with the old shape. So: operands are stretched first, and the right one gets a passing number where XNNPACK is used.
 *
 *     C[…, M, N] = op(A)[…, M, K] · op(B)[…, K, N],   batch dimensions broadcast
 */
import * as tf from '@tensorflow/tfjs';
import { onCpu } from './fallback.ts';
import { call, type Kernel, reshaped } from './memory.ts';

export const batchMatMul =
  (stock: Kernel): Kernel =>
  (args) => {
    const { inputs, backend, attrs } = args;
    const a = inputs.a!;
    const b = inputs.b!;
    const transposeA = Boolean(attrs.transposeA);
    const transposeB = Boolean(attrs.transposeB);
    if (a.dtype !== 'float32' || b.dtype !== 'float32') return onCpu('BatchMatMul', args);

    const batch = tf.broadcast_util.assertAndGetBroadcastShape(a.shape.slice(0, -2), b.shape.slice(0, -2));
    const [M, K] = lastTwo(a.shape, transposeA);
    const [inner, N] = lastTwo(b.shape, transposeB);
    if (K !== inner)
      throw new Error(
        `matMul: inner sizes ${K} and ${inner} of shapes [${a.shape}] and [${b.shape}] ` +
          `with transposeA=${transposeA}, transposeB=${transposeB} must match`,
      );
    const count = tf.util.sizeFromShape(batch);
    if (count * M * K * N === 0) {
      const out = backend.makeOutput([...batch, M, N], 'float32');
      backend.typedArrayFromHeap(out).fill(0);
      return out;
    }

    const passing: tf.TensorInfo[] = [];
    const make = (kernel: string, x: tf.TensorInfo, options = {}) => {
      const made = call(backend, kernel, { x }, options);
      passing.push(made);
      return made;
    };
    /** One batch dimension: of `count` matrices, or of one that stock uses for all. */
    const stretched = (x: tf.TensorInfo) => {
      const matrix = x.shape.slice(-2);
      const own = x.shape.slice(0, -2);
      const size = tf.util.sizeFromShape(own);
      if (size === count || size === 1) return reshaped(x, [size, ...matrix]);
      const padded = [...Array<number>(batch.length - own.length).fill(1), ...own];
      const reps = [...batch.map((extent, axis) => extent / padded[axis]!), 1, 1];
      return reshaped(make('Tile', reshaped(x, [...padded, ...matrix]), { reps }), [count, ...matrix]);
    };
    const left = stretched(a);
    const right = stretched(b);
    const packs = count === 1 && !transposeA && !transposeB;
    const product = stock({ inputs: { a: left, b: packs ? make('Identity', right) : right }, backend, attrs });
    for (const x of passing) backend.disposeData(x.dataId);
    return reshaped(product as tf.TensorInfo, [...batch, M, N]);
  };

const lastTwo = (shape: number[], transposed: boolean): [number, number] =>
  (transposed ? [shape.at(-1), shape.at(-2)] : [shape.at(-2), shape.at(-1)]) as [number, number];
