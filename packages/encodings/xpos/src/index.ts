export * from './tables.ts';
export * from './xpos.ts';
