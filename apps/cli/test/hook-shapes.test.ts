/** An author's mistake in a hook is told as such, with the name of the encoding: not as a defect of posenc. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { mine } from './examples.ts';
import { posenc, suiteFolder } from './trials-harness.ts';

it.each([
  ['for one head, which would broadcast', '[1, 1]', '[1, 31]'],
  ['for heads that are not there', '[numHeads + 3, 1]', '[5, 31]'],
])('compare with a plug-in whose bias is %s', async (_, tiles, returned) => {
  const folder = suiteFolder({ encodings: [{ encoding: { type: 'log-distance' } }] });
  const right = '[numHeads, 1]';
  expect(mine).toContain(right);
  writeFileSync(join(folder, 'mine.ts'), mine.replace(right, tiles));
  const { code, stderr } = await posenc(folder, 'compare', 'suite.json', '--plugin', './mine.ts');
  expect(code).toBe(1);
  expect(stderr).toContain(
    `encoding "log-distance": its hook "relativeBias" returned a tensor ${returned}, and [H, n] = [2, 31] is wanted`,
  );
});
