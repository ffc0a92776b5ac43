/**
 * Where the standard step's time goes on the simd backend.
 *
 *     node --conditions=posenc-source bench/profile.ts [threads]
 */
import { useSimd } from '../src/index.ts';
import { createStep, profile } from './step.ts';

const threads = process.argv[2] === undefined ? undefined : Number(process.argv[2]);
console.log(await useSimd({ threads }));
const { step } = createStep();
const times: number[] = [];
for (let i = 0; i < 12; i++) times.push((await step()).seconds * 1000);
console.log(`steps: ${times.map((ms) => ms.toFixed(0)).join(' ')} ms`);
for (const [name, ms, calls] of await profile(step))
  if (ms > 0.05) console.log(`${ms.toFixed(2).padStart(8)} ms ${String(calls).padStart(5)}  ${name}`);
