export type { Finding } from './lint/finding.ts';
export { lintHuggingFace, lintRules } from './lint/hugging-face.ts';
export { lintStack, type Stack, stackRules } from './lint/stack.ts';
