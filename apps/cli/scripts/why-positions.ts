/** Measures untrained transformers (a minute or two), draws the pictures and fills in the numbers of docs/why-positions.md. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useBackend } from '@posenc/backend';
import { docs, readMeasured } from './map/data.ts';
import { drawings, similarities } from './why-positions/figures.ts';
import { measureAll, measurementsFile } from './why-positions/measurements.ts';
import { withMeasurements } from './why-positions/page.ts';

await useBackend('simd');
const measurements = measureAll();
writeFileSync(measurementsFile, `${JSON.stringify(measurements, undefined, 2)}\n`);
mkdirSync(join(docs, 'figures'), { recursive: true });
for (const [name, svg] of Object.entries({ ...drawings(measurements), ...similarities() }))
  writeFileSync(join(docs, 'figures', name), svg);

const page = join(docs, 'why-positions.md');
writeFileSync(page, withMeasurements(readFileSync(page, 'utf8'), measurements, readMeasured()));
