/** Every task of this package, for registries. A new task is one line here. */
import { text } from './text.ts';

export const builtInTasks = [text] as const;
