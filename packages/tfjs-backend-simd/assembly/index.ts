/** Every kernel that JavaScript may call. */
export { adamw } from './adamw';
export { attention, attentionScratchBytes } from './attention';
export { attentionGrad, attentionGradScratchBytes } from './attention-grad';
export { attentionBlock } from './attention-problem';
export { binaryFlat, binaryRows, select } from './binary';
export { copyRows, gatherRows } from './copy';
export { crossEntropy, crossEntropyGrad } from './cross-entropy';
export { cumulativeSum } from './cumulative';
export { dropout } from './dropout';
export { gatedActivation, gatedActivationGrad, gelu, geluGrad } from './gelu';
export { matmulScratchBytes, matmulTiles } from './matmul';
export { matmulFewRows } from './matmul-few';
export { norm, normGrad, normGradRows } from './norm';
export { reduceColumns, reduceRows, reduceStrip } from './reduce';
export { rotatePairs } from './rotary';
export { segmentSum, segmentSumStrip } from './segment-sum';
export { packB } from './pack';
export { setThread } from './simd';
export { logSoftmax, softmax } from './softmax';
export { multiplyPanels, setWide } from './tiles';
export { transposeRows, transposeStrip, transposeTurn } from './transpose';
export { unary } from './unary';

/** Where the tables of numbers end: before what is handed out (src/task.ts). */
export function tablesEnd(): usize {
  return __heap_base;
}
