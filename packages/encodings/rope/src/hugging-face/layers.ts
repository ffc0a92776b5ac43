/** Which layer of a Hugging Face model has which parameters, and which has no RoPE at all. */
import { PosencError } from '@posenc/core';
import { type Family, families } from './families.ts';
import { isObject, type Json, type Source, sameJson, show } from './source.ts';

/** Raw parameters of every layer (null: no RoPE), or one for all where that is what config.json says. */
export interface Layer {
  readonly parameters: Json | null;
  readonly place: string;
  /** Base given outside the parameters: the same as inside them, if both are there. */
  readonly base?: number;
  /** Base where nothing gives one. */
  readonly defaultBase: number;
}

/** Throws PosencError when `rope_parameters` and `rope_scaling` contradict each other, or layers cannot be told apart. */
export function layersOf(config: Source, family: Family): Layer[] {
  const [key, dict] = dictOf(config);
  const place = `${config.place}, ${key}`;
  const base = config.number('rope_theta', 'rotary_emb_base', 'global_rope_theta');
  const local = config.number('rope_local_base_freq', 'local_rope_theta');
  const twoBases = local !== undefined || family.localBase !== undefined;
  const defaults = { full: family.base ?? 10000, sliding: family.localBase ?? family.base ?? 10000 };
  const byType = Object.values(dict).some(isObject);

  const ofType = (type: string | undefined): Layer => {
    if (byType) {
      const parameters = type === undefined ? undefined : dict[type];
      if (parameters === undefined)
        throw new PosencError(
          `${place}: parameters are told by layer type, and there are none for ${type ? `"${type}"` : 'this model: layer_types is missing'} (given: ${Object.keys(dict).join(', ')})`,
        );
      if (parameters !== null && !isObject(parameters))
        throw new PosencError(`${place}: "${type}" is ${show(parameters)}; expected an object, or null for no RoPE`);
      // Here the inner base wins: an outer one is left over, or for the types that have none.
      const outer = twoBases && type === 'sliding_attention' ? (local ?? defaults.sliding) : (base ?? defaults.full);
      return { parameters, place: `${place}.${type}`, defaultBase: outer };
    }
    if (!twoBases || type !== 'sliding_attention') return { parameters: dict, place, base, defaultBase: defaults.full };
    return { parameters: family.scalesFullOnly ? {} : dict, place, base: local, defaultBase: defaults.sliding };
  };

  const typed = config.has('layer_types') || family.layerType !== undefined;
  const count = numLayers(config);
  const without = layersWithout(config, family, count);
  if (count === undefined && !(byType || without || (typed && twoBases))) return [ofType(undefined)];
  if (count === undefined)
    throw new PosencError(`${config.place}: layers differ, and "num_hidden_layers" does not say how many there are`);
  const types = layerTypes(config, family, count);
  return Array.from({ length: count }, (_, l) =>
    without?.(l, types?.[l]) ? { parameters: null, place, defaultBase: defaults.full } : ofType(types?.[l]),
  );
}

function dictOf(config: Source): [key: string, dict: Json] {
  const found = ['rope_parameters', 'rope_scaling'].filter(config.has);
  for (const key of found)
    if (!isObject(config.json[key]))
      throw new PosencError(`${config.place}: "${key}" is ${show(config.json[key])}; expected an object`);
  if (found.length === 2 && !sameJson(config.json[found[0]!], config.json[found[1]!]))
    throw new PosencError(
      `${config.place}: "rope_parameters" and "rope_scaling" say different things, two spellings of one thing: keep the right one`,
    );
  const key = found[0] ?? 'rope_scaling';
  return [key, (config.json[key] ?? {}) as Json];
}

const numLayers = (config: Source): number | undefined =>
  config.list('layer_types')?.length ?? config.number('num_hidden_layers', 'n_layer', 'num_layers');

function layerTypes(config: Source, family: Family, count: number): readonly string[] | undefined {
  const told = config.list('layer_types') as readonly string[] | undefined;
  const declared = config.number('num_hidden_layers');
  if (told && declared !== undefined && told.length !== declared)
    throw new PosencError(
      `${config.place}: layer_types lists ${told.length} layers, and num_hidden_layers is ${declared}`,
    );
  if (told || !family.layerType) return told;
  return Array.from({ length: count }, (_, l) => family.layerType!(l, config));
}

type Without = (layer: number, type: string | undefined) => boolean;

function layersWithout(config: Source, family: Family, count: number | undefined): Without | undefined {
  const told = config.list('no_rope_layers');
  if (!told || (told.length === 0 && family.emptyIsDefault)) {
    const rule =
      family.withoutRope ?? (config.has('no_rope_layer_interval') ? families.smollm3!.withoutRope : undefined);
    return rule && ((layer, type) => rule(layer, config, type));
  }
  if (told.length !== count)
    throw new PosencError(
      `${config.place}: no_rope_layers lists ${told.length} layers, and the model has ${count ?? 'an unknown number'}: give one per layer (1: RoPE, 0: none)`,
    );
  const wrong = told.find((value) => value !== 0 && value !== 1 && typeof value !== 'boolean');
  if (wrong !== undefined)
    throw new PosencError(
      `${config.place}: no_rope_layers holds ${show(wrong)}; expected 1 for a layer with RoPE, 0 for one without`,
    );
  return (layer) => !told[layer];
}
