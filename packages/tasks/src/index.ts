export * from './built-in.ts';
export * from './ngram.ts';
export * from './registry.ts';
export * from './task.ts';
export * from './text.ts';
export * from './tokenizer.ts';
export * from './windows.ts';
