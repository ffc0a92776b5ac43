/**
 * GatherV2 by copying runs: out[b, o, i, …] = x[b, o, indices[b, i], …]. The stock kernel
 * mistakes rows of `indices` when batchDims > 0, and reads wherever an index points.
 */
import * as tf from '@tensorflow/tfjs';
import { elements, type Kernel } from './memory.ts';

export const gather: Kernel = ({ inputs, backend, attrs }) => {
  const x = inputs.x!;
  const indices = inputs.indices!;
  const axis = tf.util.parseAxisParam(attrs.axis as number, x.shape)[0]!;
  const { batchSize, outerSize, dimSize, sliceSize, outputShape } =
    tf.backend_util.segment_util.collectGatherOpShapeInfo(
      x as tf.Tensor,
      indices as tf.Tensor,
      axis,
      attrs.batchDims as number,
    );
  for (const index of elements(backend, indices))
    tf.util.assert(index >= 0 && index < dimSize, () => `gather: the index ${index} is not in [0, ${dimSize - 1}]`);

  const out = backend.makeOutput(outputShape, x.dtype);
  const at = elements(backend, indices);
  const from = elements(backend, x);
  const to = elements(backend, out);
  const perBatch = batchSize ? at.length / batchSize : 0;
  let o = 0;
  for (let b = 0; b < batchSize; b++)
    for (let outer = 0; outer < outerSize; outer++)
      for (let n = 0; n < perBatch; n++) {
        let i = ((b * outerSize + outer) * dimSize + at[b * perBatch + n]!) * sliceSize;
        for (const end = i + sliceSize; i < end; i++) to[o++] = from[i]!;
      }
  return out;
};
