/**
 * save-once FOLDER STEP CALL: saves a checkpoint and is killed (SIGKILL) at its CALL-th file system call; half of a write is
 * done first. With fewer calls than that it ends well and prints them.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const [folder, step, call] = process.argv.slice(2) as [string, string, string];
const { saveCheckpoint } = await import('../../src/index.ts');
const { stateAt, tensorsAt } = await import('./state.ts');

const calls: string[] = [];
const kill = () => process.kill(process.pid, 'SIGKILL');
for (const name of [
  'mkdirSync',
  'openSync',
  'fsyncSync',
  'closeSync',
  'renameSync',
  'unlinkSync',
  'rmSync',
  'readdirSync',
  'readFileSync',
] as const) {
  const original = fs[name] as (...args: unknown[]) => unknown;
  Object.assign(fs, {
    [name]: (...args: unknown[]) => {
      if (calls.push(name) === Number(call)) kill();
      return original(...args);
    },
  });
}
const { writeSync } = fs;
Object.assign(fs, {
  writeSync: (file: number, bytes: Uint8Array, start: number, length: number) => {
    if (calls.push('writeSync') !== Number(call)) return writeSync(file, bytes, start, length);
    writeSync(file, bytes, start, length >> 1);
    return kill();
  },
});
syncBuiltinESMExports();

saveCheckpoint(folder, Number(step), tensorsAt(Number(step)), stateAt(Number(step)));
writeSync(1, calls.join(' '));
