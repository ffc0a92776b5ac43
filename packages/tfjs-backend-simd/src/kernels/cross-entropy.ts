/** CrossEntropy from integer labels: logits [N, V], labels [N] → loss [N] and log Σ e^logit [N]; and its gradient. */
import type { Kernel } from './kernel.ts';

const worthSharing = 4096;

export const crossEntropy: Kernel = ({ inputs, backend }) => {
  const { logits, labels } = inputs;
  const [rows, n] = logits!.shape as [number, number];
  const wrong = (backend.view(labels!) as Int32Array).find((label) => label >= n);
  if (wrong !== undefined) throw new Error(`crossEntropy: the label ${wrong} is not below the ${n} classes`);
  const [loss, logSum] = [backend.output([rows]), backend.output([rows])];
  backend.pool.run('crossEntropy', rows, Math.ceil(worthSharing / n), [
    ...[logits!, labels!, loss, logSum].map((info) => backend.address(info)),
    n,
  ]);
  return [loss, logSum];
};

export const crossEntropyGrad: Kernel = ({ inputs, backend }) => {
  const { dy, logits, labels, logSum } = inputs;
  const [rows, n] = logits!.shape as [number, number];
  const out = backend.output([rows, n]);
  backend.pool.run('crossEntropyGrad', rows, Math.ceil(worthSharing / n), [
    ...[dy!, logits!, labels!, logSum!, out].map((info) => backend.address(info)),
    n,
  ]);
  return out;
};
