/** JSON as people write it: every mistake is shown with its line and column. */
import { brief, PosencError } from '@posenc/core';
import { type ParseErrorCode, printParseErrorCode, visit } from 'jsonc-parser';

const expectations: Readonly<Record<string, string>> = {
  InvalidSymbol: 'not a JSON value; strings and keys need double quotes, and true, false and null are the only words',
  InvalidNumberFormat: 'not a JSON number',
  PropertyNameExpected: 'expected a key in double quotes (JSON allows no comma after the last one)',
  ValueExpected: 'expected a value (JSON allows no comma after the last one)',
  ColonExpected: 'expected a colon after the key',
  CommaExpected: 'expected a comma',
  CloseBraceExpected: 'expected } to close the object',
  CloseBracketExpected: 'expected ] to close the list',
  EndOfFileExpected: 'expected the end: one JSON value is allowed, and something follows it',
  InvalidCommentToken: 'JSON allows no comments; remove this one',
  UnexpectedEndOfComment: 'JSON allows no comments, and this one does not even end',
  UnexpectedEndOfString: 'this string does not end on its line',
  UnexpectedEndOfNumber: 'this number does not end',
  InvalidUnicode: 'a \\u needs four hexadecimal digits',
  InvalidEscapeCharacter: 'no such escape; write \\\\ for a backslash',
  InvalidCharacter: 'a control character in a string; write \\n for a line break, \\t for a tab',
};

/**
 * The value of a JSON text. A byte order mark is skipped.
 * @param where what the text is, to start the message: a file name, "CONFIG"
 * @throws PosencError for bad syntax, a comment, an empty text, a key given twice, a number too large for a computer, and more
 *   than 64 objects and lists inside each other
 */
export function parseJson(text: string, where: string): unknown {
  const source = text.replace(/^\uFEFF/, '');
  const fail = (problem: string, line: number, column: number): never => {
    throw new PosencError(`${where}:${line + 1}:${column + 1}: ${problem}\n${excerpt(source, line, column)}`);
  };
  if (source.trim() === '') throw new PosencError(`${where} is empty: expected a JSON object such as {"type": "rope"}`);
  const deep = tooDeep(source);
  if (deep !== undefined) {
    const before = source.slice(0, deep).split(/\r\n|\r|\n/);
    fail(`more than ${maxDepth} objects and lists inside each other`, before.length - 1, before.at(-1)!.length);
  }

  const open: Set<string>[] = [];
  visit(
    source,
    {
      onObjectBegin: () => void open.push(new Set()),
      onObjectEnd: () => void open.pop(),
      onObjectProperty(key, _offset, _length, line, column) {
        const keys = open.at(-1)!;
        if (keys.has(key))
          fail(`the key "${brief(key)}" is given twice in one object; remove one of them`, line, column);
        keys.add(key);
      },
      onLiteralValue(value: unknown, offset, length, line, column) {
        if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY)
          fail(`${source.slice(offset, offset + length)} is too large for a number (at most 1.8e308)`, line, column);
      },
      onError(code: ParseErrorCode, _offset, _length, line, column) {
        const name = printParseErrorCode(code);
        fail(expectations[name] ?? `this is not JSON (${name})`, line, column);
      },
    },
    { disallowComments: true },
  );
  return JSON.parse(source);
}

/** No config is nested deeper, and functions that walk a document call themselves: far deeper ones would overflow the stack. */
const maxDepth = 64;

/** Where a text first has more open brackets than allowed; strings are skipped. */
function tooDeep(source: string): number | undefined {
  let depth = 0;
  for (const { 0: part, index } of source.matchAll(/"(?:[^"\\\n\r]|\\.)*"?|[[{]|[\]}]/g)) {
    if (part === '[' || part === '{') depth++;
    else if (part === ']' || part === '}') depth--;
    if (depth > maxDepth) return index;
  }
  return undefined;
}

/** The line with a mark under the column. Long lines are cut around it. */
function excerpt(source: string, line: number, column: number): string {
  const text = (source.split(/\r\n|\r|\n/)[line] ?? '').replaceAll('\t', ' ');
  const from = Math.max(0, column - 60);
  const number = String(line + 1);
  return `  ${number} | ${text.slice(from, from + 100)}\n  ${' '.repeat(number.length)} | ${' '.repeat(column - from)}^`;
}
