/** What docs/map.md says that no encoding can say about itself: docs/data/map.json, checked as it is read. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { holes, parseConfig, z } from '@posenc/core';

export const root = fileURLToPath(new URL('../../../..', import.meta.url));
export const docs = join(root, 'docs');

const link = z.url({ protocol: /^https$/ });
const claim = z.strictObject({ says: z.string(), by: z.string(), link });
const schema = z.strictObject({
  /** The stack that parameters are counted for. */
  stack: z.strictObject({ modelDim: z.int(), numLayers: z.int(), numHeads: z.int(), causal: z.boolean() }),
  /** What filling a hole costs. */
  holeCosts: z.record(z.enum(holes), z.strictObject({ order: z.string(), meaning: z.string() })),
  encodings: z.record(
    z.string(),
    z.strictObject({ idea: z.string(), cost: z.string(), claims: z.array(claim).min(1) }),
  ),
  models: z.array(
    z.strictObject({
      name: z.string(),
      year: z.int(),
      encodings: z.array(z.string()).min(1),
      how: z.string(),
      link,
    }),
  ),
  notBuilt: z.array(z.strictObject({ family: z.string(), example: z.string(), link, why: z.string() })),
  wouldFit: z.array(
    z.strictObject({ name: z.string(), idea: z.string(), holes: z.array(z.enum(holes)), how: z.string(), link }),
  ),
});

export type MapData = z.infer<typeof schema>;

const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

/** Throws PosencError when the file says too little, too much or something else. */
export const readMapData = (): MapData =>
  parseConfig(schema, json(join(docs, 'data', 'map.json')), 'docs/data/map.json');

const mean = z.strictObject({ mean: z.number(), sd: z.number(), n: z.int() });
const measuredSchema = z.strictObject({
  command: z.string(),
  environment: z.strictObject({ backend: z.string(), commit: z.string(), node: z.string(), finished: z.string() }),
  trained: z.strictObject({
    length: z.int(),
    steps: z.int(),
    batchSize: z.int(),
    seeds: z.int(),
    modelDim: z.int(),
    numLayers: z.int(),
    numHeads: z.int(),
  }),
  unigram: z.number(),
  bigram: z.number(),
  rows: z.array(
    z.strictObject({
      name: z.string(),
      trainedAs: z.string(),
      encoding: z.looseObject({ type: z.string() }),
      cells: z.array(z.strictObject({ length: z.int(), status: z.string(), loss: mean.optional() })),
      shuffled: mean.optional(),
    }),
  ),
});

/** The demo’s results, as little of them as the pages show. */
export type Measured = z.infer<typeof measuredSchema>;
export type MeasuredRow = Measured['rows'][number];

export const measuredFile = join(docs, 'measured.json');
/** Throws PosencError when a value is missing or of another kind. */
export const checkMeasured = (value: unknown, where: string): Measured => parseConfig(measuredSchema, value, where);
export const readMeasured = (): Measured => checkMeasured(json(measuredFile), 'docs/measured.json');
