export * from './learned.ts';
