export * from './alibi.ts';
export {
  type AlibiDirections,
  type AlibiSlopes,
  alibiBias,
  alibiSlopes,
} from './bias.ts';
