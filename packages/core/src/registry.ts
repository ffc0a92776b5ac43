/** A set of encodings known by name: parses JSON configs into them and creates them. Nothing registers itself. */
import { z } from 'zod';
import { compose, layersPerMember, perLayer } from './compose.ts';
import type { Dims, Encoding, PositionalEncoding } from './encoding.ts';
import { PosencError } from './errors.ts';
import { withShapesChecked } from './hook-shapes.ts';
import { brief, parseConfig, suggest } from './parse.ts';

/** A plug-in of whatever config. */
// biome-ignore lint/suspicious/noExplicitAny: a registry holds plug-ins of any config; each checks its own
export type AnyEncoding = PositionalEncoding<string, any>;

// An empty strict object infers as Record<string, never>, which would forbid `type` itself.
type LeafConfig<P> =
  P extends PositionalEncoding<infer Type, infer Config>
    ? { type: Type } & (Config extends Record<string, never> ? object : Config)
    : never;

/** A parsed config: one of the plug-ins' or a node of the algebra over them. */
export type EncodingConfig<P extends AnyEncoding = AnyEncoding> =
  | LeafConfig<P>
  | { type: 'compose'; of: EncodingConfig<P>[] }
  | { type: 'perLayer'; of: EncodingConfig<P>[]; pattern: number[] };

/** Encodings by type, and the nodes `compose` and `perLayer` over them. */
export interface Registry<P extends AnyEncoding = AnyEncoding> {
  readonly plugins: readonly P[];
  /** Checks a JSON value and fills in defaults. Throws PosencError naming `where`. */
  parse(value: unknown, where?: string): EncodingConfig<P>;
  /** Creates the encoding for a stack. Throws PosencError when it cannot serve it; its hooks, when they return another shape than they must. */
  create(config: EncodingConfig<P>, dims: Dims): Encoding;
  /** JSON Schema (2020-12) of all configs. */
  jsonSchema(): Record<string, unknown>;
}

/** What a plug-in says of a type that is not built, if any does. */
export function notBuilt(type: string, plugins: readonly AnyEncoding[]): string | undefined {
  const name = type.toLowerCase();
  return plugins.find((plugin) => Object.hasOwn(plugin.notBuilt ?? {}, name))?.notBuilt?.[name];
}

const node = z.object({ type: z.string({ error: 'expected the name of an encoding' }) });
const composeNode = z.strictObject({ of: z.array(z.unknown()).min(1).describe('encodings used at once') });
const perLayerNode = z.strictObject({
  of: z.array(z.unknown()).min(1).describe('encodings to choose from'),
  pattern: z.array(z.int().min(0)).min(1).describe('member of each layer; repeats'),
});
const algebra = { compose: composeNode, perLayer: perLayerNode };

/** Puts plug-ins together. Throws PosencError when two have the same type. */
export function createRegistry<const P extends AnyEncoding>(plugins: readonly P[]): Registry<P> {
  const names = [...plugins.map((p) => p.type), ...Object.keys(algebra)];
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice) throw new PosencError(`two encodings are called "${twice}": each type must be unique in a registry`);

  const find = (type: string, where: string): P => {
    const plugin = plugins.find((p) => p.type === type);
    if (!plugin)
      throw new PosencError(
        `${where}: no encoding is called "${brief(type)}": ${notBuilt(type, plugins) ?? suggest(type, names)} (known: ${names.join(', ')})`,
      );
    return plugin;
  };

  function parse(value: unknown, where = 'encoding'): EncodingConfig<P> {
    const { type } = parseConfig(node, value, where);
    const { type: _, ...rest } = value as Record<string, unknown>;
    if (type === 'compose' || type === 'perLayer') {
      const parsed = parseConfig<{ of: unknown[] }>(algebra[type], rest, `${where} (${type})`);
      return {
        type,
        ...parsed,
        of: parsed.of.map((member, i) => parse(member, `${where}.of[${i}]`)),
      } as EncodingConfig<P>;
    }
    const plugin = find(type, where);
    return {
      type,
      ...parseConfig(plugin.config as z.ZodType<object>, rest, `${where} (${type})`),
    } as EncodingConfig<P>;
  }

  function create(config: EncodingConfig<P>, dims: Dims): Encoding {
    const { type, ...rest } = config as { type: string; of?: EncodingConfig<P>[]; pattern?: number[] };
    if (type === 'compose') return compose(rest.of!.map((member) => create(member, dims)));
    if (type === 'perLayer') {
      const served = layersPerMember(rest.of!.length, rest.pattern!, dims.numLayers);
      // A member that this stack is too shallow to use is created all the same: its config is checked.
      const own = (i: number): Dims => ({ ...dims, numLayers: Math.max(1, served[i]!) });
      return perLayer(
        rest.of!.map((member, i) => create(member, own(i))),
        rest.pattern!,
        dims,
      );
    }
    const created = find(type, 'encoding').create(rest, dims);
    if (created.traits.requiresCausal && !dims.causal)
      throw new PosencError(
        `encoding "${type}" needs a causal stack, and this model is bidirectional: set "causal": true or choose another encoding`,
      );
    return withShapesChecked(created, `encoding "${type}"`, dims);
  }

  function jsonSchema(): Record<string, unknown> {
    const member = { $ref: '#/$defs/encoding' };
    const leaf = (type: string, schema: z.ZodType, extra: object = {}) => {
      const {
        $schema: _,
        properties,
        required,
        ...body
      } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Record<string, object>;
      return {
        ...body,
        properties: { type: { const: type }, ...properties, ...extra },
        required: ['type', ...((required as string[] | undefined) ?? [])],
      };
    };
    const of = { of: { type: 'array', minItems: 1, items: member } };
    return {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      ...member,
      $defs: {
        encoding: {
          oneOf: [
            ...plugins.map((p) => leaf(p.type, p.config)),
            leaf('compose', composeNode, of),
            leaf('perLayer', perLayerNode, of),
          ],
        },
      },
    };
  }

  return { plugins, parse, create, jsonSchema };
}
