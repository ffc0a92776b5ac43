/** Adds the counts that `npm test` and `npm run test:slow` left. A missing one is a failure. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './lib.mjs';

const total = { passed: 0, failed: 0, skipped: 0 };
for (const kind of ['fast', 'slow']) {
  try {
    const counts = JSON.parse(readFileSync(join(root, 'test-results', `${kind}-counts.json`), 'utf8'));
    for (const key of Object.keys(total)) total[key] += counts[key];
  } catch {
    console.log(`the ${kind} tests did not finish`);
    total.failed += 1;
  }
}
console.log(`tests: ${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed || total.passed === 0 ? 1 : 0;
