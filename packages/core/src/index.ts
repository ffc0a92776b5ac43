export { z } from 'zod';
export * from './encoding.ts';
export * from './errors.ts';
export * from './positions.ts';
export * from './random.ts';
