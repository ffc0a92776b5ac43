/** What a benchmark with rivals of its own builds on: the command, its document, and both ends of its protocol. */
export { benchCommand, type Rivals } from '../commands/bench.ts';
export { processIo } from '../io.ts';
export { columns } from '../ui/style.ts';
export { type Command, nodeModule } from './child.ts';
export { type Contender, threadsEnvironment } from './contenders.ts';
export { type BenchDocument, benchSchema, type EncodingCell, underLoad } from './document.ts';
export type { PartName } from './parts.ts';
export { attentionBytes, attentionCellText, contenderName, megabytes, milliseconds, spreadText } from './print.ts';
export {
  type LoadedProblem,
  quickSizes,
  readProblem,
  type StepProblem,
  type StepSizes,
  standardSizes,
} from './problem.ts';
export { measureProducts, type ProductOptions } from './products.ts';
export { type Ready, reserveOutput, serveSteps } from './serve.ts';
export { measureStandardStep, type StepOptions } from './standard-step.ts';
export { ratios, type Summary, summarize } from './stats.ts';
