/** What the kill tests save at a step: the state and the tensors follow from the step, so a mixture of two would show. */
import type { HostTensor } from '../../src/index.ts';

export const stateAt = (step: number) => ({ step, text: `state of step ${step}`.repeat(50) });

export const tensorsAt = (step: number): [string, HostTensor][] => [
  ['a', { dtype: 'F32', shape: [25_000], data: new Float32Array(25_000).fill(step) }],
  ['b', { dtype: 'I32', shape: [1], data: Int32Array.of(step) }],
];
