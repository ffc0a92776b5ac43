/** What a run that is taken up again was computed by: what was not asked for now stays as it was. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BackendName, backendNames, maxThreads } from '@posenc/backend';

export interface Recorded {
  readonly backend?: BackendName;
  readonly threads?: number;
}

/** Of a folder of `posenc compare` or `posenc train`; nothing when it says nothing. */
export function recorded(folder: string): Recorded {
  const { runtime } = json(join(folder, 'resolved.json'));
  const { runtimes } = json(join(folder, 'trial.json'));
  const { backend, threads } = Object(runtime ?? (Array.isArray(runtimes) ? runtimes.at(-1) : {}));
  return {
    ...(backendNames.includes(backend) && { backend }),
    ...(Number.isInteger(threads) && threads > 0 && threads <= maxThreads && { threads }),
  };
}

function json(path: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return {}; // Not there, or damaged: whoever needs it says so.
  }
}
