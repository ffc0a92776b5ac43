/**
 * UnsortedSegmentSum, the gradient of gather, which the stock wasm backend lacks:
 *
 *     out[s, …] = Σ_{n : segmentIds[n] = s} x[n, …]
 *
 * Rows are added in order; ids outside 0 … numSegments−1 are dropped, as TensorFlow does.
 */
import { elements, type Kernel } from './memory.ts';

export const unsortedSegmentSum: Kernel = ({ inputs, backend, attrs }) => {
  const x = inputs.x!;
  const numSegments = attrs.numSegments as number;
  const ids = inputs.segmentIds!;
  const shape = [numSegments, ...x.shape.slice(ids.shape.length)];
  const out = backend.makeOutput(shape, x.dtype);
  const to = elements(backend, out).fill(0);
  const from = elements(backend, x);
  const width = numSegments ? to.length / numSegments : 0;
  elements(backend, ids).forEach((segment, n) => {
    if (segment < 0 || segment >= numSegments) return;
    for (let j = 0, i = n * width, o = segment * width; j < width; j++, i++, o++) to[o]! += from[i]!;
  });
  return out;
};
