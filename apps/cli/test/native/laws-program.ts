/**
 * The laws of the testkit for every built-in encoding in its default config, on one backend: `laws-program.ts BACKEND [LAW]`
 * prints how many there are and those that do not hold. LAW: that one alone, on short sequences (a graphics card played
 * by a processor takes minutes for the rest).
 */
import { type BackendName, useBackend } from '@posenc/backend';
import { lawsFor, toleranceOf } from '@posenc/testkit';
import { builtIn } from '../../src/encodings.ts';

const [backend, only] = process.argv.slice(2) as [BackendName, string | undefined];
const { name } = await useBackend(backend);
const [broken, started] = [[] as { law: string; message: string }[], performance.now()];
const short = only ? { length: 24, shortLength: 12 } : {};
let count = 0;
for (const encoding of builtIn) {
  for (const law of lawsFor(encoding, [{}], { backends: ['simd', backend], tolerance: toleranceOf(name), ...short })) {
    if (only && law.law !== only) continue;
    count++;
    try {
      await useBackend(backend);
      await law.run();
    } catch (error) {
      broken.push({ law: law.name, message: error instanceof Error ? error.message : String(error) });
    }
  }
}
const seconds = (performance.now() - started) / 1000;
process.stdout.write(`${JSON.stringify({ encodings: builtIn.length, laws: count, broken, seconds })}\n`, () =>
  process.exit(),
);
