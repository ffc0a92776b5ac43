/** A Hugging Face config as the rules read it: sizes, and every dict that says something about RoPE. */

export type Json = Readonly<Record<string, unknown>>;

/** One dict of RoPE parameters, wherever it stands. */
export interface RopeDict {
  /** rope_scaling, rope_parameters, rope_parameters.full_attention … */
  readonly path: string;
  readonly value: Json;
  /** The dict holds one dict per layer type. */
  readonly nested: boolean;
  /** Its rope_type, or the older type; 'default' when it names none. */
  readonly type: string;
  readonly base: number | undefined;
}

export interface Subject {
  readonly config: Json;
  readonly ropes: readonly RopeDict[];
  readonly maxPosition: number | undefined;
  readonly headDim: number | undefined;
  /** Channels of a head that turn, by whichever key says so. */
  readonly rotaryWidth: number | undefined;
}

export const isDict = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const numberAt = (dict: Json, ...keys: readonly string[]): number | undefined =>
  keys.map((key) => dict[key]).find((value): value is number => typeof value === 'number');

export function subjectOf(whole: Json): Subject {
  // A multimodal config keeps the language model's part in a dict of its own.
  const config = isDict(whole.text_config) ? { ...whole, ...whole.text_config } : whole;
  const hidden = numberAt(config, 'hidden_size', 'n_embd', 'd_model');
  const heads = numberAt(config, 'num_attention_heads', 'n_head', 'n_heads');
  const headDim = numberAt(config, 'head_dim') ?? (hidden !== undefined && heads ? hidden / heads : undefined);
  const ropes = ['rope_parameters', 'rope_scaling'].flatMap((key) => dictsOf(key, config));
  const share =
    numberAt(config, 'partial_rotary_factor', 'rotary_pct') ?? numberAt(ropes[0]?.value ?? {}, 'partial_rotary_factor');
  const rotaryWidth =
    numberAt(config, 'rotary_dim') ?? (headDim === undefined ? undefined : Math.floor(headDim * (share ?? 1)));
  return {
    config,
    ropes,
    maxPosition: numberAt(config, 'max_position_embeddings', 'n_positions'),
    headDim,
    rotaryWidth,
  };
}

function dictsOf(key: string, config: Json): RopeDict[] {
  const value = config[key];
  if (!isDict(value)) return [];
  const layers = Object.entries(value).filter((entry): entry is [string, Json] => isDict(entry[1]));
  const parts = layers.length ? layers : ([['', value]] as const);
  return parts.map(([layer, dict]) => ({
    path: layer ? `${key}.${layer}` : key,
    value: dict,
    nested: layer !== '',
    type: String(dict.rope_type ?? dict.type ?? 'default'),
    base: numberAt(dict, 'rope_theta') ?? numberAt(config, 'rope_theta', 'rotary_emb_base'),
  }));
}
