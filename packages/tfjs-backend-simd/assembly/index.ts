/** Every kernel that JavaScript may call. */
export { adamw } from './adamw';
export { attention, attentionScratchBytes } from './attention';
export { attentionGrad, attentionGradScratchBytes } from './attention-grad';
export { attentionBlock } from './attention-problem';
export { binaryFlat, binaryRows, select } from './binary';
export { copyRows, gatherRows } from './copy';
export { crossEntropy, crossEntropyGrad } from './cross-entropy';
export { dropout } from './dropout';
export { gelu, geluGrad } from './gelu';
export { matmulFewRows, matmulScratchBytes, matmulTiles, packB } from './matmul';
export { norm, normGrad, normGradRows } from './norm';
export { reduceColumns, reduceRows, reduceStrip } from './reduce';
export { rotatePairs } from './rotary';
export { segmentSum, segmentSumStrip } from './segment-sum';
export { setThread } from './simd';
export { logSoftmax, softmax } from './softmax';
export { transposeRows, transposeStrip, transposeTurn } from './transpose';
export { unary } from './unary';
