/** What a rule says of a config. */

export interface Finding {
  /** The rule's name, for reading about it and for ignoring it. */
  readonly rule: string;
  /** error: the model would be wrong or not load · warning: often a mistake · note: right, but a trap for others. */
  readonly level: 'error' | 'warning' | 'note';
  /** The key in question: rope_scaling.factor */
  readonly at: string;
  readonly message: string;
}

/** A rule: the bug it prevents, and where it was met. */
export interface Rule<Subject> {
  readonly name: string;
  readonly prevents: string;
  check(subject: Subject): readonly Omit<Finding, 'rule'>[];
}

export function applyRules<Subject>(rules: readonly Rule<Subject>[], subject: Subject): Finding[] {
  return rules.flatMap((rule) => rule.check(subject).map((finding) => ({ rule: rule.name, ...finding })));
}

/** A finding before its rule's name is put to it. */
type Said = Omit<Finding, 'rule'>;

export const error = (at: string, message: string): Said => ({ level: 'error', at, message });
export const warning = (at: string, message: string): Said => ({ level: 'warning', at, message });
export const note = (at: string, message: string): Said => ({ level: 'note', at, message });
