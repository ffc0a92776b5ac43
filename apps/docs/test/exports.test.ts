/** Which names count as documented: of every way to export one. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { exportsOf } from '../src/exports.ts';

it('declarations, lists, stars, renamed ones, overloads; what other packages export is theirs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'posenc exports '));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = (name: string, text: string) => writeFileSync(join(folder, name), text);
  file(
    'other.ts',
    '/** The first. */\nimport "x";\nexport const star = 1;\n/** Known. */\nexport function known(): void {}\nconst inner = 2;\nexport { inner as outer };\n',
  );
  file(
    'index.ts',
    [
      "export { z } from 'zod';",
      "export * from './other.ts';",
      "export { known as renamed, type star as plain } from './other.ts';",
      '/** One. */',
      'export type One = 1;',
      'export interface Two {}',
      '// no docstring',
      'export class Three {}',
      '/** Many. */',
      'export function many(x: 1): 1;',
      'export function many(x: 1): 1 {',
      '  return x;',
      '}',
      '/** */',
      'export const empty = 1, second = 2;',
    ].join('\n'),
  );
  const found = Object.fromEntries(
    exportsOf(join(folder, 'index.ts')).map(({ name, documented }) => [name, documented]),
  );
  expect(found).toEqual({
    star: false,
    known: true,
    outer: false,
    renamed: true,
    plain: false,
    One: true,
    Two: false,
    Three: false,
    many: true,
    empty: false,
    second: false,
  });
});
