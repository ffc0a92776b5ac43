/** The API reference is made without a complaint, and has a page for everything that can be imported. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { exportsOf } from '../src/exports.ts';
import { entriesOf, publicPackages, shortName } from '../src/packages.ts';
import { writeReference } from '../src/reference.ts';

it('a page for each way into a package, with every name that it exports', async () => {
  const out = mkdtempSync(join(tmpdir(), 'posenc reference '));
  onTestFinished(() => rmSync(out, { recursive: true }));
  const { modules, problems } = await writeReference(out);
  expect(problems).toBe(0);
  expect(readdirSync(out)).toHaveLength(modules.length + 1);
  for (const one of publicPackages()) {
    const text = readFileSync(join(out, `${shortName(one.manifest.name)}.md`), 'utf8');
    expect(text).toMatch(new RegExp(`^# ${one.manifest.name}\n`));
    for (const { name } of exportsOf(entriesOf(one)[0]!))
      expect([name, text]).toEqual([name, expect.stringMatching(new RegExp(`^### ${name}\\b`, 'm'))]);
  }
});
