/** RoFormer (Su et al. 2021) with its masked-token head. BERT with interleaved RoPE in place of position embeddings. */
import { PosencError, z } from '@posenc/core';
import { bertBindings, bertKeys, olderNames, predictionNames, predictions, readBert, writeBert } from './bert-like.ts';
import { defineFamily } from './family.ts';
import { only, optionalSize } from './options.ts';

export const roformer = defineFamily({
  name: 'roformer',
  architecture: 'RoFormerForMaskedLM',
  notes: [],
  encodings: ['rope'],
  config: z.looseObject({
    ...bertKeys,
    max_position_embeddings: optionalSize,
    embedding_size: optionalSize,
    rotary_value: only(false),
  }),
  read: (hf) => {
    const width = hf.embedding_size ?? hf.hidden_size;
    if (width !== hf.hidden_size)
      throw new PosencError(
        `config.json: "embedding_size" is ${width}: only models whose embedding is as wide as the rest (${hf.hidden_size}) can be loaded`,
      );
    return { model: readBert(hf), encoding: { type: 'rope', pairing: 'interleaved' } };
  },
  write: (model) => ({ ...writeBert(model), embedding_size: model.embeddingDim, rotary_value: false }),
  bindings: (model) => [...bertBindings(model, 'roformer'), ...predictions],
  names: {
    ...predictionNames,
    prefix: 'roformer.',
    renamed: olderNames,
    ignored: [
      [/^roformer\.encoder\.embed_positions\.weight$/, 'the sines and cosines of the rotation, which are computed'],
      [/^roformer\.pooler\./, 'it serves classifiers, not the masked-token head'],
    ],
  },
});
