/** `npm run new-encoding -- NAME` in a copy of the repository: from the command to a passing kit, and known everywhere. */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { anybody, copyRepository } from './copy.ts';

let copy: string;
const run = (line: string) =>
  execFileSync('sh', ['-c', line], { cwd: copy, env: anybody, encoding: 'utf8', stdio: 'pipe', maxBuffer: 1 << 28 });
const own = 'packages/encodings/log-distance';

beforeAll(() => {
  copy = copyRepository('new');
}, 600_000);
afterAll(() => rmSync(copy, { recursive: true, force: true }), 600_000);

it('makes a package that type-checks and passes the kit', () => {
  const started = performance.now();
  expect(run('npm run --silent new-encoding -- log-distance')).toContain('Made the package @posenc/log-distance');
  run('npx pnpm --filter @posenc/log-distance test');
  console.log(`from the command to a passing kit: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  const report = JSON.parse(readFileSync(join(copy, own, 'test-results/fast.json'), 'utf8'));
  expect([report.success, report.numFailedTests, report.numPendingTests]).toEqual([true, 0, 0]);
  expect(report.numPassedTests).toBeGreaterThan(70);
  run('npx pnpm --filter @posenc/log-distance typecheck');
  run(`npx biome check ${own}`);
});

it('changes no other file, but for the lockfile, which still holds', () => {
  const changed = run('git status --short --untracked-files=all').trimEnd().split('\n');
  const elsewhere = changed.filter((line) => !line.includes(own));
  expect(elsewhere).toEqual([' M pnpm-lock.yaml', '?? .changeset/log-distance.md']);
  run('npx pnpm install --offline --frozen-lockfile');
});

it('is listed, inspected, measured and trained by its name', () => {
  const posenc = (args: string) => run(`npm run --silent posenc -- ${args}`);
  const { encodings } = JSON.parse(posenc('list --json')) as { encodings: { type: string }[] };
  expect(encodings.map(({ type }) => type)).toContain('log-distance');
  expect(posenc('inspect log-distance')).toContain('logStrength');
  const { encodings: bench } = JSON.parse(posenc('bench log-distance --only encodings --quick --json'));
  expect(JSON.stringify(bench)).toContain('"log-distance"');
  const suite = {
    name: 'tiny',
    task: { type: 'copy', items: 4 },
    model: { modelDim: 16, numLayers: 1, numHeads: 2 },
    training: { length: 10, batchSize: 4, steps: 5 },
    evaluation: { multiples: [1, 2], windows: 4 },
    encodings: [{ encoding: { type: 'nope' } }, { encoding: { type: 'log-distance' } }],
  };
  writeFileSync(join(copy, 'suite.json'), JSON.stringify(suite));
  const { trials } = JSON.parse(posenc('compare suite.json --json')) as { trials: { name: string; status: string }[] };
  expect(trials.map(({ name, status }) => [name, status])).toEqual([
    ['nope', 'finished'],
    ['log-distance', 'finished'],
  ]);
});

it('meets what is asked of every package', () => {
  run("cd apps/docs && npx vitest run test/manifests.test.ts test/docstrings.test.ts -t '@posenc/log-distance'");
  const report = JSON.parse(readFileSync(join(copy, 'apps/docs/test-results/fast.json'), 'utf8'));
  expect([report.success, report.numPassedTests]).toEqual([true, 6]);
});
