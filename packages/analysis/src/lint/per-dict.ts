/** Rules about the dicts of RoPE parameters in a Hugging Face config: there may be one per layer type. */
import type { Rule } from './finding.ts';
import type { RopeDict, Subject } from './subject.ts';

/** Those with one of these rope_types. */
export const ofType = (subject: Subject, ...types: readonly string[]) =>
  subject.ropes.filter((rope) => types.includes(rope.type));

/** A rule that looks at one dict of RoPE parameters at a time. */
export const perDict = (
  name: string,
  prevents: string,
  check: (rope: RopeDict, subject: Subject) => ReturnType<Rule<Subject>['check']>,
): Rule<Subject> => ({
  name,
  prevents,
  check: (subject) => subject.ropes.flatMap((rope) => check(rope, subject)),
});
