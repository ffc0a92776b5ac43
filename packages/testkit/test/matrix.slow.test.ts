/** Every law on every planted bug, and on the originals with the same configs: all bugs are caught, no original is blamed. */
import { useBackend } from '@posenc/backend';
import { lawsFor } from '@posenc/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { mutants } from '../mutants/catalogue/index.ts';
import { loadEdited } from '../mutants/load.ts';
import { formatMatrix, matrix } from '../mutants/matrix.ts';

beforeAll(async () => {
  await useBackend('cpu');
});

const encodings = [...new Set(mutants.map(({ encoding }) => encoding))];

describe('originals', () => {
  for (const encoding of encodings)
    it(`${encoding} obeys all laws with the configs of its mutants`, async () => {
      const configs = mutants.filter((mutant) => mutant.encoding === encoding).flatMap((mutant) => mutant.configs);
      const distinct = [...new Map(configs.map((config) => [JSON.stringify(config), config])).values()];
      for (const law of lawsFor(await loadEdited(encoding), distinct)) await law.run();
    });
});

describe('planted bugs', () => {
  it('are all caught by a law', { timeout: 1_800_000 }, async () => {
    const rows = await matrix();
    const laws = [...new Set(lawsFor(await loadEdited('nope'), [{}]).map(({ law }) => law))];
    console.log(formatMatrix(rows, laws));
    expect(rows.filter(({ caught }) => caught.length === 0).map(({ mutant }) => mutant.bug)).toEqual([]);
    for (const { mutant, caught } of rows) expect(caught, mutant.bug).toContain(mutant.caughtBy);
  });
});
