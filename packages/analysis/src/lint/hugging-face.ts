/** Lint of a Hugging Face config.json. */
import { applyRules, type Finding } from './finding.ts';
import { rules } from './rules.ts';
import { isDict, subjectOf } from './subject.ts';

/** Everything questionable about the positions in a config.json, worst first. */
export function lintHuggingFace(config: unknown): Finding[] {
  if (!isDict(config)) return [{ rule: 'config', level: 'error', at: '', message: 'the config is no JSON object' }];
  const order = { error: 0, warning: 1, note: 2 };
  return applyRules(rules, subjectOf(config)).sort((a, b) => order[a.level] - order[b.level]);
}

/** Every rule and the bug it prevents. */
export const lintRules: readonly { readonly name: string; readonly prevents: string }[] = rules.map(
  ({ name, prevents }) => ({ name, prevents }),
);
