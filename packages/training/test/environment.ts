/** A task of random words, and an environment of three encodings: what trials in tests run on, in any process. */
import { useBackend } from '@posenc/backend';
import { below, createRegistry, stream, z } from '@posenc/core';
import { learned } from '@posenc/learned';
import { nope } from '@posenc/nope';
import { rope } from '@posenc/rope';
import { createTaskRegistry, defineTask, textTask } from '@posenc/tasks';
import type { Environment } from '../src/index.ts';

/** Words of a small language, so that there is something to learn within a few steps. */
function babble(seed: number, words: number): string {
  const random = stream(seed, 'babble');
  const lexicon = ['abba', 'cab', 'dad', 'bed', 'ace'];
  return Array.from({ length: words }, () => lexicon[below(random, lexicon.length)]!).join(' ');
}

const babbleTask = defineTask({
  type: 'babble',
  description: 'random words',
  config: z.strictObject({ seed: z.int().default(1), words: z.int().default(800), file: z.string().optional() }),
  create: ({ seed, words }) => textTask(babble(seed, words)),
});

const { name, version, variant, threads } = await useBackend('simd');

export const environment: Environment = {
  encodings: createRegistry([nope, rope, learned]),
  tasks: createTaskRegistry([babbleTask]),
  runtime: { backend: name, version, variant, threads, processor: 'abacus' },
  versions: { test: '1' },
};
