export * from './my-encoding.ts';
