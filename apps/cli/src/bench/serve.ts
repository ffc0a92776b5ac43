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
      readonly parameters: number;
    }
  | { readonly absent: string };

export interface StepsRequest {
  readonly steps: number;
}

export interface StepsAnswer {
  /** Of each step, before its update. */
  readonly losses: readonly number[];
  /** Of each step: forward, backward, update, reading the loss. */
  readonly seconds: readonly number[];
}

/** One answer, as the parent reads it. */
export const answer = (message: unknown): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

/** Standard output is for answers: what a library prints goes elsewhere. */
export function reserveOutput(): void {
  console.log = console.error;
  console.info = console.error;
  console.warn = console.error;
}

/** Says `ready`, then takes steps as they are asked for, until the parent closes standard input. */
export async function serveSteps(ready: Ready, step: () => Promise<number>): Promise<void> {
  answer(ready);
  for await (const line of createInterface({ input: process.stdin })) {
    const { steps } = JSON.parse(line) as StepsRequest;
    const losses: number[] = [];
    const seconds: number[] = [];
    for (let i = 0; i < steps; i++) {
      const started = performance.now();
      losses.push(await step());
      seconds.push((performance.now() - started) / 1000);
    }
    answer({ losses, seconds } satisfies StepsAnswer);
  }
}
