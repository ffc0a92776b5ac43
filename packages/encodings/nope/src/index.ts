export * from './nope.ts';
