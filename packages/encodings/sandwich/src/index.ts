export * from './sandwich.ts';
