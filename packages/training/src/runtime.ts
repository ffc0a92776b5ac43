/** What computes a run. The last bits of its numbers depend on all of this, so what is taken up elsewhere is refused. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PosencError, z } from '@posenc/core';

const runtimeSchema = z.object({
  /** By the name that asks for it. */
  backend: z.string(),
  version: z.string(),
  /** Which code of it computes: `relaxed`, `libtensorflow 2.18.0` … */
  variant: z.string(),
  /** Of one trial. */
  threads: z.int(),
  /** Its model. */
  processor: z.string(),
});

/** Backend, version, kernel variant, threads and processor: same data, same spec and same runtime give the same bits. */
export type Runtime = Readonly<z.output<typeof runtimeSchema>>;

const parts = ['backend', 'version', 'variant', 'threads', 'processor'] as const;

const changed = (was: Runtime, is: Runtime) => parts.filter((part) => was[part] !== is[part]);

/** On one line, without the processor: `simd relaxed 2 threads`. */
export const describeRuntime = ({ backend, variant, threads }: Runtime): string =>
  [backend, variant, threads > 1 ? `${threads} threads` : ''].filter(Boolean).join(' ');

/** Each once, in order. */
export const distinctRuntimes = (all: readonly Runtime[]): Runtime[] =>
  all.filter((one, i) => all.findIndex((other) => changed(one, other).length === 0) === i);

/** What came before, and now this. */
export const withRuntime = (past: readonly Runtime[], now: Runtime): readonly Runtime[] => {
  const last = past.at(-1);
  return last && changed(last, now).length === 0 ? past : [...past, now];
};

const recordSchema = z.object({ id: z.string(), runtimes: z.array(runtimeSchema).min(1) });

/**
 * What computed trial `id` so far, the latest last; none when nothing of it was kept.
 *
 * @throws PosencError when there is something, and no telling what computed it
 */
export function recordedRuntimes(folder: string, id: string): readonly Runtime[] {
  const checkpoints = join(folder, 'checkpoints');
  const begun = existsSync(join(folder, 'result.json')) || (existsSync(checkpoints) && readdirSync(checkpoints).length);
  if (!begun) return [];
  const path = join(folder, 'trial.json');
  try {
    const record = recordSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
    return record.id === id ? record.runtimes : [];
  } catch {
    throw new PosencError(
      `"${path}" is missing or damaged: what computed this trial is not known. Delete its folder, and it is trained again`,
    );
  }
}

/** Throws PosencError when `is` would go on with what another runtime began in `folder`. */
export function refuseDrift(folder: string, past: readonly Runtime[], is: Runtime): void {
  const was = past.find((one) => changed(one, is).length > 0);
  if (!was) return;
  const others = changed(was, is);
  const asked: Partial<Record<(typeof parts)[number], string>> = {
    backend: `--backend ${was.backend}`,
    threads: `POSENC_THREADS=${was.threads}`,
  };
  const remedies = others.flatMap((part) => asked[part] ?? []);
  const lines = others.map((part) => `  ${part}: was "${was[part]}", is "${is[part]}"`);
  throw new PosencError(
    `"${folder}" was computed by something else than what is here, and the last bits of its numbers depend on that:\n${lines.join('\n')}\n` +
      `Go on ${others.includes('processor') ? 'on such a processor' : 'as before'}${remedies.length > 0 ? ` (${remedies.join(', ')})` : ''}, ` +
      'start another run with --out FOLDER, or let one run mix both with --allow-drift',
  );
}
