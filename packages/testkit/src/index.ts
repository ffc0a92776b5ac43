export * from './law.ts';
export { lawsFor, lawsForEncoding } from './laws.ts';
export * from './tolerance.ts';
