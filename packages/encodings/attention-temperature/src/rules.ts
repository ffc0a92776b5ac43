/** The rules: each an options schema and, where position decides, a pure function from a token's place to the factor on its scores. */
import { z } from '@posenc/core';

/** Where a query stands. */
export interface Place {
  readonly position: number;
  /** Length of its own sequence, in tokens. */
  readonly seqLen: number;
  readonly causal: boolean;
}

const length = z.int().min(1);
const matrix = z.array(z.array(z.number()).min(1)).min(1);

const logN = z.strictObject({
  type: z.literal('log-n'),
  trainLength: z.int().min(2).default(512).describe('L: length in training, in tokens; the factor is 1 for n = L.'),
  clamped: z
    .boolean()
    .default(false)
    .describe('At least 1, so that nothing changes up to L (Qwen, which applies it at inference only).'),
  window: length.optional().describe('The model’s slidingWindow: n stops growing there.'),
});

const llama4 = z.strictObject({
  type: z.literal('llama4'),
  floorScale: length.default(8192).describe('Tokens from one step to the next.'),
  attnScale: z.number().positive().default(0.1).describe('Weight of the logarithm.'),
});

const ministral3 = z.strictObject({
  type: z.literal('ministral3'),
  originalMaxPositionEmbeddings: length.default(16384).describe('L0: tokens from one step to the next.'),
  beta: z.number().positive().default(0.1).describe('Weight of the logarithm (Hugging Face: llama_4_scaling_beta).'),
});

const constant = z.strictObject({
  type: z.literal('constant'),
  factor: z
    .union([z.number().positive(), matrix])
    .describe('One number for all, or a list of lists: one number per head, for each layer.'),
});

const learned = z.strictObject({
  type: z.literal('learned'),
  init: z
    .union([z.number(), matrix])
    .default(1)
    .describe('Where the factor of each layer and head starts: one number, or one per head for each layer.'),
});

export const ruleSchema = z.discriminatedUnion('type', [logN, llama4, ministral3, constant, learned]);
/** A rule for the temperature, defaults filled in. */
export type Rule = z.output<typeof ruleSchema>;
/** The same as a user writes it. */
export type RuleInput = z.input<typeof ruleSchema>;

/** A rule whose factor depends on where a query stands. */
export type PositionRule = Exclude<Rule, { type: 'constant' | 'learned' }>;

/**
 * The factor on all scores of a query, float64.
 *
 *     log-n       ln n / ln L, n = keys the query sees: position + 1 in a causal stack, seqLen in a bidirectional one
 *     llama4      1 + attnScale · ln(1 + ⌊(position + 1) / floorScale⌋)
 *     ministral3  1 + beta · ln(1 + ⌊position / L0⌋)
 */
export function temperatureAt(rule: PositionRule, { position, seqLen, causal }: Place): number {
  switch (rule.type) {
    case 'log-n': {
      const seen = Math.min(causal ? position + 1 : seqLen, rule.window ?? Number.POSITIVE_INFINITY);
      const factor = Math.log(seen) / Math.log(rule.trainLength);
      return rule.clamped ? Math.max(1, factor) : factor;
    }
    case 'llama4':
      return 1 + rule.attnScale * Math.log1p(Math.floor((position + 1) / rule.floorScale));
    case 'ministral3':
      return 1 + rule.beta * Math.log1p(Math.floor(position / rule.originalMaxPositionEmbeddings));
  }
}
