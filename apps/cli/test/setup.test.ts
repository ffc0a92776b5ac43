/** What the root scripts say when the dependencies cannot be installed. */
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { root } from '../scripts/map/data.ts';

const { adviceOn } = (await import(pathToFileURL(`${root}/scripts/lib.mjs`).href)) as {
  adviceOn: (output: string) => string;
};

it.each([
  [
    ' ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up to date',
    /^pnpm-lock\.yaml does not fit the package\.json files\. Run: npx pnpm@[\d.]+ install --no-frozen-lockfile$/,
  ],
  ['npm error code ENOTFOUND\nnpm error network request failed', /Is the package registry reachable\?$/],
  [' ERR_PNPM_META_FETCH_FAIL  GET https://localhost:1/x: request failed', /Is the package registry reachable\?$/],
  ['ENOSPC: no space left on device, write', /^the disk is full$/],
  [' ERR_PNPM_UNSUPPORTED_ENGINE  Unsupported environment', /^see above$/],
])('%s', (output, advice) => {
  expect(adviceOn(output)).toMatch(advice);
});
