/** docs/data/why-positions.json: what the page shows of untrained transformers, measured by `npm run why-positions`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseConfig, z } from '@posenc/core';
import { docs } from '../map/data.ts';
import { adjacencyByLevel, type Setting, varianceByPosition } from './at-init.ts';

const numbers = z.array(z.number());
const schema = z.strictObject({
  /** By level: embeddings, then the layers. */
  adjacency: z.strictObject({ causal: numbers, bidirectional: numbers, fourSymbols: numbers }),
  /** By position, as a share of the first. */
  variance: z.strictObject({ causal: numbers, bidirectional: numbers }),
});
export type Measurements = z.infer<typeof schema>;

export const measurementsFile = join(docs, 'data', 'why-positions.json');
export const readMeasurements = (): Measurements =>
  parseConfig(schema, JSON.parse(readFileSync(measurementsFile, 'utf8')), 'docs/data/why-positions.json');

const samples = 32;
/** Tokens drawn evenly from all 96, 22 in a row. */
export const random: Setting = { causal: true, numLayers: 6, length: 22, symbols: 96, samples };
export const fourSymbols: Setting = { ...random, length: 16, symbols: 4 };
/** No token twice, 64 in a row. */
export const distinct: Setting = { ...random, length: 64, symbols: 'distinct' };

export function measureAll(): Measurements {
  const seeds = [1, 2, 3, 4, 5];
  const few = seeds.slice(0, 3);
  return {
    adjacency: {
      causal: rounded(adjacencyByLevel(random, seeds)),
      bidirectional: rounded(adjacencyByLevel({ ...random, causal: false }, seeds)),
      fourSymbols: rounded(adjacencyByLevel(fourSymbols, seeds)),
    },
    variance: {
      causal: rounded(varianceByPosition(distinct, few)),
      bidirectional: rounded(varianceByPosition({ ...distinct, causal: false }, few)),
    },
  };
}

const rounded = (values: readonly number[]) => values.map((value) => Math.round(value * 1e4) / 1e4);
