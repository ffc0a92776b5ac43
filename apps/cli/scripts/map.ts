/** Writes docs/map.md and fills in the tables of docs/why-positions.md. With the results.json of a demo run as argument, docs/measured.json first. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useBackend } from '@posenc/backend';
import type { Comparison } from '@posenc/training';
import { registryWith } from '../src/encodings.ts';
import { docs, measuredFile, readMapData, readMeasured } from './map/data.ts';
import { extract } from './map/extract.ts';
import { mapPage } from './map/page.ts';
import { readMeasurements } from './why-positions/measurements.ts';
import { withMeasurements } from './why-positions/page.ts';

const results = process.argv[2];
if (results) {
  const extracted = extract(JSON.parse(readFileSync(results, 'utf8')) as Comparison);
  writeFileSync(measuredFile, `${JSON.stringify(extracted, undefined, 2)}\n`);
}
await useBackend('cpu');
const measured = readMeasured();
writeFileSync(join(docs, 'map.md'), mapPage(registryWith(), readMapData(), measured));
const why = join(docs, 'why-positions.md');
writeFileSync(why, withMeasurements(readFileSync(why, 'utf8'), readMeasurements(), measured));
