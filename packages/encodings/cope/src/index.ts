export { type CopeConfig, cope, copePositions, interpolate } from './cope.ts';
