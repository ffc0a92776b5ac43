/** Every family that can be read and written. A further one is a file here and a line below. */
import { PosencError } from '@posenc/core';
import { bert } from './bert.ts';
import { bloom } from './bloom.ts';
import { cohere } from './cohere.ts';
import { cohere2 } from './cohere2.ts';
import { debertaV2 } from './deberta-v2.ts';
import { esm } from './esm.ts';
import { falcon } from './falcon.ts';
import type { Family } from './family.ts';
import { gemma } from './gemma.ts';
import { gemma2 } from './gemma2.ts';
import { gemma3 } from './gemma3.ts';
import { gptNeo } from './gpt-neo.ts';
import { gptNeox } from './gpt-neox.ts';
import { gpt2 } from './gpt2.ts';
import { gptj } from './gptj.ts';
import { llama } from './llama.ts';
import { mistral } from './mistral.ts';
import { modernbert } from './modernbert.ts';
import { mpt } from './mpt.ts';
import { olmo2 } from './olmo2.ts';
import { opt } from './opt.ts';
import { phi } from './phi.ts';
import { phi3 } from './phi3.ts';
import { qwen2 } from './qwen2.ts';
import { qwen3 } from './qwen3.ts';
import { roberta } from './roberta.ts';
import { roformer } from './roformer.ts';
import { smollm3 } from './smollm3.ts';
import { stablelm } from './stablelm.ts';
import { xlnet } from './xlnet.ts';

/** Every family that can be read and written. */
export const families: readonly Family[] = [
  bert,
  bloom,
  cohere,
  cohere2,
  debertaV2,
  esm,
  falcon,
  gemma,
  gemma2,
  gemma3,
  gptNeo,
  gptNeox,
  gpt2,
  gptj,
  llama,
  mistral,
  modernbert,
  mpt,
  olmo2,
  opt,
  phi,
  phi3,
  qwen2,
  qwen3,
  roberta,
  roformer,
  smollm3,
  stablelm,
  xlnet,
];

const supported = `supported: ${families.map(({ name }) => name).join(', ')}`;

/** The family of a config.json. Throws PosencError naming the supported ones. */
export function familyOf(config: unknown, where = 'config.json'): Family {
  const type = isObject(config) ? config.model_type : undefined;
  if (typeof type !== 'string')
    throw new PosencError(
      `${where} has no "model_type": it is not the config.json of a Hugging Face model (${supported})`,
    );
  return familyNamed(type, `${where}: `);
}

/** Throws PosencError naming the supported ones. */
export function familyNamed(type: string, where = ''): Family {
  const family = families.find(({ name }) => name === type);
  if (!family) throw new PosencError(`${where}model_type ${JSON.stringify(type)} is not supported; ${supported}`);
  return family;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
