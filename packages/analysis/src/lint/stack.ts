/** Lint of an encoding inside a stack of ours. Every rule measures or reads traits: none asks for a name. */
import { createParams, type Dims, disposeParams, type Encoding, holesOf, type ModelConfig, range } from '@posenc/core';
import type { Tensor3D } from '@tensorflow/tfjs';
import * as tf from '@tensorflow/tfjs';
import { applyRules, error, type Finding, note, type Rule, warning } from './finding.ts';

/** What a rule may look at: an encoding as created, the model around it, and how long its sequences are. */
export interface Stack {
  readonly encoding: Encoding;
  readonly model: ModelConfig;
  readonly dims: Dims;
  /** Tokens of a training sequence. */
  readonly trainingLength?: number;
  /** The longest context of an evaluation. */
  readonly longest?: number;
}

const rules: readonly Rule<Stack>[] = [
  {
    name: 'training-length',
    prevents: 'an index past the table: silent garbage on a graphics card (transformers#8077)',
    check: ({ encoding, trainingLength = 0 }) =>
      trainingLength > encoding.traits.maxPosition
        ? [
            error(
              'encoding',
              `it ends at position ${encoding.traits.maxPosition - 1}, and training sequences have ${trainingLength} tokens`,
            ),
          ]
        : [],
  },
  {
    name: 'untrained-positions',
    prevents: 'table rows that no gradient ever reached, read at evaluation as if they meant something',
    check: ({ encoding, trainingLength, longest }) =>
      trainingLength !== undefined &&
      longest !== undefined &&
      Number.isFinite(encoding.traits.maxPosition) &&
      encoding.traits.maxPosition > trainingLength &&
      longest > trainingLength
        ? [
            warning(
              'encoding',
              `positions ${trainingLength} to ${Math.min(longest, encoding.traits.maxPosition) - 1} are defined but never trained: end the table at ${trainingLength}, and those cells read "undefined"`,
            ),
          ]
        : [],
  },
  {
    name: 'amplitude',
    prevents: 'positions that drown the content: a sinusoid has norm √(D/2) whatever the embeddings are',
    check({ encoding, model, dims }) {
      if (!holesOf(encoding, dims).includes('embed')) return [];
      const positions = embeddedNorm(encoding, dims);
      const content = (model.embeddingInitStd ?? model.initStd) * model.embeddingScale * Math.sqrt(model.embeddingDim);
      const ratio = positions / content;
      return ratio > 4
        ? [
            warning(
              'model.embeddingScale',
              `position vectors are ${ratio.toFixed(0)} times as long as token embeddings at the start (${positions.toFixed(1)} to ${content.toFixed(2)}): the 2017 paper multiplies embeddings drawn at 1/√D by √D ("embeddingScale": "sqrtModelDim", "embeddingInitStd": ${(1 / Math.sqrt(model.modelDim)).toFixed(3)})`,
            ),
          ]
        : [];
    },
  },
  {
    name: 'no-positions',
    prevents:
      'a model that cannot tell orders apart: without causality and positions it is equivariant to permutations',
    check: ({ encoding, dims }) =>
      !dims.causal && !encoding.traits.readsPositions && !encoding.traits.requiresCausal
        ? [warning('model.causal', 'bidirectional and without positions, the model sees a bag of tokens')]
        : [],
  },
  {
    name: 'sequence-length',
    prevents: 'keys cached under one length and read under another (transformers#25104)',
    check: ({ encoding }) =>
      encoding.traits.readsSeqLen
        ? [
            note(
              'encoding',
              'it reads the length of the sequence: a decoding session fixes it (seqLen), or re-reads with "grow"',
            ),
          ]
        : [],
  },
];

/** Everything questionable about an encoding in its stack. */
export const lintStack = (stack: Stack): Finding[] => applyRules(rules, stack);

/** Every rule by name, with the bug that it prevents. */
export const stackRules: readonly { readonly name: string; readonly prevents: string }[] = rules.map(
  ({ name, prevents }) => ({ name, prevents }),
);

/** Mean norm of what `embed` adds to zeros at the first positions, with parameters as they are drawn. */
function embeddedNorm(encoding: Encoding, dims: Dims): number {
  const length = Math.min(64, encoding.traits.maxPosition);
  return tf.tidy(() => {
    const params = createParams(encoding.params, 0);
    const positions = range(length);
    const seqLen = { ...positions, data: new Int32Array(length).fill(length) };
    const hooks = encoding.hooks(params)({ query: positions, key: positions, seqLen });
    const added = hooks.embed!(tf.zeros([1, length, dims.embeddingDim]) as Tensor3D);
    const norm = tf.mean(tf.norm(added, 'euclidean', 2)).dataSync()[0]!;
    disposeParams(params);
    return norm;
  });
}
