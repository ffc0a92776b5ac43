/** A process of ours that measures by itself and answers what it is asked, one request after another. */
import { PosencError } from '@posenc/core';
import { ChildEnded, nodeModule, startChild } from './child.ts';
import type { BackendUse } from './document.ts';

/** What such a process says first. */
export interface AloneReady {
  readonly backend: BackendUse;
}

/**
 * Starts a module of this folder, with `setting` as its argument, and asks.
 * @throws PosencError when the process ends or something fails
 */
export async function askAlone<Request, Answer>(
  program: string,
  setting: unknown,
  requests: readonly Request[],
  { signal, before }: { readonly signal: AbortSignal; before(request: Request): Promise<void> },
): Promise<{ readonly backend: BackendUse; readonly answers: Answer[] }> {
  const child = startChild(nodeModule(new URL(`./${program}.ts`, import.meta.url), [JSON.stringify(setting)]), signal);
  try {
    const { backend } = (await child.receive()) as AloneReady;
    const answers: Answer[] = [];
    for (const request of requests) {
      await before(request);
      child.send(request);
      const answer = (await child.receive()) as Answer | { readonly failed: string };
      if (answer && typeof answer === 'object' && 'failed' in answer) throw new PosencError(answer.failed);
      answers.push(answer as Answer);
    }
    return { backend, answers };
  } catch (error) {
    if (!(error instanceof ChildEnded) || signal.aborted) throw error;
    throw new PosencError(error.message, { cause: error });
  } finally {
    await child.stop();
  }
}
