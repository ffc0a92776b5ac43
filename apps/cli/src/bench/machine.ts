/** What a measurement was made on, and whether something else was busy meanwhile. */
import { availableParallelism, cpus, loadavg, totalmem, type } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Summary, summarize } from './stats.ts';

export const machine = () => ({
  platform: `${type()} ${process.arch}`,
  processor: cpus()[0]?.model.trim() ?? 'unknown',
  cores: availableParallelism(),
  memoryBytes: Math.min(totalmem(), process.constrainedMemory() || totalmem()),
});

/** Variables of the environment that change what computes, as far as they are set. */
export const settings = (env: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && /^(POSENC_(THREADS|SIMD)|OMP_|MKL_|ATEN_|TF_NUM)/.test(name) ? [[name, value]] : [],
    ),
  );

/** Watches what other processes use while this one rests between two measurements. */
export interface Watch {
  /** Rests; the contender that has just computed comes to rest, too. */
  rest(): Promise<void>;
  /** Load averages when it started. */
  readonly loadBefore: number[];
  /** Cores that were busy in the rests so far. */
  otherCores(): Summary;
}

/** What every measurement is given. */
export interface Measuring {
  readonly watch: Watch;
  readonly signal: AbortSignal;
  /** Told what is measured now. */
  onProgress(text: string): void;
}

const restSeconds = 0.15;

export function startWatch(): Watch {
  const loadBefore = loadavg();
  const busy: number[] = [];
  const rest = async () => {
    // Thread pools spin for a moment after their work: the first third is theirs.
    await sleep((restSeconds * 1000) / 3);
    const [before, started] = [busySeconds(), performance.now()];
    await sleep((restSeconds * 2000) / 3);
    busy.push(((busySeconds() - before) * 1000) / (performance.now() - started));
  };
  return { rest, loadBefore, otherCores: () => summarize(busy) };
}

/** Processor time used on this machine since it started, by anyone. */
const busySeconds = () =>
  cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0) / 1000;
