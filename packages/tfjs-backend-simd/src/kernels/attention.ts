/** Attention and AttentionGrad: see core/kernels/attention-kernel.ts for the meaning of inputs and attributes. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { maskArguments } from './dropout.ts';
import { type Kernel, type KernelArgs, sizeOf, withMemory } from './kernel.ts';
import { reduceAt } from './reduce.ts';

/** The sizes of one call. */
function sizes({ q, k, v }: KernelArgs['inputs']) {
  const [B, H, Tq, Dr] = q!.shape as [number, number, number, number];
  const [, Hkv, Tk] = k!.shape as [number, number, number, number];
  return { B, H, Hkv, Tq, Tk, Dr, Dv: v!.shape[3]! };
}

/** The fields of Problem in assembly/attention-problem.ts, in their order. */
interface Problem {
  readonly scratch: number;
  readonly scratchBytes: number;
  readonly kPacked?: number;
  readonly vPacked?: number;
  readonly out: TensorInfo;
  readonly logSums: TensorInfo;
  readonly dOut?: TensorInfo;
  readonly dq?: TensorInfo;
  readonly dk?: TensorInfo;
  readonly dv?: TensorInfo;
  readonly dBias?: number;
}

const wordsOfProblem = 40;

function writeProblem({ inputs, backend, attrs }: KernelArgs, address: number, p: Problem): void {
  const { H, Hkv, Tq, Tk, Dr, Dv } = sizes(inputs);
  const of = (info: TensorInfo | undefined) => (info && sizeOf(info.shape) > 0 ? backend.address(info) : 0);
  const tables = [inputs.queryPlaces, inputs.keyPlaces, inputs.querySegments, inputs.keySegments];
  const stride = (table: TensorInfo | undefined) => (table && table.shape[0]! > 1 ? table.shape[1]! : 0);
  const [keyLow, keyHigh, threshold, factor] = maskArguments(attrs);
  const words = backend.words(address, wordsOfProblem);
  const float = (value: number) => new Int32Array(Float32Array.of(value).buffer)[0]!;
  words.set([
    ...[p.scratch, p.scratchBytes, of(inputs.q), of(inputs.k), of(inputs.v), p.kPacked ?? 0, p.vPacked ?? 0],
    ...[of(p.out), of(p.logSums), of(inputs.bias), ...tables.map(of), ...tables.map(stride)],
    ...[inputs.bias!.shape[1]!, H, Hkv, Tq, Tk, Dr, Dv],
    ...[float(Number(attrs.scale)), float(Number(attrs.softcap)), Number(attrs.causal)],
    ...[Math.min(Number(attrs.reach), Tq + Tk), keyLow, keyHigh, threshold, float(factor)],
    ...[of(p.dOut), of(p.dq), of(p.dk), of(p.dv), p.dBias ?? 0],
  ]);
}

/** From so many queries on, packing keys and values pays. */
const worthPacking = 4;

const upTo8 = (n: number) => Math.ceil(n / 8) * 8;

export const attention: Kernel = (args) => {
  const { inputs, backend } = args;
  const { pool } = backend;
  const { B, H, Hkv, Tq, Tk, Dr, Dv } = sizes(inputs);
  const out = backend.output([B, H, Tq, Dv]);
  const logSums = backend.output([B, H, Tq]);
  const scratchBytes = pool.call('attentionScratchBytes', Dr, Dv);
  const few = Tq < worthPacking;
  const packedSizes = few ? [] : [4 * B * Hkv * upTo8(Tk) * Dr, 4 * B * Hkv * upTo8(Dv) * Tk];
  const sizesNeeded = [4 * wordsOfProblem, scratchBytes * pool.threads, ...packedSizes];
  withMemory(backend, sizesNeeded, ([problem, scratch, kPacked, vPacked]) => {
    const grain = (work: number) => Math.ceil(16_384 / Math.max(1, work));
    if (!few) {
      const [keyPanels, valuePanels] = [upTo8(Tk) / 8, upTo8(Dv) / 8];
      pool.run('packB', B * Hkv * keyPanels, grain(8 * Dr), [
        ...[kPacked!, backend.address(inputs.k!), Dr, Tk, 1, Dr, Tk * Dr, keyPanels],
      ]);
      pool.run('packB', B * Hkv * valuePanels, grain(8 * Tk), [
        ...[vPacked!, backend.address(inputs.v!), Tk, Dv, Dv, 1, Tk * Dv, valuePanels],
      ]);
    }
    writeProblem(args, problem!, { scratch: scratch!, scratchBytes, kPacked, vPacked, out, logSums });
    const block = pool.call('attentionBlock');
    pool.run('attention', B * H * Math.ceil(Tq / block), grain((few ? worthPacking : block) * Tk), [problem!]);
  });
  return [out, logSums];
};

export const attentionGrad: Kernel = (args) => {
  const { inputs, backend } = args;
  const { pool } = backend;
  const { B, H, Hkv, Tk, Dr, Dv } = sizes(inputs);
  const [dq, dk, dv] = [inputs.q!, inputs.k!, inputs.v!].map(({ shape }) => backend.output(shape));
  const scratchBytes = pool.call('attentionGradScratchBytes', Tk, Dr, Dv);
  const n = inputs.bias!.shape[1]!;
  const dBias = sizeOf(inputs.bias!.shape) > 0 ? backend.output([H, n]) : undefined;
  const needed = [4 * wordsOfProblem, scratchBytes * pool.threads, ...(dBias ? [4 * B * H * n] : [])];
  withMemory(backend, needed, ([problem, scratch, perItem]) => {
    const { out, logSums, dy } = inputs;
    const results = { out: out!, logSums: logSums!, dOut: dy, dq, dk, dv, dBias: perItem };
    writeProblem(args, problem!, { scratch: scratch!, scratchBytes, ...results });
    pool.run('attentionGrad', B * Hkv, 1, [problem!]);
    if (dBias) reduceAt(backend, 'Sum', perItem!, backend.address(dBias), 1, B, H * n);
  });
  return [dq!, dk!, dv!, ...(dBias ? [dBias] : [])];
};
