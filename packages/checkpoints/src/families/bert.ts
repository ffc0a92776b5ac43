/** BERT (Devlin et al. 2019) with its masked-token head. Learned positions and token types, norms after each sum, tied head. */
import { z } from '@posenc/core';
import {
  bertBindings,
  bertKeys,
  bertPositions,
  olderNames,
  predictionNames,
  predictions,
  readBert,
  writeBert,
} from './bert-like.ts';
import { defineFamily } from './family.ts';
import { only } from './options.ts';

export const bert = defineFamily({
  name: 'bert',
  architecture: 'BertForMaskedLM',
  notes: [
    'Hugging Face counts positions over columns, padding included, unless position_ids are given; here they are counted over real tokens. For the former give `positions: range(T)`.',
    'Second sentences are told by `types`; without it all tokens belong to the first.',
  ],
  encodings: ['learned'],
  config: z.looseObject({ ...bertKeys, position_embedding_type: only('absolute') }),
  read: (hf) => ({
    model: readBert(hf),
    encoding: { type: 'learned', numPositions: hf.max_position_embeddings },
  }),
  write: (model, encoding) => ({
    ...writeBert(model),
    max_position_embeddings: encoding.numPositions,
    position_embedding_type: 'absolute',
  }),
  bindings: (model) => [...bertBindings(model, 'bert'), bertPositions('bert'), ...predictions],
  names: {
    ...predictionNames,
    prefix: 'bert.',
    renamed: olderNames,
    ignored: [
      [/^bert\.embeddings\.position_ids$/, 'the numbers 0, 1, 2 …'],
      [/^bert\.pooler\./, 'it serves classifiers, not the masked-token head'],
      [/^cls\.seq_relationship\./, 'the head that tells whether two sentences follow each other'],
    ],
  },
});
