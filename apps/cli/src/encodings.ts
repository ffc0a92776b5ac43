/** The encodings that come with posenc. This file is the only one that names them. */
import { alibi } from '@posenc/alibi';
import { attentionTemperature } from '@posenc/attention-temperature';
import { cope } from '@posenc/cope';
import { type AnyEncoding, createRegistry, type Registry } from '@posenc/core';
import { deberta } from '@posenc/deberta';
import { fire } from '@posenc/fire';
import { fox } from '@posenc/fox';
import { kerple } from '@posenc/kerple';
import { learned } from '@posenc/learned';
import { nope } from '@posenc/nope';
import { rope } from '@posenc/rope';
import { sandwich } from '@posenc/sandwich';
import { shaw } from '@posenc/shaw';
import { sinusoidal } from '@posenc/sinusoidal';
import { t5 } from '@posenc/t5';
import { transformerXl } from '@posenc/transformer-xl';
import { xpos } from '@posenc/xpos';

/** In the order in which they are listed. */
export const builtIn = [
  sinusoidal,
  learned,
  t5,
  alibi,
  kerple,
  sandwich,
  fire,
  rope,
  nope,
  shaw,
  transformerXl,
  deberta,
  cope,
  fox,
  xpos,
  attentionTemperature,
] as const;

/** The built-in encodings and, after them, others. Throws PosencError when two have the same type. */
export const registryWith = (others: readonly AnyEncoding[] = []): Registry => createRegistry([...builtIn, ...others]);
