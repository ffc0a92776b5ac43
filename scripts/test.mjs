/** `npm test`: sets everything up, then lint, types and every check but the slow ones; `--slow`: those. Ends with the counts. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ensureSetup, root, run } from './lib.mjs';

const slow = process.argv.includes('--slow');
const kind = slow ? 'slow' : 'fast';
ensureSetup();

const inside = (folder) => readdirSync(join(root, folder)).map((name) => join(root, folder, name));
const reports = () =>
  ['packages', 'packages/encodings', 'apps']
    .flatMap(inside)
    .map((folder) => join(folder, 'test-results', `${kind}.json`))
    .filter((report) => existsSync(report));
for (const report of reports()) rmSync(report);

const failures = [];
const check = async (name, command, args) => {
  if ((await run(command, args)) !== 0) failures.push(name);
};
const tasks = slow ? ['build', 'test:slow'] : ['lint', 'typecheck', 'test'];
await check(tasks.join(', '), 'turbo', [
  'run',
  ...tasks,
  '--continue',
  '--concurrency=2',
  '--output-logs=new-only',
  '--ui=stream',
]);

const counts = { passed: 0, failed: 0, skipped: 0 };
for (const report of reports()) {
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  for (const file of testResults) {
    if (file.status === 'failed' && file.assertionResults.length === 0) {
      counts.failed += 1;
      console.log(`failed to load: ${relative(root, file.name)}`);
    }
    for (const test of file.assertionResults) {
      const outcome = test.status === 'passed' ? 'passed' : test.status === 'failed' ? 'failed' : 'skipped';
      counts[outcome] += 1;
      if (outcome === 'failed') console.log(`failed: ${relative(root, file.name)}: ${test.fullName}`);
      if (outcome === 'skipped') console.log(`skipped: ${test.fullName}`);
    }
  }
}
for (const name of failures) console.log(`failed: ${name}`);
if (failures.length && counts.failed === 0) counts.failed = failures.length;

mkdirSync(join(root, 'test-results'), { recursive: true });
writeFileSync(join(root, 'test-results', `${kind}-counts.json`), JSON.stringify(counts));
console.log(`tests: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed ? 1 : 0;
