/** The tiny checkpoints in golden/models and what Hugging Face computed from them (golden/README.md). */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const modelsFolder = join(import.meta.dirname, '../../golden/models');
export const folders = readdirSync(modelsFolder).sort();

export interface Expected {
  readonly kind: 'causal-lm' | 'masked-lm' | 'bidirectional-lm';
  readonly tolerance: { readonly logits_abs: number; readonly token_nll_abs: number; readonly perplexity_rel: number };
  readonly inputs: {
    readonly input_ids: readonly (readonly number[])[];
    readonly attention_mask: readonly (readonly number[])[];
    readonly position_ids: readonly (readonly number[])[];
  };
  readonly alone: readonly {
    readonly length: number;
    readonly positions: readonly number[];
    readonly logits: readonly (readonly number[])[];
    readonly token_nll: readonly number[];
    readonly loss: number;
    readonly perplexity: number;
  }[];
  readonly batch: Batch;
  readonly batch_explicit_position_ids?: Batch;
  readonly generate?: {
    readonly max_new_tokens: number;
    readonly rows: readonly {
      readonly tokens: readonly number[];
      readonly same_without_cache: boolean;
      readonly tokens_without_cache?: readonly number[];
      readonly same_in_left_padded_batch: boolean;
    }[];
  };
}

export interface Batch {
  readonly columns: readonly number[];
  /** [rows, columns, vocabulary] */
  readonly logits: readonly (readonly (readonly number[])[])[];
}

export const expectedOf = (folder: string): Expected =>
  JSON.parse(readFileSync(join(modelsFolder, folder, 'expected.json'), 'utf8')) as Expected;

export const hasLegacyConfig = (folder: string) => existsSync(join(modelsFolder, folder, 'config.legacy.json'));
