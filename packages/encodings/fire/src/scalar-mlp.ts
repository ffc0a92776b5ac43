/**
 * A network of one input, run on many numbers: x → W₂ · relu(w₁ · x + b₁). Its hidden layer is 32 times as large as what goes in, so
 * nothing of it is kept: numbers go through in blocks, and the gradient computes each block anew.
 */
import type { Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';

/** Numbers at once: 4 MiB of hidden layer for a width of 32. */
const BLOCK = 1 << 15;

/** x [n], w₁ [W], b₁ [W], w₂ [W, H] → [n, H]. Differentiable in all four, once. */
export function scalarMlp(x: Tensor1D, w1: Tensor1D, b1: Tensor1D, w2: Tensor2D, block = BLOCK): Tensor2D {
  const [n, width] = [x.shape[0], w1.shape[0]];
  const starts = Array.from({ length: Math.ceil(n / block) }, (_, i) => i * block);
  const rows = <T extends Tensor>(all: T, start: number): T => {
    const size = [Math.min(block, n - start), ...all.shape.slice(1)];
    return tf.slice(all, [start, ...all.shape.slice(1).map(() => 0)], size);
  };
  const join = (parts: Tensor[]) => (parts.length === 1 ? parts[0]! : tf.concat(parts, 0));
  const total = (parts: Tensor[]) => (parts.length === 1 ? parts[0]! : tf.addN(parts));
  const before = (part: Tensor, u: Tensor, b: Tensor) =>
    tf.add(tf.mul(part.reshape([-1, 1]), u.reshape([1, width])), b) as Tensor2D;

  const op = tf.customGrad((...args) => {
    const [input, u, b, v, save] = args as [Tensor, Tensor, Tensor, Tensor, tf.GradSaveFunc];
    save([input, u, b, v]);
    const forward = (start: number) =>
      tf.tidy(() => tf.matMul(tf.relu(before(rows(input, start), u, b)), v as Tensor2D));
    const gradFunc = (dy: Tensor, saved: Tensor[]): Tensor[] => {
      const [input, u, b, v] = saved as [Tensor, Tensor, Tensor, Tensor];
      const parts = starts.map((start) =>
        tf.tidy(() => {
          const part = rows(input, start);
          const upstream = rows(dy, start) as Tensor2D;
          const inner = before(part, u, b);
          const down = tf.mul(tf.matMul(upstream, v as Tensor2D, false, true), tf.step(inner)) as Tensor2D;
          return [
            tf.matMul(down, u.reshape<Tensor2D>([width, 1])).reshape([-1]),
            tf.matMul(part.reshape<Tensor2D>([1, -1]), down).reshape([width]),
            tf.sum(down, 0),
            tf.matMul(tf.relu(inner), upstream, true, false),
          ];
        }),
      );
      const of = (i: number) => parts.map((part) => part[i]!);
      return [join(of(0)), total(of(1)), total(of(2)), total(of(3))];
    };
    return { value: join(starts.map(forward)), gradFunc: gradFunc as (dy: Tensor, saved: Tensor[]) => Tensor[] };
  });
  return op(x, w1, b1, w2) as Tensor2D;
}
