/** What a scaling of RoPE is: options as a schema, and a pure function from options and context to frequencies. */
import type { z } from '@posenc/core';

/** What a scaling may know besides its own options. */
export interface RopeContext {
  readonly headDim: number;
  /** r, the number of channels that turn (even); frequencies are spaced by it, not by headDim. */
  readonly rotaryDim: number;
  readonly base: number;
  /** Length of the sequence a token stands in, in tokens. Absent: no longer than the model was trained on. */
  readonly seqLen?: number;
}

/** What a scaling decides: how fast each pair turns, and how large scores become. */
export interface Frequencies {
  /** Radians per position of each channel pair, float64. Its length decides how many channels turn: two per entry. */
  readonly invFreq: Float64Array;
  /** Multiplies cos and sin on both sides, so the scores by its square. */
  readonly attentionFactor: number;
}

/** A strict object whose `type` names the scaling. */
export type ScalingSchema = z.ZodObject<{ type: z.ZodLiteral<string> }, z.core.$strict>;

/** A scaling: its options, and the frequencies that follow from them. */
export interface RopeScaling<Schema extends ScalingSchema = ScalingSchema> {
  readonly options: Schema;
  /** `frequencies` reads `context.seqLen`. */
  readonly readsSeqLen: boolean;
  /** Throws PosencError when the context cannot be scaled this way. */
  frequencies(options: z.output<Schema>, context: RopeContext): Frequencies;
  /** What scores are multiplied by beyond attentionFactor²; default 1 (DeepSeek's YaRN). */
  scoreFactor?(options: z.output<Schema>): number;
  /** Sequence lengths worth showing in a table, when the frequencies depend on it. */
  showAt?(options: z.output<Schema>): readonly number[];
}

/** Keeps the options' type. */
export function defineScaling<Schema extends ScalingSchema>(scaling: RopeScaling<Schema>): RopeScaling<Schema> {
  return scaling;
}
