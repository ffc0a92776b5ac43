/** LayerNorm and RmsNorm along the last axis: x […, D], gain [D], bias [D]? → y, and mean and rstd of each row. */
import { type Kernel, sizeOf, withMemory } from './kernel.ts';
import { reduceAt } from './reduce.ts';

const worthSharing = 8192;

export const norm =
  (centred: 0 | 1): Kernel =>
  ({ inputs, backend, attrs }) => {
    const { x, gain, bias } = inputs;
    const n = x!.shape.at(-1)!;
    const rows = n === 0 ? 0 : sizeOf(x!.shape) / n;
    const [y, mean, rstd] = [backend.output(x!.shape), backend.output([rows]), backend.output([rows])];
    const of = backend.address.bind(backend);
    backend.pool.run('norm', rows, Math.ceil(worthSharing / Math.max(1, n)), [
      ...[centred, of(x!), of(gain!), bias ? of(bias) : 0, of(y), of(mean), of(rstd), n, Number(attrs.epsilon)],
    ]);
    return [y, mean, rstd];
  };

/** dy, x, gain, mean, rstd → dx, dgain, dbias. */
export const normGrad =
  (centred: 0 | 1): Kernel =>
  ({ inputs, backend }) => {
    const { dy, x, gain, mean, rstd } = inputs;
    const n = x!.shape.at(-1)!;
    const rows = sizeOf(mean!.shape);
    const both = backend.output([2, n]);
    const dx = backend.output(x!.shape);
    const items = Math.ceil(rows / backend.pool.call('normGradRows'));
    withMemory(backend, [8 * n * items], ([partial]) => {
      backend.pool.run('normGrad', items, 1, [
        ...[centred, ...[dy!, x!, gain!, mean!, rstd!, dx].map((info) => backend.address(info))],
        ...[partial!, rows, n],
      ]);
      if (items > 0) reduceAt(backend, 'Sum', partial!, backend.address(both), 1, items, 2 * n);
      else backend.view(both).fill(0);
    });
    const half = (i: number) => {
      const out = backend.output([n]);
      backend.view(out).set(backend.view(both).subarray(i * n, (i + 1) * n));
      return out;
    };
    const [dgain, dbias] = [half(0), half(1)];
    backend.disposeData(both.dataId);
    return [dx, dgain, dbias];
  };
