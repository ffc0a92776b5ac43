/** What computes a run. Its numbers may depend on all of this, so what is taken up elsewhere is refused. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PosencError, z } from '@posenc/core';

/** More was never computed with: a record that says so was edited or damaged. */
const maxThreads = 256;

const runtimeSchema = z.object({
  /** By the name that asks for it. */
  backend: z.string(),
  version: z.string(),
  /** Which code of it computes: `relaxed`, `libtensorflow 2.18.0` … */
  variant: z.string(),
  /** Of one trial; 0 when the backend does not say. */
  threads: z.int().min(0).max(maxThreads),
  /** Its model. */
  processor: z.string(),
});

/** Backend, version, kernel variant, threads and processor: same data, same spec and same runtime give the same bits. */
export type Runtime = Readonly<z.output<typeof runtimeSchema>>;

/** Stands for what computed a run of an earlier posenc, which did not record it. */
export const unrecorded: Runtime = {
  backend: 'unknown',
  version: 'unknown',
  variant: '',
  threads: 0,
  processor: 'unknown',
};

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

const recordSchema = z.object({ id: z.string(), runtimes: z.array(runtimeSchema).min(1).optional() });

/**
 * What computed trial `id` so far, the latest last; none when nothing of it was kept, `unrecorded` when an earlier posenc did.
 *
 * @throws PosencError when there is something, and its record is missing, damaged, or an earlier posenc's of another trial
 */
export function recordedRuntimes(folder: string, id: string): readonly Runtime[] {
  const checkpoints = join(folder, 'checkpoints');
  const begun = existsSync(join(folder, 'result.json')) || (existsSync(checkpoints) && readdirSync(checkpoints).length);
  if (!begun) return [];
  const record = readRecord(join(folder, 'trial.json'));
  if (record.id === id) return record.runtimes ?? [unrecorded];
  if (record.runtimes) return [];
  throw new PosencError(
    `"${folder}" is from an earlier posenc, which did not record what computed it, and of another config, data or version: start another run with --out FOLDER`,
  );
}

function readRecord(path: string): z.output<typeof recordSchema> {
  try {
    return recordSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    throw new PosencError(
      `"${path}" is missing or damaged: what computed this trial is not known. Delete its folder, and it is trained again`,
    );
  }
}

/** Throws PosencError when `is` would go on with what another runtime began in `folder`. */
export function refuseDrift(folder: string, past: readonly Runtime[], is: Runtime): void {
  if (past.some((one) => changed(one, unrecorded).length === 0))
    throw new PosencError(
      `"${folder}" is from an earlier posenc, which did not record what computed it: start another run with --out FOLDER, or go on with it all the same with --allow-drift`,
    );
  const was = past.find((one) => changed(one, is).length > 0);
  if (!was) return;
  const others = changed(was, is);
  const asked: Partial<Record<(typeof parts)[number], string>> = {
    backend: `--backend ${was.backend}`,
    threads: `POSENC_THREADS=${was.threads}`,
  };
  const remedies = others.flatMap((part) => asked[part] ?? []);
  const lines = others.map((part) => `  ${part}: recorded "${was[part]}", here "${is[part]}"`);
  throw new PosencError(
    `"${folder}" was computed by something else than what is here:\n${lines.join('\n')}\n` +
      `Go on ${others.includes('processor') ? 'on such a processor' : 'as before'}${remedies.length > 0 ? ` (${remedies.join(', ')})` : ''}, ` +
      'start another run with --out FOLDER, or let one run mix both with --allow-drift',
  );
}
