import type { LawSpec } from '../case.ts';

export const effect: LawSpec = {
  law: 'effect',
  statement:
    'With its parameters drawn at scale 1 an encoding that fills any hole moves the logits by at least 50 tolerances. (All other laws ask for this first: an encoding that does nothing obeys most of them.)',
  async check(c) {
    for (const stack of c.serving()) await c.bench(stack);
  },
};
