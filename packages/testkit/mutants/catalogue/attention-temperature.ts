import type { Mutant } from '../mutant.ts';

const encoding = 'attention-temperature';

export const attentionTemperatureMutants: readonly Mutant[] = [
  {
    encoding,
    bug: 'each head with its neighbour’s learned factor',
    edits: [
      {
        file: 'attention-temperature.ts',
        find: 'scale: layerOf(factors, index).reshape([1, dims.numHeads, 1, 1]) as Tensor4D',
        replace: 'scale: tf.reverse(layerOf(factors, index).reshape([1, dims.numHeads, 1, 1]) as Tensor4D, 1)',
      },
    ],
    configs: [{ rule: { type: 'learned' } }],
    caughtBy: 'head permutation',
  },
];
