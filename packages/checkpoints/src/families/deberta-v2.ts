/** DeBERTa v2 and v3 (He et al. 2021) with the masked-token head of BERT. Disentangled attention whose positions share the projections of content. */
import { z } from '@posenc/core';
import { copy } from '../binding.ts';
import { bertBindings, bertKeys, olderNames, predictionNames, predictions, readBert, writeBert } from './bert-like.ts';
import { defineFamily } from './family.ts';
import { number, only } from './options.ts';

export const debertaV2 = defineFamily({
  name: 'deberta-v2',
  architecture: 'DebertaV2ForMaskedLM',
  notes: [],
  encodings: ['deberta'],
  config: z.looseObject({
    ...bertKeys,
    layer_norm_eps: number(1e-7),
    relative_attention: z.literal(true, { error: 'only models with relative attention can be loaded' }),
    position_biased_input: z.literal(false, { error: 'absolute positions besides relative ones cannot be loaded' }),
    share_att_key: z.literal(true, { error: 'positions with projections of their own cannot be loaded' }),
    type_vocab_size: z.literal(0, { error: 'token types cannot be loaded' }).nullish(),
    /** -1: none. */
    position_buckets: z.int().nullish(),
    /** Below 1: as many as there are positions. */
    max_relative_positions: z.int().nullish(),
    pos_att_type: z.array(z.enum(['c2p', 'p2c'])),
    norm_rel_ebd: z.enum(['none', 'layer_norm']).nullish(),
    conv_kernel_size: only(0),
    legacy: only(true),
  }),
  read: (hf) => {
    const { max_relative_positions: told, position_buckets: buckets } = hf;
    return {
      model: { ...readBert({ ...hf, type_vocab_size: 1 }), numTokenTypes: undefined },
      encoding: {
        type: 'deberta',
        posAttType: hf.pos_att_type,
        positionBuckets: buckets && buckets > 0 ? buckets : null,
        maxRelativePositions: told && told > 0 ? told : hf.max_position_embeddings,
        shareAttKey: true,
        normRelEbd: hf.norm_rel_ebd === 'layer_norm',
        normEps: hf.layer_norm_eps,
      },
    };
  },
  write: (model, encoding) => ({
    ...writeBert(model),
    type_vocab_size: 0,
    relative_attention: true,
    position_biased_input: false,
    share_att_key: true,
    position_buckets: encoding.positionBuckets ?? -1,
    max_relative_positions: encoding.maxRelativePositions,
    max_position_embeddings: encoding.maxRelativePositions,
    pos_att_type: encoding.posAttType,
    norm_rel_ebd: encoding.normRelEbd ? 'layer_norm' : 'none',
    legacy: true,
  }),
  bindings: (model) => [
    ...bertBindings(model, 'deberta', '_proj'),
    copy('encoding.table', 'deberta.encoder.rel_embeddings.weight'),
    copy('encoding.normGain', 'deberta.encoder.LayerNorm.weight'),
    copy('encoding.normBias', 'deberta.encoder.LayerNorm.bias'),
    ...predictions,
  ],
  names: {
    ...predictionNames,
    prefix: 'deberta.',
    renamed: olderNames,
    ignored: [
      [/^deberta\.embeddings\.position_(ids|embeddings\.weight)$/, 'positions are relative'],
      [/^(lm_predictions|mask_predictions)\./, "the authors' own heads, which transformers does not read"],
    ],
  },
});
