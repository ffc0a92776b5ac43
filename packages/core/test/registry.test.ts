import * as tf from '@tensorflow/tfjs';
import { describe, expect, it } from 'vitest';
import {
  createRegistry,
  defineEncoding,
  dimsOf,
  type EncodingConfig,
  encoding,
  layerOf,
  layersPerMember,
  PosencError,
  parseConfig,
  range,
  resolveModel,
  type Site,
  z,
} from '../src/index.ts';
import { content, model, nothing, ramp, slope, traits, turn } from './fixtures.ts';

const registry = createRegistry([nothing, ramp, turn, slope, content]);
const refused = (value: unknown, message: string | RegExp) => {
  expect(() => registry.parse(value, 'suite.json')).toThrow(PosencError);
  expect(() => registry.parse(value, 'suite.json')).toThrow(message);
};

describe('registry', () => {
  it('fills in defaults, at any depth, and what it parses round-trips', () => {
    const parsed = registry.parse({
      type: 'perLayer',
      of: [{ type: 'turn' }, { type: 'compose', of: [{ type: 'slope' }] }],
      pattern: [0, 1],
    });
    expect(parsed).toEqual({
      type: 'perLayer',
      of: [
        { type: 'turn', speed: 1 },
        { type: 'compose', of: [{ type: 'slope' }] },
      ],
      pattern: [0, 1],
    });
    expect(registry.parse(JSON.parse(JSON.stringify(parsed)))).toEqual(parsed);
    expect(registry.create(parsed, dimsOf(model())).params).toHaveProperty(['1.0.slopes']);
  });

  it('infers the union of its configs', () => {
    const config: EncodingConfig<typeof turn | typeof ramp> = { type: 'turn', speed: 2 };
    expect(config.speed).toBe(2);
  });

  it('says why a type is not built, where an encoding knows, instead of what is near', () => {
    const known = createRegistry([{ ...turn, notBuilt: { tturn: '"tturn" turns twice' } }]);
    const parse = (type: string) => () => known.parse({ type }, 'suite.json');
    expect(parse('TTurn')).toThrow('no encoding is called "TTurn": "tturn" turns twice (known: turn');
    expect(parse('turns')).toThrow('did you mean "turn"?');
    expect(parse('constructor')).toThrow('no encoding is called "constructor": allowed: turn');
  });

  it('says what is wrong, where, and what is near', () => {
    refused(
      { type: 'trun' },
      'suite.json: no encoding is called "trun": did you mean "turn"? (known: nothing, ramp, turn, slope, content, compose, perLayer)',
    );
    refused({ type: 'turn', sped: 2 }, 'suite.json (turn): unknown key "sped": did you mean "speed"?');
    refused({ type: 'nothing', speed: 2 }, 'suite.json (nothing): unknown key "speed": no keys are allowed here');
    refused({ type: 'turn', speed: 'fast' }, 'suite.json (turn): "speed" is "fast": expected number, received string');
    refused(
      { type: 'compose', of: [{ type: 'ramp', numPositions: 1.5 }] },
      /suite\.json\.of\[0\] \(ramp\): "numPositions" is 1\.5/,
    );
    refused({ type: 'compose', of: [] }, /"of" is \[\]: .*>=1/);
    refused({ type: 'perLayer', of: [{ type: 'turn' }] }, /"pattern" is missing/);
    refused({}, /"type" is missing: expected the name of an encoding/);
    refused('rope', /is "rope": expected object/);
    refused(null, /is null/);
    expect(() => registry.create({ type: 'content' }, dimsOf(model({ causal: false })))).toThrow(
      /"content" needs a causal stack/,
    );
    expect(() => createRegistry([turn, turn])).toThrow(/two encodings are called "turn"/);
  });

  it('describes its configs as JSON Schema', () => {
    const schema = registry.jsonSchema() as {
      $defs: { encoding: { oneOf: { properties: { type: { const: string } }; additionalProperties: boolean }[] } };
    };
    const { oneOf } = schema.$defs.encoding;
    expect(oneOf.map((option) => option.properties.type.const)).toEqual([
      'nothing',
      'ramp',
      'turn',
      'slope',
      'content',
      'compose',
      'perLayer',
    ]);
    expect(oneOf.every((option) => option.additionalProperties === false)).toBe(true);
  });
});

describe('parseConfig', () => {
  const schema = z.strictObject({
    inner: z.strictObject({ depth: z.number().optional() }).default({}),
    list: z.array(z.strictObject({ width: z.number() })).default([]),
  });
  it('finds the nearest key inside nested objects and lists', () => {
    expect(() => parseConfig(schema, { inner: { dept: 1 } }, 'x')).toThrow(
      'x: unknown key "dept" in "inner": did you mean "depth"?',
    );
    expect(() => parseConfig(schema, { list: [{ width: 1 }, { width: 1, colour: 2 }] }, 'x')).toThrow(
      'x: unknown key "colour" in "list.1": allowed: width',
    );
  });
  it('lists several problems at once', () => {
    expect(() => parseConfig(schema, { inner: 3, other: 1 }, 'x')).toThrow(
      /^x:\n {2}- .*inner.*\n {2}- unknown key "other"/,
    );
  });
});

describe('resolveModel', () => {
  const base = { vocabSize: 8, modelDim: 12, numLayers: 1, numHeads: 3 };
  it('fills in what follows from the rest', () => {
    expect(resolveModel(base)).toMatchObject({
      numKvHeads: 3,
      headDim: 4,
      mlpDim: 48,
      embeddingDim: 12,
      scoreScale: 0.5,
      causal: true,
    });
    expect(resolveModel({ ...base, headDim: 16, embeddingScale: 'sqrtModelDim' })).toMatchObject({
      scoreScale: 0.25,
      embeddingScale: Math.sqrt(12),
    });
  });
  it.each<[object, string | RegExp]>([
    [{ numHeads: 5 }, 'model: modelDim 12 is not divisible by numHeads 5'],
    [{ numKvHeads: 2 }, 'numHeads 3 is not a multiple of numKvHeads 2'],
    [{ numLayers: 0 }, /"numLayers" is 0/],
    [{ numLayer: 2 }, 'unknown key "numLayer": did you mean "numLayers"?'],
    [{ activation: 'rleu' }, /"activation" is "rleu": .*relu/],
    [{ embeddingScale: -1 }, /"embeddingScale" is -1/],
  ])('refuses %j', (change, message) => {
    expect(() => resolveModel({ ...base, ...change })).toThrow(message);
  });
});

describe('perLayer', () => {
  /** One trained number per layer. */
  const own = defineEncoding({
    contract: 1,
    type: 'own',
    reference: 'test',
    equation: 'test',
    notes: [],
    config: z.strictObject({}),
    create: (_, { numLayers }) =>
      encoding({
        traits,
        params: { numbers: { shape: [numLayers, 1], init: { kind: 'constant', value: 0 } } },
        hooks:
          ({ numbers }) =>
          () => ({ layer: (index) => ({ bias: () => layerOf(numbers, index).reshape([1, 1, 1, 1]) }) }),
      }),
  });
  const pattern = [0, 1, 1];
  const config = { type: 'perLayer' as const, of: [{ type: 'own' as const }, { type: 'own' as const }], pattern };
  const created = (numLayers: number) => createRegistry([own]).create(config, { ...dimsOf(model()), numLayers });
  const shapes = (numLayers: number) => Object.values(created(numLayers).params).map(({ shape }) => shape);

  it('gives each member parameters for the layers that it serves, and no others', () => {
    expect(shapes(7)).toEqual([
      [3, 1],
      [4, 1],
    ]);
    expect(layersPerMember(2, pattern, 7)).toEqual([3, 4]);
  });

  it('creates a member that the stack is too shallow to use all the same', () => {
    expect(shapes(1)).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });

  it('numbers a member’s layers by itself', () => {
    const params = { '0.numbers': tf.tensor2d([[1], [2], [3]]), '1.numbers': tf.tensor2d([[10], [20], [30], [40]]) };
    const at = { query: range(1), key: range(1), seqLen: range(1, 1) };
    const hooks = created(7).hooks(params)(at);
    const site = { q: tf.zeros([1, 2, 1, 4]) } as Partial<Site> as Site;
    const values = Array.from({ length: 7 }, (_, l) => hooks.layer!(l).bias!(site).dataSync()[0]);
    expect(values).toEqual([1, 10, 20, 2, 30, 40, 3]);
  });
});
