/** Every task of this package: what a registry of tasks begins with. */
import {
  addition,
  copy,
  fixedOffset,
  indexing,
  modularAddition,
  ordering,
  parity,
  reversal,
  scan,
  sorting,
} from './synthetic/index.ts';
import { text } from './text.ts';

/** The tasks of this package: text, and the synthetic ones. A registry of them: `createTaskRegistry(builtInTasks)`. */
export const builtInTasks = [
  text,
  addition,
  reversal,
  indexing,
  ordering,
  copy,
  parity,
  sorting,
  modularAddition,
  fixedOffset,
  scan,
] as const;
