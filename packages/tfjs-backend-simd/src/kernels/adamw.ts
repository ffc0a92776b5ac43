/** AdamW: theta, m, v, gradient, decay [n] and clip [] → the next theta, m, v, in one pass. */
import { type Kernel, sizeOf } from './kernel.ts';

const grain = 4096;

export const adamw: Kernel = ({ inputs, backend, attrs }) => {
  const { theta, m, v, gradient, decay, clip } = inputs;
  const [beta1, beta2] = [Number(attrs.beta1), Number(attrs.beta2)];
  const step = Number(attrs.step);
  const outputs = [theta!, m!, v!].map((info) => backend.output(info.shape));
  backend.pool.run('adamw', Math.ceil(sizeOf(theta!.shape) / 4), grain, [
    ...[theta!, m!, v!, gradient!, decay!, ...outputs].map((info) => backend.address(info)),
    ...[backend.view(clip!)[0]!, beta1, 1 - beta1, beta2, 1 - beta2],
    ...[1 / (1 - beta1 ** step), 1 / (1 - beta2 ** step), Number(attrs.epsilon), Number(attrs.learningRate)],
  ]);
  return outputs;
};
