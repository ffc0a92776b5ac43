/** Every planted bug is caught by the law that its entry names. (All laws on all of them: matrix.slow.test.ts.) */
import { readFile } from 'node:fs/promises';
import { useBackend } from '@posenc/backend';
import { LawError } from '@posenc/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { mutants } from '../mutants/catalogue/index.ts';
import { loadEdited } from '../mutants/load.ts';
import { titleOf, violations } from '../mutants/matrix.ts';

const isSlip = (cause: unknown) => [ReferenceError, TypeError, SyntaxError].some((kind) => cause instanceof kind);

describe('planted bugs', () => {
  beforeAll(async () => {
    await useBackend('cpu');
  });

  for (const mutant of mutants)
    it(`${titleOf(mutant)}: caught by ${mutant.caughtBy}`, async () => {
      const found = await violations(mutant, { only: mutant.caughtBy, length: 60 });
      const error = found.get(mutant.caughtBy);
      expect(error).toBeInstanceOf(LawError);
      // A slip in the edit itself would be "caught" as well.
      expect(error!.cause).not.toSatisfy(isSlip);
    });

  it('fail to load when their edit no longer applies', async () => {
    const edits = [{ file: 'nope.ts', find: 'text that is not there', replace: '' }];
    await expect(loadEdited('nope', edits)).rejects.toThrow('holds 0 times, not once, the text to edit');
    const twice = [{ file: 'nope.ts', find: 'z', replace: '' }];
    await expect(loadEdited('nope', twice)).rejects.toThrow(/holds [2-9]\d* times, not once/);
  });
});

it('stand in matrix.txt, which `pnpm mutants` writes', async () => {
  const text = await readFile(new URL('../mutants/matrix.txt', import.meta.url), 'utf8');
  expect(text).toContain(`${mutants.length} planted bugs, 0 escaped`);
  for (const mutant of mutants) expect(text).toContain(`  ${titleOf(mutant)}\n`);
});
