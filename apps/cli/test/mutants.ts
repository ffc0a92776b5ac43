/** JSON documents gone wrong: what hands, editors and other programs do to a config. As text, for some of it is no value of JavaScript. */
import fc from 'fast-check';

/** Text that stands in the document as it is. */
class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Node = Record<string, unknown> | unknown[];

interface Mutation {
  readonly place: number;
  readonly kind: 'delete' | 'rename' | 'replace' | 'wrap' | 'add' | 'double' | 'swap' | 'text' | 'number';
  readonly key: string;
  readonly value: unknown;
}

const nested = (depth: number) => new Raw('['.repeat(depth) + ']'.repeat(depth));
const members = (depth: number) =>
  new Raw(`${'{"type":"compose","of":['.repeat(depth)}{"type":"nope"}${']}'.repeat(depth)}`);

const oddNumbers = [
  ...[
    0,
    -0,
    -1,
    1,
    2,
    3,
    0.5,
    1e-320,
    7919,
    65537,
    1e6,
    1e9,
    2 ** 31,
    2 ** 32,
    2 ** 53,
    1e21,
    1e300,
    1.7e308,
    -1e9,
    -1e308,
  ],
  ...['1e999', '-1e999', 'NaN', 'Infinity', '00', '0x10', '1_000', '-', '.5', '123456789012345678901234567890'].map(
    (text) => new Raw(text),
  ),
];
const oddTexts = [
  '',
  ' ',
  'NaN',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'rope',
  'nope',
  'compose',
  'auto',
  '../..',
  '/dev/zero',
  'é\u0000\ud800',
  '👩‍👩‍👧',
  'x'.repeat(100_000),
];
const oddThings = [
  ...[null, true, false, [], {}, [[]], [null], [0], [{}], { type: 'rope' }, { type: 'compose', of: [] }],
  ...[{ type: { type: 'rope' } }, Array(1000).fill(0), Array(1000).fill({ type: 'nope' })],
  ...[nested(50), nested(5000), nested(100_000), members(20), members(3000)],
  ...[
    '{"__proto__":{"type":"rope"}}',
    '{"constructor":{"prototype":{}}}',
    'undefined',
    "'rope'",
    '{',
    ']',
    '/* */',
    '{"a":1,"a":2}',
  ].map((text) => new Raw(text)),
];
const oddKeys = [
  '',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'length',
  'type',
  'of',
  'extra',
  'x'.repeat(10_000),
];

const mutation: fc.Arbitrary<Mutation> = fc.record({
  place: fc.nat(10_000),
  kind: fc.constantFrom<Mutation['kind'][]>(
    'delete',
    'rename',
    'replace',
    'replace',
    'number',
    'number',
    'number',
    'wrap',
    'add',
    'double',
    'swap',
    'text',
  ),
  key: fc.oneof(fc.constantFrom(...oddKeys), fc.string()),
  value: fc.oneof(
    fc.constantFrom<unknown>(...oddNumbers),
    fc.constantFrom<unknown>(...oddTexts),
    fc.constantFrom<unknown>(...oddThings),
    fc.jsonValue({ maxDepth: 2 }),
    fc.integer({ min: -5, max: 300 }),
    fc.double(),
  ),
});

/** Texts of mutated documents, each a few mutations away from one of `documents`. */
export const mutants = (documents: readonly object[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...documents), fc.array(mutation, { minLength: 1, maxLength: 3 }))
    .map(([document, mutations]) => mutations.reduce(mutate, { root: structuredClone(document) as unknown }))
    .map(({ root }) => textOf(root));

function mutate(holder: { root: unknown }, { place, kind, key, value }: Mutation): { root: unknown } {
  const places: [parent: Node, key: string | number][] = [[holder, 'root']];
  const collect = (node: unknown) => {
    if (typeof node !== 'object' || node === null || node instanceof Raw) return;
    for (const name of Object.keys(node)) places.push([node as Node, name]);
    for (const child of Object.values(node).slice(0, 50)) collect(child);
  };
  collect(holder.root);
  const [parent, name] = places[place % places.length]! as [Record<string | number, unknown>, string];
  const old = parent[name];
  // A key such as __proto__ must become a key, not a prototype.
  const put = (node: object, k: string, v: unknown) =>
    void Object.defineProperty(node, k, { value: copyOf(v), enumerable: true, configurable: true, writable: true });
  if (kind === 'delete' && parent !== holder)
    Array.isArray(parent) ? parent.splice(Number(name), 1) : delete parent[name];
  else if (kind === 'rename' && parent !== holder && !Array.isArray(parent)) {
    delete parent[name];
    put(parent, key || name.slice(1) + name.slice(0, 1), old);
  } else if (kind === 'wrap') put(parent, name, [old]);
  else if (kind === 'add' && typeof old === 'object' && old !== null && !Array.isArray(old)) put(old, key, value);
  else if (kind === 'double' && Array.isArray(old)) put(parent, name, [...old, ...old]);
  else if (kind === 'swap') put(parent, name, valueAt(places[(place * 31 + 7) % places.length]!));
  else if (kind === 'number') {
    const numbers = places.filter(([holding, at]) => typeof (holding as Record<string, unknown>)[at] === 'number');
    const [holding, at] = numbers[place % numbers.length] ?? [parent, name];
    put(holding, String(at), oddNumbers[place % oddNumbers.length]);
  } else if (kind === 'text') put(parent, name, typeof old === 'number' ? String(old) : 1);
  else put(parent, name, value);
  return holder;
}

/** Deep, so that no document holds what another one, or it itself, holds elsewhere. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== 'object' || value === null || value instanceof Raw) return value;
  const copy = {};
  for (const [key, item] of Object.entries(value))
    Object.defineProperty(copy, key, { value: copyOf(item), enumerable: true, configurable: true, writable: true });
  return copy;
}

const valueAt = ([parent, name]: [Node, string | number]): unknown => {
  const value = (parent as Record<string | number, unknown>)[name];
  return value === undefined ? null : JSON.parse(textOf(value, true));
};

/** JSON, with the raw parts as they are (`plain`: as null). */
function textOf(value: unknown, plain = false): string {
  if (value instanceof Raw) return plain ? 'null' : value.text;
  if (Array.isArray(value)) return `[${value.map((item) => textOf(item, plain)).join(',')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, item]) => `${JSON.stringify(key)}:${textOf(item, plain)}`)
      .join(',')}}`;
  if (Object.is(value, -0)) return '-0';
  return JSON.stringify(value) ?? 'null';
}
