import { PosencError } from '@posenc/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { byteTokenizer, charactersOf, charTokenizer, pieceTokenizer, tokenizerFromJSON } from '../src/index.ts';

const refusal = (message: string) =>
  expect.objectContaining({ name: 'PosencError', message: expect.stringContaining(message) });

describe('char', () => {
  const tokenizer = charTokenizer(charactersOf('hello 🙂é\n'));

  test('one token per code point, sorted', () => {
    expect(tokenizer.vocabulary).toEqual(['\n', ' ', 'e', 'h', 'l', 'o', 'é', '🙂']);
    expect([...tokenizer.encode('hé🙂')]).toEqual([3, 6, 7]);
    expect(tokenizer.decode([3, 6, 7])).toBe('hé🙂');
  });

  test('a character that is unknown is named, with its place', () => {
    expect(() => tokenizer.encode('🙂 hexa')).toThrow(
      refusal(
        'character "x" (U+0078) at offset 4 is not in the vocabulary: allowed are the 8 characters "\\n ehloé🙂"',
      ),
    );
    expect(() => charTokenizer([...'abc'.repeat(50)].map((_, i) => String.fromCharCode(500 + i))).encode('z')).toThrow(
      refusal('and 50 more'),
    );
  });

  test.each([8, -1, 0.5, Number.NaN])('id %d is refused', (id) => {
    expect(() => tokenizer.decode([0, id])).toThrow(
      refusal(`token id ${id} is outside the vocabulary: allowed are 0 to 7`),
    );
  });

  test('any text comes back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
        const t = tokenizerFromJSON(JSON.parse(JSON.stringify(charTokenizer(charactersOf(text)))));
        expect(t.decode(t.encode(text))).toBe(text);
        expect(t.encode(text)).toHaveLength([...text].length);
      }),
      { numRuns: 300, seed: 1 },
    );
  });
});

describe('byte', () => {
  const tokenizer = byteTokenizer();

  test('the bytes of UTF-8', () => {
    expect(tokenizer.vocabulary).toHaveLength(256);
    expect([tokenizer.vocabulary[65], tokenizer.vocabulary[10], tokenizer.vocabulary[255]]).toEqual([
      'A',
      '<0x0A>',
      '<0xFF>',
    ]);
    expect([...tokenizer.encode('A€')]).toEqual([0x41, 0xe2, 0x82, 0xac]);
    expect(tokenizer.decode([0x41, 0xe2, 0x82, 0xac])).toBe('A€');
    expect(tokenizer.decode([0x41, 0xe2, 0x82])).toBe('A\uFFFD');
    expect(() => tokenizer.decode([256])).toThrow(refusal('allowed are 0 to 255'));
  });

  test('any text comes back, a byte order mark too', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const t = tokenizerFromJSON(JSON.parse(JSON.stringify(tokenizer)));
        expect(t.decode(t.encode(`\uFEFF${text}`))).toBe(`\uFEFF${text}`);
      }),
      { numRuns: 300, seed: 2 },
    );
  });
});

describe('piece', () => {
  const tokenizer = pieceTokenizer(['The answer is', ' 1', ' 12', '1', '2', ' ', '.', '🙂']);

  test('the longest piece that fits', () => {
    expect([...tokenizer.encode('The answer is 12 1 2.🙂')]).toEqual([0, 2, 1, 5, 4, 6, 7]);
    expect(tokenizer.decode([0, 2, 1, 5, 4, 6, 7])).toBe('The answer is 12 1 2.🙂');
    // A longer piece that only begins here is none.
    expect([...tokenizer.encode('1')]).toEqual([3]);
    expect([...tokenizer.encode(' ')]).toEqual([5]);
    expect(tokenizer.encode('')).toHaveLength(0);
  });

  test('what begins with no piece is shown, with its place', () => {
    expect(() => tokenizer.encode('12 The answer was 3')).toThrow(
      refusal(
        'the text "The answer was 3" at offset 3 begins with no piece of the vocabulary: allowed are the 8 pieces "The answer is" " 1" " 12"',
      ),
    );
    expect(() => pieceTokenizer(Array.from({ length: 150 }, (_, i) => `<${i}>`)).encode('z')).toThrow(
      refusal('and 50 more'),
    );
    expect(() => tokenizer.decode([8])).toThrow(refusal('allowed are 0 to 7'));
  });

  test('any text comes back when every character is a piece', () => {
    const pieces = fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 2 }));
    fc.assert(
      fc.property(pieces, fc.string({ unit: fc.constantFrom('a', 'b', 'c') }), (longer, text) => {
        const t = tokenizerFromJSON(JSON.parse(JSON.stringify(pieceTokenizer(['a', 'b', 'c', ...longer]))));
        expect(t.decode(t.encode(text))).toBe(text);
      }),
      { numRuns: 300, seed: 3 },
    );
  });
});

describe('tokenizerFromJSON', () => {
  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'model.json'],
    ['another type', { type: 'bpe' }, 'model.json'],
    ['a character twice', { type: 'char', vocabulary: ['a', 'b', 'a'] }, 'a character occurs twice'],
    ['two characters in one', { type: 'char', vocabulary: ['ab'] }, 'one character each'],
    ['no vocabulary', { type: 'char' }, 'vocabulary'],
    ['an empty vocabulary', { type: 'char', vocabulary: [] }, 'vocabulary'],
    ['a piece twice', { type: 'piece', vocabulary: ['ab', 'ab'] }, 'a piece occurs twice'],
    ['an empty piece', { type: 'piece', vocabulary: [''] }, 'vocabulary'],
    ['an unknown key', { type: 'byte', size: 256 }, 'unknown key "size"'],
  ])('refuses %s', (_, value, message) => {
    expect(() => tokenizerFromJSON(value, 'model.json')).toThrow(PosencError);
    expect(() => tokenizerFromJSON(value, 'model.json')).toThrow(refusal(message));
  });
});
