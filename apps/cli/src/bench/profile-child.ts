/** The standard step with a clock around every kernel: `profile-child.ts SETTING` */
import { useBackend } from '@posenc/backend';
import * as tf from '@tensorflow/tfjs';
import type { AloneReady } from './alone.ts';
import type { ProfileBench } from './document.ts';
import { readProblem } from './problem.ts';
import type { ProfileSetting } from './profile.ts';
import { answer, reserveOutput, secondsSince, serve } from './serve.ts';
import { summarize } from './stats.ts';
import { standardStep } from './step.ts';

reserveOutput();
const { folder, backend, steps } = JSON.parse(process.argv[2]!) as ProfileSetting;
tf.enableProdMode();
const { name, version, variant, threads, description } = await useBackend(backend);
const { take } = standardStep(readProblem(folder));

interface Spent {
  readonly seconds: number;
  readonly calls: number;
}

/** Seconds and calls of each kernel while `work` runs; kernels that other kernels call count as theirs. */
async function clocked(work: () => Promise<unknown>): Promise<Map<string, Spent>> {
  const spent = new Map<string, Spent>();
  const kernels = tf.getKernelsForBackend(tf.getBackend());
  const originals = kernels.map(({ kernelFunc }) => kernelFunc);
  let depth = 0;
  for (const kernel of kernels) {
    const { kernelFunc, kernelName } = kernel;
    kernel.kernelFunc = (args) => {
      const started = performance.now();
      depth++;
      try {
        return kernelFunc(args);
      } finally {
        depth--;
        const { seconds, calls } = spent.get(kernelName) ?? { seconds: 0, calls: 0 };
        if (depth === 0) spent.set(kernelName, { seconds: seconds + secondsSince(started), calls: calls + 1 });
      }
    };
  }
  try {
    await work();
  } finally {
    kernels.forEach((kernel, i) => {
      kernel.kernelFunc = originals[i]!;
    });
  }
  return spent;
}

answer({ backend: { name, version, variant, threads, description } } satisfies AloneReady);
await serve(async (): Promise<Omit<ProfileBench, 'backend'>> => {
  const warm = Math.min(5, steps);
  for (let i = 0; i < warm; i++) await take();
  const whole: number[] = [];
  const kernels = await clocked(async () => {
    for (let i = 0; i < steps; i++) {
      const started = performance.now();
      await take();
      whole.push(secondsSince(started));
    }
  });
  const rows = [...kernels].map(([kernel, { seconds, calls }]) => ({
    kernel,
    seconds: seconds / steps,
    calls: calls / steps,
  }));
  const inside = rows.reduce((sum, { seconds }) => sum + seconds, 0);
  const total = whole.reduce((a, b) => a + b, 0) / steps;
  return {
    steps,
    seconds: summarize(whole),
    outside: total - inside,
    kernels: rows.toSorted((a, b) => b.seconds - a.seconds),
  };
});
process.exit();
