/** Laws of a plug-in as a whole: its configs, and what they mean to one another. */
import { type AnyEncoding, createTransformer, type Encoding, explicit, parseConfig, range } from '@posenc/core';
import { type Bench, columnsOf, createBench, type Logits, logitsOf, tokensFor } from '../bench.ts';
import { type Case, deviation, type LawSpec } from '../case.ts';
import type { Stack } from '../stack.ts';
import { MOVED } from '../tolerance.ts';

/** A config of the plug-in, as given and as parsed. */
export interface Configured {
  readonly given: object;
  readonly parsed: object;
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export function configLaw(plugin: AnyEncoding, given: object): LawSpec {
  const where = `${plugin.type} config`;
  return {
    law: 'config',
    statement:
      'A config is JSON: parsing fills in defaults, keeps what was given, and parsing the result again changes nothing; unknown keys, also nested and misspelt ones and `type`, are rejected by name.',
    async check(c) {
      const parse = (value: unknown) => parseConfig<object>(plugin.config, value, where);
      const parsed = parse(given) as Json;
      const compared = `the parsed config ${JSON.stringify(parsed)}`;
      const lossless =
        'values that are not JSON (undefined, NaN, functions, dates); transforms that change a value twice';
      const text = JSON.stringify(parsed);
      if (hasHoles(parsed)) c.fail(compared, 'it holds values JSON has no word for', lossless);
      const again = JSON.stringify(parse(JSON.parse(text)));
      if (again !== text) c.fail(`${compared} with what parsing it again gives`, again, lossless);
      const lost = missing(given as Json, parsed);
      if (lost)
        c.fail(
          `${compared} with what was given`,
          `"${lost}" is not in it`,
          'a key read from the wrong place, or dropped',
        );

      const hint = 'z.object instead of z.strictObject; a nested object that is not strict; `type` in the schema';
      const reject = (value: unknown, key: string) =>
        c.refused(() => parse(value), key, `parsing ${JSON.stringify(value)}`, hint);
      reject({ ...given, type: plugin.type }, 'type');
      for (const [path, object] of objectsIn(parsed as { [key: string]: Json })) {
        reject(replaceAt(parsed, path, { ...object, unknownKey: 1 }), 'unknownKey');
        for (const [key, value] of Object.entries(object))
          if (!(`${key}s` in object)) reject(replaceAt(parsed, path, { ...object, [`${key}s`]: value }), `${key}s`);
      }
    },
  };
}

function hasHoles(value: Json): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (Array.isArray(value)) return value.some(hasHoles);
  if (value !== null && typeof value === 'object') return Object.values(value).some(hasHoles);
  return !['boolean', 'string', 'object'].includes(typeof value);
}

/** Path of the first thing given that the parsed config does not hold. */
function missing(given: Json, parsed: Json | undefined, path = ''): string | undefined {
  if (given !== null && typeof given === 'object' && !Array.isArray(given))
    return Object.entries(given)
      .map(([key, value]) =>
        missing(value, (parsed as { [key: string]: Json } | undefined)?.[key], path ? `${path}.${key}` : key),
      )
      .find((lost) => lost !== undefined);
  return JSON.stringify(given) === JSON.stringify(parsed) ? undefined : path;
}

function objectsIn(value: Json, path: string[] = []): [string[], { [key: string]: Json }][] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return [];
  const inner = Object.entries(value).flatMap(([key, child]) => objectsIn(child, [...path, key]));
  return [[path, value], ...inner];
}

function replaceAt(value: Json, path: readonly string[], by: Json): Json {
  const [key, ...rest] = path;
  if (key === undefined) return by;
  const object = value as { [key: string]: Json };
  return { ...object, [key]: replaceAt(object[key]!, rest, by) };
}

/** One config put into one stack; undefined where the config cannot serve it (slopes listed for another number of heads). */
function benchOf(c: Case, plugin: AnyEncoding, { parsed }: Configured, stack: Stack): Bench | undefined {
  let encoding: Encoding;
  try {
    encoding = plugin.create(parsed, stack.dims);
    createTransformer(stack.config, encoding);
  } catch (error) {
    if ((error as Error).name === 'PosencError') return undefined;
    throw error;
  }
  return createBench(stack, encoding, c.settings.seed);
}

export function distinctConfigs(plugin: AnyEncoding, configs: readonly Configured[]): LawSpec {
  return {
    law: 'distinct configs',
    statement:
      'No two configs mean the same: they differ in traits, in parameters, or in logits, near or far apart, told a short or a long sequence.',
    async check(c) {
      const profiles = [];
      for (const config of configs) profiles.push(await profile(c, plugin, config));
      for (let i = 0; i < configs.length; i++)
        for (let j = 0; j < i; j++) {
          const [a, b] = [JSON.stringify(configs[j]!.parsed), JSON.stringify(configs[i]!.parsed)];
          if (a !== b && alike(profiles[j]!, profiles[i]!, MOVED * c.tolerance))
            c.fail(
              `${a} with ${b}`,
              'the same traits, the same parameters and the same logits',
              'an option that is parsed and never read, or read from the wrong key; a module-level cache that ignores the config',
            );
        }
    },
  };
}

interface Profile {
  readonly described: string;
  readonly logits: readonly (Logits | undefined)[];
}

async function profile(c: Case, plugin: AnyEncoding, config: Configured): Promise<Profile> {
  const described: string[] = [];
  const logits: (Logits | undefined)[] = [];
  for (const stack of Object.values(c.stacks)) {
    const bench = benchOf(c, plugin, config, stack);
    if (!bench) {
      described.push('refused');
      continue;
    }
    const { traits, params } = bench.encoding;
    described.push(JSON.stringify({ ...traits, maxPosition: `${traits.maxPosition}`, params }));
    const length = c.lengthFor(bench);
    const tokens = tokensFor(bench, 1, length);
    const stride = Math.max(1, Math.min(37, Math.floor(traits.maxPosition / length)));
    const far = explicit([Array.from({ length }, (_, t) => t * stride)]);
    logits.push(await logitsOf(bench, { tokens, positions: range(length), seqLen: length }));
    logits.push(await logitsOf(bench, { tokens, positions: far, seqLen: 2 ** 16 }));
  }
  return { described: described.join(), logits };
}

function alike(a: Profile, b: Profile, least: number): boolean {
  if (a.described !== b.described) return false;
  return a.logits.every((logits, i) => !logits || deviation(logits.data, b.logits[i]!.data).size < least);
}

/** Lengths that no other law uses, so that a cache kept between calls cannot have been filled rightly before. */
const lengths = [19, 23, 21, 25] as const;

export function independence(plugin: AnyEncoding, configs: readonly Configured[]): LawSpec {
  return {
    law: 'independence',
    statement:
      'Two encodings in one process, of other configs or for other stacks, do not change each other’s logits, whichever runs first.',
    async check(c) {
      const first = configs[0]!;
      await inEitherOrder(c, plugin, [first, first], [c.stacks.plain, c.stacks.grouped], [lengths[0], lengths[1]]);
      for (const other of configs.slice(1))
        await inEitherOrder(c, plugin, [first, other], [c.stacks.plain, c.stacks.plain], [lengths[2], lengths[3]]);
    },
  };
}

/** A before B at one length, B before A at another: the first tokens of both lengths must agree, for A and for B. */
async function inEitherOrder(
  c: Case,
  plugin: AnyEncoding,
  configs: readonly [Configured, Configured],
  stacks: readonly [Stack, Stack],
  [short, long]: readonly [number, number],
) {
  const benches = [0, 1].map((i) => benchOf(c, plugin, configs[i]!, stacks[i]!));
  if (!benches[0] || !benches[1]) return;
  const pair = benches as [Bench, Bench];
  const end = Math.min(...pair.map(({ encoding }) => encoding.traits.maxPosition));
  if (long > end) return;
  const read = (i: number, length: number) =>
    logitsOf(pair[i]!, { tokens: tokensFor(pair[i]!, 1, length), seqLen: long });
  const [firstA, secondB] = [await read(0, short), await read(1, short)];
  const [firstB, secondA] = [await read(1, long), await read(0, long)];
  const hint = 'a module-level cache whose key leaves out the config, the dims, the length or the position';
  const name = (i: number) => `${JSON.stringify(configs[i]!.parsed)} (${stacks[i]!.name})`;
  c.equal(columnsOf(secondA, 0, short), firstA, `${name(0)} after and before ${name(1)}`, hint);
  c.equal(secondB, columnsOf(firstB, 0, short), `${name(1)} after and before ${name(0)}`, hint);
}
