/** Gelu, GatedActivation and their gradients; the attribute `kind` is 'gelu', 'gelu-tanh' or 'silu'. */
import { type Kernel, sizeOf } from './kernel.ts';

const kinds = ['gelu', 'gelu-tanh', 'silu'];
const grain = 1024;

export const gelu: Kernel = ({ inputs, backend, attrs }) => {
  const x = inputs.x!;
  const y = backend.output(x.shape);
  const kind = kinds.indexOf(String(attrs.kind));
  const addresses = [x, y].map((info) => backend.address(info));
  backend.pool.run('gelu', Math.ceil(sizeOf(x.shape) / 4), grain, [kind, ...addresses]);
  return y;
};

export const geluGrad: Kernel = ({ inputs, backend, attrs }) => {
  const { dy, x } = inputs;
  const dx = backend.output(x!.shape);
  const kind = kinds.indexOf(String(attrs.kind));
  const addresses = [dy!, x!, dx].map((info) => backend.address(info));
  backend.pool.run('geluGrad', Math.ceil(sizeOf(x!.shape) / 4), grain, [kind, ...addresses]);
  return dx;
};

export const gatedActivation: Kernel = ({ inputs, backend, attrs }) => {
  const { gate, up } = inputs;
  const y = backend.output(gate!.shape);
  const addresses = [gate!, up!, y].map((info) => backend.address(info));
  backend.pool.run('gatedActivation', Math.ceil(sizeOf(gate!.shape) / 4), grain, [
    kinds.indexOf(String(attrs.kind)),
    ...addresses,
  ]);
  return y;
};

export const gatedActivationGrad: Kernel = ({ inputs, backend, attrs }) => {
  const { dy, gate, up } = inputs;
  const [dGate, dUp] = [backend.output(gate!.shape), backend.output(gate!.shape)];
  const addresses = [dy!, gate!, up!, dGate, dUp].map((info) => backend.address(info));
  backend.pool.run('gatedActivationGrad', Math.ceil(sizeOf(gate!.shape) / 4), grain, [
    kinds.indexOf(String(attrs.kind)),
    ...addresses,
  ]);
  return [dGate, dUp];
};
