export * from './sinusoidal.ts';
