/**
 * Takes one file again and again until a number of rounds is done by all, and leaves it each time as a killed process would.
 * Says how often it had it, and how often somebody else was inside then.
 */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { holdFile } from '../../src/file-lock.ts';

const [path, seconds] = [process.argv[2]!, Number(process.argv[3])];
const inside = `${path}.inside`;
let [taken, met] = [0, 0];
for (const end = Date.now() + 1000 * seconds; Date.now() < end; ) {
  const hold = holdFile(path);
  if ('holder' in hold) continue;
  taken++;
  try {
    writeFileSync(inside, '', { flag: 'wx' });
  } catch {
    met++;
  }
  rmSync(inside, { force: true });
  if (!existsSync(path)) met++; // taken away while it was ours
  const corpse = `${path}.corpse-${process.pid}`;
  writeFileSync(corpse, JSON.stringify({ pid: 2147483646, host: hostname() }));
  renameSync(corpse, path);
}
process.stdout.write(JSON.stringify({ taken, met }));
