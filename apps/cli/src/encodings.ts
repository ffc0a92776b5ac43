/** The encodings that come with posenc. This file is the only one that names them. */
import { alibi } from '@posenc/alibi';
import { type AnyEncoding, createRegistry, type Registry } from '@posenc/core';
import { learned } from '@posenc/learned';
import { nope } from '@posenc/nope';
import { rope } from '@posenc/rope';
import { sinusoidal } from '@posenc/sinusoidal';
import { t5 } from '@posenc/t5';

export const builtIn = [sinusoidal, learned, t5, alibi, rope, nope] as const;

/** The built-in encodings and, after them, others. Throws PosencError when two have the same type. */
export const registryWith = (others: readonly AnyEncoding[] = []): Registry => createRegistry([...builtIn, ...others]);
