/** RotatePairs: u [B, heads, T, Dh], cos, sin [B|1, 1, T, r/2]; see core/kernels/rotary.ts for what the attributes mean. */
import { type Kernel, sizeOf } from './kernel.ts';

const worthSharing = 16_384;

export const rotatePairs: Kernel = ({ inputs, backend, attrs }) => {
  const { u, cos, sin } = inputs;
  const [, numHeads, length, width] = u!.shape as [number, number, number, number];
  const [rows, , , pairs] = cos!.shape as [number, number, number, number];
  const out = backend.output(u!.shape);
  if (sizeOf(u!.shape) === 0) return out;
  const neighbours = (layout: unknown) => (layout === 'interleaved' ? 1 : 0);
  backend.pool.run('rotatePairs', sizeOf(u!.shape) / width, Math.ceil(worthSharing / width), [
    ...[u!, cos!, sin!, out].map((info) => backend.address(info)),
    ...[numHeads, length, width, pairs, rows === 1 ? 0 : length * pairs],
    ...[neighbours(attrs.from), neighbours(attrs.to), attrs.transposed ? -1 : 1],
  ]);
  return out;
};
