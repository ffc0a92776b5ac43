/** One contender in its process: started, asked for steps, or absent. */
import { PosencError } from '@posenc/core';
import { type Child, ChildEnded, startChild } from './child.ts';
import type { Entry } from './contenders.ts';
import type { ContenderResult } from './document.ts';
import { contenderName } from './print.ts';
import type { Ready, TurnAnswer, TurnRequest } from './serve.ts';

/** A contender that is ready. */
export interface Running {
  readonly entry: Entry;
  readonly child: Child;
  readonly ready: Exclude<Ready, { absent: string }>;
}

export type Absent = Extract<ContenderResult, { status: 'absent' }>;

/** Starts processes and stops all of them in the end. */
export async function withContenders<T>(
  signal: AbortSignal,
  use: (start: (entry: Entry, problem: string) => Promise<Running | Absent>) => Promise<T>,
): Promise<T> {
  const children: Child[] = [];
  try {
    return await use((entry, problem) => {
      const child = startChild(entry.contender.start(problem, entry.threads), signal);
      children.push(child);
      return whenReady(entry, child);
    });
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
}

/** @throws PosencError when one that must be there is not */
async function whenReady(entry: Entry, child: Child): Promise<Running | Absent> {
  const { contender, threads } = entry;
  const { name, kind } = contender;
  let ready: Ready;
  try {
    ready = (await child.receive()) as Ready;
  } catch (error) {
    if (!(error instanceof ChildEnded)) throw error;
    ready = { absent: error.message };
  }
  if (!('absent' in ready)) return { entry, child, ready };
  if (kind === 'ours' || contender.getIt)
    throw new PosencError(
      `${name} did not start: ${reasonOf(ready.absent)}${contender.getIt ? `\n  ${contender.getIt}` : ''}`,
    );
  return { name, kind, threads, status: 'absent', reason: ready.absent };
}

/** Of a stack trace, the line that names the error. */
const reasonOf = (text: string): string => /^.*Error\b.*: .*$/m.exec(text)?.[0] ?? text;

export const label = ({ contender: { name, threaded }, threads }: Entry): string =>
  threaded ? `${name}, ${threads} thread${threads === 1 ? '' : 's'}` : name;

/** As tables call it: with the threads that it says it has. */
export const labelOf = ({ entry, ready }: Running): string =>
  contenderName({ name: entry.contender.name, threads: ready.threads });

/** Asks for steps. Throws ChildEnded when the process ends instead. */
export async function ask({ child }: Running, request: TurnRequest): Promise<TurnAnswer> {
  child.send(request);
  return (await child.receive()) as TurnAnswer;
}

/** Asks one that has to succeed. @throws PosencError when it does not */
export async function askSurely(one: Running, request: TurnRequest): Promise<Exclude<TurnAnswer, { failed: string }>> {
  const failed = (why: string, cause?: unknown) => new PosencError(`${label(one.entry)}: ${why}`, { cause });
  const answer = await ask(one, request).catch((error: Error) => {
    throw failed(error.message, error);
  });
  if ('failed' in answer) throw failed(answer.failed);
  return answer;
}

/** Steps for a turn of about so many seconds, so that short steps are not measured by one of them. */
export const stepsFor = (seconds: number, stepSeconds: number, most: number): number =>
  Math.max(1, Math.min(most, Math.round(seconds / stepSeconds)));
