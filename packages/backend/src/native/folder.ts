/** Where posenc keeps what it installed and measured on this machine: never inside a project. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import * as tf from '@tensorflow/tfjs';

/** The backends that are native bindings of TensorFlow, on the CPU and on CUDA. */
export type NativeName = 'tensorflow' | 'tensorflow-gpu';

/** `POSENC_HOME`; else `posenc` in the user's data folder (`XDG_DATA_HOME`, `LOCALAPPDATA` on Windows, `~/.local/share`). */
export function dataFolder(env: Readonly<NodeJS.ProcessEnv> = process.env): string {
  if (env.POSENC_HOME) return resolve(env.POSENC_HOME);
  if (env.XDG_DATA_HOME) return resolve(env.XDG_DATA_HOME, 'posenc');
  if (process.platform === 'win32' && env.LOCALAPPDATA) return join(env.LOCALAPPDATA, 'posenc');
  return join(homedir(), '.local', 'share', 'posenc');
}

/** The folder of one native backend: of one tfjs version, because kernels and engine must be of one. */
export const nativeFolder = (name: NativeName, home: string = dataFolder()): string =>
  join(home, `${name}-${tf.version['tfjs-core']}`);
