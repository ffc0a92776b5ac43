export { decayBias, type FoxConfig, forgetBias, fox, logSigmoid } from './fox.ts';
