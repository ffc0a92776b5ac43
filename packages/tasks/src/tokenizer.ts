/** From text to token ids and back: one token per character (Unicode code point), per byte of UTF-8, or per piece of text. */
import { PosencError, parseConfig, z } from '@posenc/core';

/** Text to token ids and back. */
export interface Tokenizer {
  /** What each id stands for; its length is the model's vocabSize. */
  readonly vocabulary: readonly string[];
  /** Throws PosencError naming the character and its place when it is not in the vocabulary. */
  encode(text: string): Int32Array;
  /** Throws PosencError for an id outside the vocabulary. */
  decode(ids: ArrayLike<number>): string;
  toJSON(): TokenizerJSON;
}

const characters = z
  .array(z.string().refine((c) => [...c].length === 1, 'one character each'))
  .min(1)
  .refine((list) => new Set(list).size === list.length, 'a character occurs twice');
const pieces = z
  .array(z.string().min(1))
  .min(1)
  .refine((list) => new Set(list).size === list.length, 'a piece occurs twice');
const schema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('char'), vocabulary: characters }),
  z.strictObject({ type: z.literal('byte') }),
  z.strictObject({ type: z.literal('piece'), vocabulary: pieces }),
]);

/** A tokenizer as it is kept in checkpoints. */
export type TokenizerJSON = z.output<typeof schema>;

/** Inverse of `toJSON`. Throws PosencError when the value is no tokenizer; `where` says whose it is. */
export function tokenizerFromJSON(value: unknown, where = 'tokenizer'): Tokenizer {
  const json = parseConfig(schema, value, where);
  if (json.type === 'byte') return byteTokenizer();
  return json.type === 'char' ? charTokenizer(json.vocabulary) : pieceTokenizer(json.vocabulary);
}

/** The distinct characters of a text by code point. */
export const charactersOf = (text: string): string[] =>
  [...new Set(text)].sort((a, b) => a.codePointAt(0)! - b.codePointAt(0)!);

/** One token per character of `vocabulary` (code points: an emoji is one, a combining accent one of its own). */
export function charTokenizer(vocabulary: readonly string[]): Tokenizer {
  const ids = new Map(vocabulary.map((character, id) => [character, id]));
  return {
    vocabulary,
    encode(text) {
      const encoded = new Int32Array(text.length);
      let n = 0;
      for (const character of text) {
        const id = ids.get(character);
        if (id === undefined) throw new PosencError(unknownCharacter(character, n, vocabulary));
        encoded[n++] = id;
      }
      return encoded.slice(0, n);
    },
    decode: (given) => Array.from(given, (id) => vocabulary[checkId(id, vocabulary.length)]!).join(''),
    toJSON: () => ({ type: 'char', vocabulary: [...vocabulary] }),
  };
}

/** The 256 bytes of UTF-8: no text is out of vocabulary. Bytes that form no character decode to U+FFFD. */
export function byteTokenizer(): Tokenizer {
  const vocabulary = Array.from({ length: 256 }, (_, byte) =>
    byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
  );
  return {
    vocabulary,
    encode: (text) => Int32Array.from(new TextEncoder().encode(text)),
    decode: (given) =>
      new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(given, (id) => checkId(id, 256))),
    toJSON: () => ({ type: 'byte' }),
  };
}

/** One token per piece: words with the space before them, whole phrases, single characters. The longest piece that fits is taken. */
export function pieceTokenizer(vocabulary: readonly string[]): Tokenizer {
  const ids = new Map(vocabulary.map((piece, id) => [piece, id]));
  const lengths = [...new Set(vocabulary.map((piece) => piece.length))].sort((a, b) => b - a);
  const idAt = (text: string, offset: number): [id: number, length: number] => {
    for (const length of lengths) {
      const id = ids.get(text.slice(offset, offset + length));
      if (id !== undefined && offset + length <= text.length) return [id, length];
    }
    throw new PosencError(
      `the text ${JSON.stringify(text.slice(offset, offset + 20))} at offset ${offset} begins with no piece of the vocabulary: ${listed(vocabulary)}; change it`,
    );
  };
  return {
    vocabulary,
    encode(text) {
      const encoded = [];
      for (let offset = 0; offset < text.length; ) {
        const [id, length] = idAt(text, offset);
        encoded.push(id);
        offset += length;
      }
      return Int32Array.from(encoded);
    },
    decode: (given) => Array.from(given, (id) => vocabulary[checkId(id, vocabulary.length)]!).join(''),
    toJSON: () => ({ type: 'piece', vocabulary: [...vocabulary] }),
  };
}

function checkId(id: number, size: number): number {
  if (!Number.isInteger(id) || id < 0 || id >= size)
    throw new PosencError(`token id ${id} is outside the vocabulary: allowed are 0 to ${size - 1}`);
  return id;
}

function unknownCharacter(character: string, offset: number, vocabulary: readonly string[]): string {
  const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  const known = JSON.stringify(vocabulary.slice(0, 100).join(''));
  const more = vocabulary.length > 100 ? ` and ${vocabulary.length - 100} more` : '';
  return `character ${JSON.stringify(character)} (U+${code}) at offset ${offset} is not in the vocabulary: allowed are the ${vocabulary.length} characters ${known}${more}; remove or replace it`;
}

function listed(pieces: readonly string[]): string {
  const more = pieces.length > 100 ? ` and ${pieces.length - 100} more` : '';
  return `allowed are the ${pieces.length} pieces ${pieces
    .slice(0, 100)
    .map((piece) => JSON.stringify(piece))
    .join(' ')}${more}`;
}
