export * from './fire.ts';
