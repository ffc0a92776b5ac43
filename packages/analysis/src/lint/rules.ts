/** Rules for Hugging Face configs. Each names the bug it prevents, as it happened in public. */
import type { Rule } from './finding.ts';
import { modelRules } from './rules-model.ts';
import { scalingRules } from './rules-scaling.ts';
import { spellingRules } from './rules-spelling.ts';
import type { Subject } from './subject.ts';

/** In the order in which a config is read: its keys, their numbers, the model around them. */
export const rules: readonly Rule<Subject>[] = [...spellingRules, ...scalingRules, ...modelRules];
