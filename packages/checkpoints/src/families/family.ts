/**
 * What a family of Hugging Face models is: a mapping, in both directions, between its config.json and a config of the shared
 * transformer and of an encoding, and between its tensors' names and our parameter paths. Nothing else knows a family's name.
 */
import { type ModelConfig, type ModelInput, parseConfig, type z } from '@posenc/core';
import type { Binding } from '../binding.ts';

/** An encoding's config as JSON; a registry checks it and creates the encoding. */
export interface EncodingJson {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** What a config.json says, in our words. */
export interface Reading {
  readonly model: ModelInput;
  readonly encoding: EncodingJson;
}

/** A family of Hugging Face models, as a mapping from its config.json and tensors to the shared transformer and back. */
export interface Family {
  /** `model_type` in config.json. */
  readonly name: string;
  /** The class with the head that is read and written, as in `architectures`. */
  readonly architecture: string;
  /** Where this family differs from what one would guess. */
  readonly notes: readonly string[];
  /** `type` of the encodings that config.json can express. */
  readonly encodings: readonly string[];
  /** Checks a config.json. Throws PosencError for what is missing, wrong, or asks for what the shared transformer lacks. */
  read(config: unknown, where: string): Reading;
  /** The keys of config.json for a model that this family can express (the caller checks that it can, by reading them). */
  write(model: ModelConfig, encoding: EncodingJson): Record<string, unknown>;
  /** May include parameters that only some of its models have (biases, an untied head). */
  bindings(model: ModelConfig): Binding[];
  readonly names: Names;
  /** Older or other names of keys in config.json. */
  readonly aliases: Readonly<Record<string, string>>;
}

/** How checkpoints of this family differ in their tensors' names. */
export interface Names {
  /** Left out in files of the bare model. */
  readonly prefix?: string;
  /** Older spellings. */
  readonly renamed?: readonly (readonly [pattern: RegExp, replacement: string])[];
  /** Stored, and deliberately not used. */
  readonly ignored?: readonly (readonly [pattern: RegExp, reason: string])[];
  /** Stored twice: must equal the other one. */
  readonly copies?: Readonly<Record<string, string>>;
  /** The output head's weight. A file that has it, with other numbers than the token embedding's, is not tied whatever its config says. */
  readonly head?: string;
}

/** `Family` with the config's schema, from which `read` takes its types. */
export interface FamilyDefinition<Config> extends Omit<Family, 'read' | 'aliases'> {
  readonly config: z.ZodType<Config>;
  readonly aliases?: Family['aliases'];
  read(config: Config): Reading;
}

export function defineFamily<Config>({ config: schema, aliases = {}, ...family }: FamilyDefinition<Config>): Family {
  return {
    ...family,
    aliases,
    read: (config, where) => {
      const keys = config as Readonly<Record<string, unknown>>;
      const renamed = Object.entries(keys).map(([key, value]) => [aliases[key] ?? key, value]);
      return family.read(parseConfig(schema, Object.fromEntries(renamed), where));
    },
  };
}
