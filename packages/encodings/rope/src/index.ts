export { type RopeConfig, type RopeOptions, rotaryWidth } from './config.ts';
export { type HeadContext, ropeFrequencies } from './frequencies.ts';
export { fromHuggingFace, type HuggingFaceEncoding, type TemperatureJson } from './hugging-face/index.ts';
export { createRope, rope } from './rope.ts';
export * from './rotary.ts';
export { scalings } from './scaling/index.ts';
export { roundWavelengths } from './scaling/resonance.ts';
export * from './scaling/scaling.ts';
export { inverseFrequencies } from './scaling/spacing.ts';
