/** RoBERTa (Liu et al. 2019) with its masked-token head. BERT whose position 0 is row pad_token_id + 1 of the table. */
import { PosencError, z } from '@posenc/core';
import {
  bertBindings,
  bertKeys,
  bertPositions,
  languageHead,
  languageHeadNames,
  olderNames,
  readBert,
  writeBert,
} from './bert-like.ts';
import { defineFamily } from './family.ts';
import { number, only } from './options.ts';

export const roberta = defineFamily({
  name: 'roberta',
  architecture: 'RobertaForMaskedLM',
  notes: [
    'Hugging Face counts positions over tokens that are not the padding token, whatever the mask; here they are counted over what the mask says is real.',
  ],
  encodings: ['learned'],
  config: z.looseObject({
    ...bertKeys,
    layer_norm_eps: number(1e-5),
    pad_token_id: z.int().min(0),
    position_embedding_type: only('absolute'),
  }),
  read: (hf) => {
    const offset = hf.pad_token_id + 1;
    if (hf.max_position_embeddings <= offset)
      throw new PosencError(
        `config.json: "max_position_embeddings" is ${hf.max_position_embeddings}, of which the first ${offset} rows are unused: none is left`,
      );
    return {
      model: readBert(hf),
      encoding: { type: 'learned', numPositions: hf.max_position_embeddings - offset, offset },
    };
  },
  write: (model, encoding) => ({
    ...writeBert(model),
    max_position_embeddings: Number(encoding.numPositions) + Number(encoding.offset),
    pad_token_id: Number(encoding.offset) - 1,
    position_embedding_type: 'absolute',
  }),
  bindings: (model) => [...bertBindings(model, 'roberta'), bertPositions('roberta'), ...languageHead],
  names: {
    ...languageHeadNames,
    prefix: 'roberta.',
    renamed: olderNames,
    ignored: [
      [/^roberta\.embeddings\.position_ids$/, 'the numbers 0, 1, 2 …'],
      [/^roberta\.pooler\./, 'it serves classifiers, not the masked-token head'],
    ],
  },
});
