/** Saves one checkpoint after another from where the folder stands, and prints each step once it is saved. */
import { writeSync } from 'node:fs';
import { latestCheckpoint, saveCheckpoint } from '../../src/index.ts';
import { stateAt, tensorsAt } from './state.ts';

const folder = process.argv[2]!;
for (let step = (latestCheckpoint(folder)?.checkpoint.step ?? 0) + 1; ; step++) {
  saveCheckpoint(folder, step, tensorsAt(step), stateAt(step));
  writeSync(1, `${step}\n`);
}
