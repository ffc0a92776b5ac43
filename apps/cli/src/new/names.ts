/** The names of a new encoding: in configs, in code, in prose. */
import { PosencError } from '@posenc/core';
import { registryWith } from '../encodings.ts';
import { isUsed } from './files.ts';

export interface Names {
  /** `log-distance`: in JSON, and of the package and the file. */
  readonly type: string;
  /** `logDistance`: of the constant that is exported. */
  readonly constant: string;
  /** `LogDistance`: starts the name of its types. */
  readonly pascal: string;
  /** `Log distance`: starts a sentence. */
  readonly title: string;
}

/** Long enough to say what it is, short enough for the lines that a new encoding starts with. */
export const longestName = 32;

const keywords =
  'arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield undefined';
const algebra = ['compose', 'per-layer'];

/** All names that follow from one. Throws PosencError when it is not a name, or one that posenc or JavaScript has taken. */
export function namesOf(name: string): Names {
  const words = name.split('-');
  const refuse = (why: string): never => {
    throw new PosencError(`"${name}" cannot be the name of an encoding: ${why}`);
  };
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) {
    const close = kebab(name);
    refuse(
      `it must be lower-case words of letters and digits, joined by single hyphens, the first letter a letter${close ? `; for example ${close}` : ''}`,
    );
  }
  if (name.length > longestName) refuse(`it has ${name.length} characters, and ${longestName} are allowed`);
  if (registryWith().plugins.some(({ type }) => type === name) || algebra.includes(name))
    refuse('posenc brings an encoding of that name; see posenc list');
  if (keywords.split(' ').includes(name)) refuse('it is a word of JavaScript; add another word to it');
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
  const pascal = words.map(capital).join('');
  const constant = pascal.charAt(0).toLowerCase() + pascal.slice(1);
  if (isUsed(constant)) refuse(`the code it would start with uses the word ${constant}; add another one to it`);
  return { type: name, constant, pascal, title: capital(words.join(' ')) };
}

/** What may have been meant: `My_Encoding` and `myEncoding` → `my-encoding`. Empty when nothing is left of it. */
const kebab = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, longestName);
