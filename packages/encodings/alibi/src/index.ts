export * from './alibi.ts';
