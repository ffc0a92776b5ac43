/** Everything that a package exports says what it is: the reference is made of these docstrings, and so is what editors show. */
import { relative } from 'node:path';
import { expect, it } from 'vitest';
import { exportsOf } from '../src/exports.ts';
import { entriesOf, publicPackages, root } from '../src/packages.ts';

it.each(publicPackages().map((one) => [one.manifest.name, one] as const))('%s', (_, one) => {
  const exported = entriesOf(one).flatMap(exportsOf);
  expect(exported.length).toBeGreaterThan(0);
  const silent = exported.filter(({ documented }) => !documented);
  expect(silent.map(({ name, file, line }) => `${name} at ${relative(root, file)}:${line}`)).toEqual([]);
});
