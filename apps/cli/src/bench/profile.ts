/** Where the time of a standard step goes, by kernel. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BackendName } from '@posenc/backend';
import { askAlone } from './alone.ts';
import type { ProfileBench } from './document.ts';
import type { Measuring } from './machine.ts';
import { type StepSizes, writeProblem } from './problem.ts';

export interface ProfileSetting {
  readonly folder: string;
  readonly backend: BackendName;
  readonly steps: number;
}

export interface ProfileOptions extends Omit<ProfileSetting, 'folder'>, Measuring {
  readonly sizes: StepSizes;
}

/** @throws PosencError when the backend cannot be had, or a step fails */
export async function measureProfile({ sizes, steps, signal, ...options }: ProfileOptions): Promise<ProfileBench> {
  const folder = mkdtempSync(join(tmpdir(), 'posenc-bench-'));
  try {
    writeProblem(folder, sizes);
    const setting: ProfileSetting = { folder, backend: options.backend, steps };
    const before = async () => {
      options.onProgress('profile of the standard step');
      await options.watch.rest();
    };
    const asked = await askAlone<object, Omit<ProfileBench, 'backend'>>('profile-child', setting, [{}], {
      signal,
      before,
    });
    return { backend: asked.backend, ...asked.answers[0]! };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
