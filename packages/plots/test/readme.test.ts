import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { expect, it } from 'vitest';
import { lineChart } from '../src/index.ts';
import { texts } from './svg.ts';

it("the README's example runs and draws what it says", () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const example = /```ts\n([\s\S]*?)```/.exec(readme)![1]!.replace(/^import .*$/gm, '');
  const written: Record<string, string> = {};
  const run = new Function('lineChart', 'writeFileSync', stripTypeScriptTypes(example));
  run(lineChart, (path: string, svg: string) => {
    written[path] = svg;
  });
  expect(texts(written['extrapolation.svg']!)).toEqual(
    expect.arrayContaining(['Extrapolation', 'ALiBi', 'bigram', '2×']),
  );
});
