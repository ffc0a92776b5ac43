/** The shared transformer's config: plain JSON whose words are the field's. Families of models are data, never branches. */
import { z } from 'zod';
import type { Dims } from './encoding.ts';
import { PosencError } from './errors.ts';
import { parseConfig } from './parse.ts';

/** Far beyond any published model: what is larger is a slip, and would fill memory with descriptions before it is refused. */
const upTo = (most: number) => z.int().min(1).max(most);
const [width, heads, layers] = [upTo(2 ** 20), upTo(4096), upTo(4096)];
const positive = z.int().min(1);

/** The JSON of a model, checked: strict, with the field’s names; what is left out follows from the rest (`resolveModel`). */
export const modelSchema = z.strictObject({
  vocabSize: positive.describe('number of tokens'),
  modelDim: width.describe('width of the residual stream'),
  numLayers: layers,
  numHeads: heads.describe('query heads per layer'),
  numKvHeads: heads.optional().describe('key/value heads (grouped queries); default numHeads'),
  headDim: width.optional().describe('width of a head; default modelDim / numHeads'),
  mlpDim: width.optional().describe('hidden width of the MLP; default 4 × modelDim'),
  embeddingDim: width.optional().describe('width of the token embedding when it differs from modelDim (ALBERT)'),
  causal: z.boolean().default(true).describe('false: every token sees every other'),
  norm: z.enum(['layernorm', 'rmsnorm']).default('layernorm'),
  normEps: z.number().positive().default(1e-5),
  normPlacement: z
    .enum(['pre', 'post', 'output', 'both'])
    .default('pre')
    .describe(
      'norm before each sublayer; after its residual sum; on its output, before the sum (OLMo 2); before it and on its output (Gemma 2)',
    ),
  skipFirstNorm: z
    .boolean()
    .optional()
    .describe('no norm before the first attention, whose input the norm of the embedding has just seen (ModernBERT)'),
  normBias: z.boolean().default(true).describe('layernorm only'),
  zeroCenteredGain: z.boolean().optional().describe('gains of norms are stored as their difference from 1 (Gemma)'),
  embeddingNorm: z.boolean().default(false).describe('a norm right after the embedding (BERT, BLOOM)'),
  numTokenTypes: positive
    .optional()
    .describe('kinds of token, each with a vector that is added to the embedding (BERT: 2, for pairs of sentences)'),
  activation: z.enum(['relu', 'gelu', 'gelu-tanh', 'swiglu', 'geglu', 'geglu-tanh']).default('relu'),
  attentionBias: z
    .enum(['all', 'qkv', 'output', 'none'])
    .default('all')
    .describe('which attention projections have biases'),
  mlpBias: z.boolean().default(true),
  tiedEmbeddings: z.boolean().default(true).describe('the output head reuses the token embedding'),
  headBias: z.boolean().default(false).describe('a bias on the logits'),
  headTransform: z
    .enum(['relu', 'gelu', 'gelu-tanh'])
    .optional()
    .describe('a dense layer with this activation and a norm before the head (BERT); biased as the MLP is'),
  qkNorm: z
    .union([z.boolean(), z.literal('projection')])
    .default(false)
    .describe(
      'RMS norm of queries and keys before any rotation: true, per head; "projection", over all heads at once (OLMo 2)',
    ),
  parallelResidual: z
    .union([z.boolean(), z.literal('sharedNorm')])
    .default(false)
    .describe('attention and MLP read the same input (GPT-NeoX); "sharedNorm": after the same norm, too (GPT-J, Phi)'),
  scoreScale: z.number().positive().optional().describe('factor on q·k; default 1/√headDim (T5: 1)'),
  scoreSoftcap: z.number().positive().optional().describe('c·tanh(score/c) (Gemma 2)'),
  logitScale: z.number().positive().optional().describe('factor on the logits (Cohere)'),
  logitSoftcap: z.number().positive().optional(),
  slidingWindow: z
    .union([positive, z.array(positive.nullable()).min(1)])
    .optional()
    .describe('a token sees this many tokens, itself included; a list: one entry per layer, repeating, null for all'),
  embeddingScale: z
    .union([z.number().positive(), z.literal('sqrtModelDim')])
    .default(1)
    .describe('factor on token embeddings before positions are added (the 2017 paper: sqrtModelDim)'),
  dropout: z.number().min(0).max(0.95).default(0).describe('on embeddings, attention weights and sublayer outputs'),
  initStd: z
    .number()
    .positive()
    .default(0.02)
    .describe('normal init of matrices; output projections × 1/√(2·numLayers)'),
  embeddingInitStd: z.number().positive().optional().describe('normal init of token embeddings; default initStd'),
});

/** A model as a user writes it, defaults left out. */
export type ModelInput = z.input<typeof modelSchema>;

/** A checked model config with every default filled in. */
export interface ModelConfig
  extends Omit<
    z.output<typeof modelSchema>,
    'numKvHeads' | 'headDim' | 'mlpDim' | 'embeddingDim' | 'scoreScale' | 'embeddingScale'
  > {
  readonly numKvHeads: number;
  readonly headDim: number;
  readonly mlpDim: number;
  readonly embeddingDim: number;
  readonly scoreScale: number;
  readonly embeddingScale: number;
}

/** Checks a model config and fills in what follows from the rest. Throws PosencError for sizes that cannot be. */
export function resolveModel(input: unknown, where = 'model'): ModelConfig {
  const c = parseConfig(modelSchema, input, where);
  if (c.headDim === undefined && c.modelDim % c.numHeads !== 0)
    throw new PosencError(
      `${where}: modelDim ${c.modelDim} is not divisible by numHeads ${c.numHeads}: change one of them, or set headDim`,
    );
  if (c.parallelResidual === 'sharedNorm' && c.normPlacement !== 'pre')
    throw new PosencError(
      `${where}: parallelResidual "sharedNorm" is a norm before both sublayers: set normPlacement to "pre", not "${c.normPlacement}"`,
    );
  if (c.skipFirstNorm && c.normPlacement !== 'pre')
    throw new PosencError(
      `${where}: skipFirstNorm leaves out a norm before a sublayer: set normPlacement to "pre", not "${c.normPlacement}"`,
    );
  const numKvHeads = c.numKvHeads ?? c.numHeads;
  if (c.numHeads % numKvHeads !== 0)
    throw new PosencError(`${where}: numHeads ${c.numHeads} is not a multiple of numKvHeads ${numKvHeads}`);
  const headDim = c.headDim ?? c.modelDim / c.numHeads;
  return {
    ...c,
    numKvHeads,
    headDim,
    mlpDim: c.mlpDim ?? 4 * c.modelDim,
    embeddingDim: c.embeddingDim ?? c.modelDim,
    scoreScale: c.scoreScale ?? 1 / Math.sqrt(headDim),
    embeddingScale: c.embeddingScale === 'sqrtModelDim' ? Math.sqrt(c.modelDim) : c.embeddingScale,
  };
}

/** What an encoding is told of a model. */
export const dimsOf = (c: ModelConfig): Dims => ({
  modelDim: c.modelDim,
  embeddingDim: c.embeddingDim,
  numLayers: c.numLayers,
  numHeads: c.numHeads,
  numKvHeads: c.numKvHeads,
  headDim: c.headDim,
  causal: c.causal,
});
