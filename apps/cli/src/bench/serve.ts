/** The child's side of the protocol: one JSON document per line, requests on standard input, answers on standard output. */
import { createInterface } from 'node:readline';

/** What a contender says of itself once it is ready, or why it cannot be had here. */
export type Ready =
  | {
      readonly version: string;
      /** Which code computes. */
      readonly variant: string;
      /** Threads that compute. */
      readonly threads: number;
      /** Of the standard step. */
      readonly parameters?: number;
      /** It knows how many bytes its tensors and its scratch memory take. */
      readonly countsBytes?: boolean;
    }
  | { readonly absent: string };

export interface TurnRequest {
  readonly steps: number;
  /** Of the sequences, where a contender is measured at several. */
  readonly length?: number;
  /** The value to answer is not a result, but how many bytes it took at its peak. */
  readonly bytes?: boolean;
}

/** One step: a number that every contender must get, and how long it took. */
export interface Taken {
  readonly value: number;
  readonly seconds: number;
}

export type TurnAnswer =
  | { readonly values: readonly number[]; readonly seconds: readonly number[] }
  | { readonly failed: string };

/** One answer, as the parent reads it. */
export const answer = (message: unknown): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

/** Standard output is for answers: what a library prints goes elsewhere. */
export function reserveOutput(): void {
  console.log = console.error;
  console.info = console.error;
  console.warn = console.error;
}

/** Requests, one a line, until the parent closes standard input; what fails is an answer, too. */
export async function serve<Request, Answer>(take: (request: Request) => Promise<Answer>): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    try {
      answer(await take(JSON.parse(line) as Request));
    } catch (error) {
      answer({ failed: error instanceof Error ? error.message : String(error) });
    }
  }
}

/** Says `ready`, then takes steps as they are asked for. */
export async function serveTurns(ready: Ready, step: (request: TurnRequest) => Promise<Taken>): Promise<void> {
  answer(ready);
  await serve(async (request: TurnRequest): Promise<TurnAnswer> => {
    const taken: Taken[] = [];
    for (let i = 0; i < request.steps; i++) taken.push(await step(request));
    return { values: taken.map(({ value }) => value), seconds: taken.map(({ seconds }) => seconds) };
  });
}

/** The same for steps of training, which are timed as a whole: forward, backward, update, reading the loss. */
export const serveSteps = (ready: Ready, step: () => Promise<number>): Promise<void> =>
  serveTurns(ready, async () => {
    const started = performance.now();
    const value = await step();
    return { value, seconds: secondsSince(started) };
  });

/** Seconds since a `performance.now()`. */
export const secondsSince = (started: number): number => (performance.now() - started) / 1000;
