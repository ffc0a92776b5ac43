/** metrics.jsonl of a trial: a line per step. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { appendJsonLine, readJsonLines, writeFileAtomic } from '@posenc/checkpoints';
import { PosencError } from '@posenc/core';
import type { TrainingConfig } from './config.ts';

type Metric = { readonly step: number; readonly loss: number | null; readonly seconds: number };

/** How long the steps of a training took. */
export interface Timing {
  readonly trainSeconds: number;
  readonly medianStepSeconds: number;
  readonly tokensPerSecond: number;
}

const metricsPath = (folder: string) => join(folder, 'metrics.jsonl');

export const appendMetrics = (folder: string, metrics: Metric): void => appendJsonLine(metricsPath(folder), metrics);

function readMetrics(path: string): Metric[] {
  return readJsonLines(path).map((value, i) => {
    const { step, seconds } = (value ?? {}) as Partial<Metric>;
    if (typeof step === 'number' && typeof seconds === 'number') return value as Metric;
    throw new PosencError(`"${path}" line ${i + 1} is not the metrics of a step: it was damaged; remove that line`);
  });
}

/** Lines past the checkpoint are of steps that will be done again. */
export function truncateMetrics(folder: string, step: number): void {
  const path = metricsPath(folder);
  if (!existsSync(path)) return;
  const kept = readMetrics(path).filter((line) => line.step <= step);
  writeFileAtomic(path, kept.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

/** Of all steps that the file holds. */
export function timing(folder: string, training: TrainingConfig): Timing {
  const seconds = readMetrics(metricsPath(folder)).map((line) => line.seconds);
  const median = [...seconds].sort((a, b) => a - b)[Math.floor(seconds.length / 2)] ?? 0;
  return {
    trainSeconds: seconds.reduce((a, b) => a + b, 0),
    medianStepSeconds: median,
    tokensPerSecond: (training.batchSize * training.length) / median,
  };
}
