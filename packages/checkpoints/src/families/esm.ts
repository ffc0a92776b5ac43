/** ESM-2 (Lin et al. 2023), protein sequences, with its masked-token head. A pre-norm encoder with RoPE in halves. */
import { type ModelConfig, z } from '@posenc/core';
import { copy, layers, linear, norm } from '../binding.ts';
import { bertKeys, languageHead, languageHeadNames, olderNames, readBert, writeBert } from './bert-like.ts';
import { defineFamily } from './family.ts';
import { flag, optionalSize, plainActivation } from './options.ts';
import { readRope, ropeKeys, writeRope } from './rope.ts';

export const esm = defineFamily({
  name: 'esm',
  architecture: 'EsmForMaskedLM',
  notes: ['transformers needs pad_token_id in config.json: keep `source` when writing.'],
  encodings: ['rope'],
  config: z.looseObject({
    ...bertKeys,
    ...ropeKeys,
    type_vocab_size: optionalSize,
    hidden_act: plainActivation.default('gelu'),
    emb_layer_norm_before: flag(false),
    position_embedding_type: z.literal('rotary', { error: 'only models with rotary positions (ESM-2) can be loaded' }),
    token_dropout: z
      .literal(false, { error: 'embeddings that depend on how many tokens are masked cannot be loaded' })
      .nullish(),
    is_folding_model: z.literal(false, { error: 'folding models cannot be loaded' }).nullish(),
  }),
  read: (hf) => ({
    model: {
      ...readBert({ ...hf, type_vocab_size: 1 }),
      numTokenTypes: undefined,
      normPlacement: 'pre',
      embeddingNorm: hf.emb_layer_norm_before,
    },
    encoding: readRope(hf),
  }),
  write: (model, encoding) => {
    const { type_vocab_size: _, ...keys } = writeBert(model);
    return {
      ...keys,
      emb_layer_norm_before: model.embeddingNorm,
      position_embedding_type: 'rotary',
      token_dropout: false,
      is_folding_model: false,
      ...writeRope(encoding),
    };
  },
  bindings: (model: ModelConfig) => [
    copy('embedding.tokens', 'esm.embeddings.word_embeddings.weight'),
    ...norm('embedding.norm', 'esm.embeddings.layer_norm'),
    ...layers(model.numLayers, 'esm.encoder.layer', (ours, theirs) => [
      ...norm(`${ours}.attention.norm`, `${theirs}.attention.LayerNorm`),
      ...linear(`${ours}.attention.query`, `${theirs}.attention.self.query`),
      ...linear(`${ours}.attention.key`, `${theirs}.attention.self.key`),
      ...linear(`${ours}.attention.value`, `${theirs}.attention.self.value`),
      ...linear(`${ours}.attention.output`, `${theirs}.attention.output.dense`),
      ...norm(`${ours}.mlp.norm`, `${theirs}.LayerNorm`),
      ...linear(`${ours}.mlp.up`, `${theirs}.intermediate.dense`),
      ...linear(`${ours}.mlp.down`, `${theirs}.output.dense`),
    ]),
    ...norm('norm', 'esm.encoder.emb_layer_norm_after'),
    ...languageHead,
  ],
  names: {
    ...languageHeadNames,
    prefix: 'esm.',
    renamed: olderNames,
    ignored: [
      [/\.rotary_embeddings\.inv_freq$/, 'the rotary frequencies, which follow from the config'],
      [/^esm\.embeddings\.position_(ids|embeddings\.weight)$/, 'rotary models do not read it'],
      [/^esm\.contact_head\./, 'it predicts contacts of residues, not tokens'],
      [/^esm\.pooler\./, 'it serves classifiers, not the masked-token head'],
    ],
  },
});
