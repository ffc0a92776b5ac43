/** A model's folder as `save_pretrained` writes it: config.json and model.safetensors, the latter perhaps in several files. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { PosencError } from '@posenc/core';
import { writeFileAtomic } from './atomic.ts';
import { fileError } from './file-error.ts';
import { ensureFolder } from './folder.ts';
import { type HostTensor, readSafetensors, writeSafetensors } from './safetensors.ts';

/** A model folder of Hugging Face as it was found: names and layouts are still theirs. */
export interface HubCheckpoint {
  /** config.json. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly tensors: ReadonlyMap<string, HostTensor>;
}

/** Throws PosencError when a file is missing or damaged, or the weights are in another format. */
export function readHubFolder(folder: string): HubCheckpoint {
  const config = readObject(join(folder, 'config.json'));
  const whole = join(folder, 'model.safetensors');
  const index = join(folder, 'model.safetensors.index.json');
  if (existsSync(whole)) return { config, tensors: readSafetensors(whole).tensors };
  if (existsSync(index)) return { config, tensors: readShards(folder, index) };
  throw new PosencError(
    `"${folder}" has no model.safetensors: take the safetensors files of the model, or load its weights where they came ` +
      'from and save them with save_pretrained(…, safe_serialization=True)',
  );
}

/** Creates the folder if need be. Throws PosencError when the disk fails. */
export function writeHubFolder(folder: string, { config, tensors }: HubCheckpoint): void {
  ensureFolder(folder);
  writeSafetensors(join(folder, 'model.safetensors'), tensors, { format: 'pt' });
  writeFileAtomic(join(folder, 'config.json'), configText(config));
}

/** Keys whose numbers transformers 5 insists on as floats: it refuses 10000 where it wants 10000.0. */
const floats = new Set([
  'attention_factor',
  'attention_probs_dropout_prob',
  'attn_logit_softcapping',
  'beta_fast',
  'beta_slow',
  'embedding_fraction',
  'factor',
  'final_logit_softcapping',
  'global_rope_theta',
  'hidden_dropout_prob',
  'high_freq_factor',
  'init_std',
  'initializer_cutoff_factor',
  'initializer_range',
  'layer_norm_eps',
  'layer_norm_epsilon',
  'logit_scale',
  'local_rope_theta',
  'long_factor',
  'low_freq_factor',
  'mscale',
  'mscale_all_dim',
  'norm_eps',
  'partial_rotary_factor',
  'rms_norm_eps',
  'rope_local_base_freq',
  'rope_theta',
  'rotary_emb_base',
  'rotary_pct',
  'short_factor',
  'softmax_scale',
]);

function configText(config: HubCheckpoint['config']): string {
  const float = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(float);
    return Number.isInteger(value) ? `\u0000${(value as number).toFixed(1)}` : value;
  };
  const text = JSON.stringify(config, (key, value: unknown) => (floats.has(key) ? float(value) : value), 2);
  return `${text.replaceAll(/"\\u0000(-?\d+\.0)"/g, '$1')}\n`;
}

function readShards(folder: string, index: string): Map<string, HostTensor> {
  const { weight_map: files } = readObject(index);
  if (!isObject(files) || Object.values(files).some((file) => typeof file !== 'string' || basename(file) !== file))
    throw new PosencError(`"${index}" has no "weight_map" from tensors to files beside it: download it again`);
  const tensors = new Map<string, HostTensor>();
  for (const file of new Set(Object.values(files) as string[]))
    for (const [name, tensor] of readSafetensors(join(folder, file)).tensors) tensors.set(name, tensor);
  const missing = Object.keys(files).find((name) => !tensors.has(name));
  if (missing !== undefined)
    throw new PosencError(`"${index}" promises a tensor "${missing}" in "${files[missing]}", which is not there`);
  return tensors;
}

function readObject(path: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw fileError(error, 'read', path);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new PosencError(`"${path}" is not JSON: it was damaged; copy or download it again`);
  }
  if (!isObject(value)) throw new PosencError(`"${path}" is not a JSON object; copy or download it again`);
  return value;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
