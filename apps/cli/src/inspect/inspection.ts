/** Everything that `inspect` knows of an encoding, as plain data. */
import {
  countParams,
  type Dims,
  type EncodingConfig,
  type Hole,
  holes,
  type Init,
  type NamedTable,
  PosencError,
  type Registry,
  sizeOf,
  type Traits,
  z,
} from '@posenc/core';
import { grouped } from '../ui/numbers.ts';
import { leavesOf, nameOf, tablesOf } from './leaves.ts';
import { type Measured, measure } from './measure.ts';

export interface Inspection {
  /** With every default filled in. */
  readonly config: EncodingConfig;
  readonly dims: Dims;
  /** One for each plug-in the config uses, in order. */
  readonly parts: readonly Part[];
  readonly traits: Traits;
  readonly holes: readonly Hole[];
  readonly params: readonly { name: string; shape: readonly number[]; count: number; init: Init }[];
  readonly paramCount: number;
  readonly measured: Measured;
}

export interface Part {
  /** Its place in the config: '' for the whole, 'of[0]' … */
  readonly path: string;
  readonly type: string;
  /** The type, with the place where there are several. */
  readonly name: string;
  readonly equation: string;
  readonly reference: string;
  readonly notes: readonly string[];
  readonly options: readonly Option[];
  readonly tables: readonly NamedTable[];
}

export interface Option {
  readonly name: string;
  readonly value: unknown;
  readonly description: string;
}

/** Positions that may be asked for. */
export const positionLimits = { least: 2, most: 8192, usual: 128 } as const;

/** More numbers than this are not allocated to look at them (256 MiB). */
const mostNumbers = 2 ** 26;

/**
 * Creates the encoding for a stack, measures it at positions 0 … N − 1 (fewer when it ends before) and gathers what it says.
 * @throws PosencError when it refuses the stack, or is too large to look at
 */
export function inspect(config: EncodingConfig, registry: Registry, dims: Dims, positions: number): Inspection {
  const encoding = registry.create(config, dims);
  const paramCount = countParams(encoding.params);
  const n = Math.min(positions, encoding.traits.maxPosition);
  refuseTooMany(paramCount, 'parameters', 'a smaller modelDim in --dims, or fewer rows in the config');
  refuseTooMany(
    n * dims.embeddingDim,
    'numbers in one embedding of all positions',
    'a smaller modelDim in --dims, or fewer --positions',
  );
  refuseTooMany(
    2 * n * dims.numHeads * dims.headDim,
    'numbers in the queries of all positions',
    'fewer heads in --dims, or fewer --positions',
  );
  const parts = leavesOf(config, registry).map((leaf): Part => {
    const { type, equation, reference, notes } = leaf.plugin;
    const options = optionsOf(leaf.plugin.config, leaf.config);
    return {
      path: leaf.path,
      type,
      name: nameOf(leaf),
      equation,
      reference,
      notes,
      options,
      tables: tablesOf(leaf, dims),
    };
  });
  const measured = measure(encoding, dims, n);
  const params = Object.entries(encoding.params).map(([name, { shape, init }]) => ({
    name,
    shape,
    count: sizeOf(shape),
    init,
  }));
  const filled = holes.filter((hole) =>
    hole === 'embed' ? measured.embed !== undefined : measured.groups.some((group) => group.holes.includes(hole)),
  );
  return { config, dims, parts, traits: encoding.traits, holes: filled, params, paramCount, measured };
}

function refuseTooMany(count: number, what: string, remedy: string): void {
  if (count > mostNumbers)
    throw new PosencError(
      `this makes ${grouped(count)} ${what}, more than inspect looks at (${grouped(mostNumbers)}): use ${remedy}`,
    );
}

/** The options of a config with the schema's descriptions. */
function optionsOf(schema: z.ZodType, config: unknown): Option[] {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const values = config as Record<string, unknown>;
  return Object.entries(properties).map(([name, property]) => {
    const { description = '', ...rest } = property as JsonSchema;
    const choices = choicesOf(rest);
    return {
      name,
      value: values[name],
      description: choices ? `${description} One of ${choices.join(', ')}.`.trim() : description,
    };
  });
}

type JsonSchema = z.core.JSONSchema.JSONSchema;

/** The words a value may be, or the types of object it may be. */
function choicesOf({ enum: words, oneOf, anyOf }: JsonSchema): unknown[] | undefined {
  const types = (oneOf ?? anyOf)?.map((member) => (member.properties?.type as JsonSchema | undefined)?.const);
  if (types?.every((type) => type !== undefined)) return types;
  return words;
}

/** "rope", or "perLayer of rope, nope". */
export function titleOf({ config, parts }: Inspection): string {
  return parts.length === 1 && parts[0]!.path === ''
    ? config.type
    : `${config.type} of ${parts.map((p) => p.type).join(', ')}`;
}
