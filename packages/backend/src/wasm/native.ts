/** The two C++ functions that do our arithmetic, called on ranges of memory without tfjs's checks and copies. */
import type { WasmBackend, WasmModule } from './memory.ts';

/** Positions are byte offsets in WebAssembly memory; all numbers there are float32. */
export interface Native {
  /** C = A·B, row-major: [M, K]·[K, N]. Packs B first. */
  multiply(a: number, b: number, c: number, M: number, K: number, N: number): void;
  /** The same on whole tensors, by their numbers; keeps the packed B for as long as its tensor lives. */
  multiplyTensors(a: number, b: number, c: number, M: number, K: number, N: number): void;
  /** c = a + b, `size` elements; c may be a. */
  add(a: number, b: number, c: number, size: number): void;
}

/** Numbers no tensor gets: tfjs counts up from 1. They name ranges inside tensors, without copying. */
const [rangeA, rangeB, rangeC] = [-1, -2, -3] as const;

let prepared: { readonly wasm: WasmModule; readonly native: Native } | undefined;

export function native({ wasm }: WasmBackend): Native {
  if (prepared?.wasm !== wasm) prepared = { wasm, native: prepare(wasm) };
  return prepared.native;
}

function prepare(wasm: WasmModule): Native {
  const matMul = wasm.cwrap('BatchMatMul', null, Array<'number'>(9).fill('number'));
  const add = wasm.cwrap('Add', null, Array<'number'>(8).fill('number'));
  const { registerTensor, disposeData } = wasm.tfjs;
  const shapes = wasm._malloc(6 * 4);
  const float32 = 0;

  const multiplyTensors: Native['multiplyTensors'] = (a, b, c, M, K, N) => {
    new Int32Array(wasm.HEAPU8.buffer, shapes, 6).set([1, M, K, 1, K, N]);
    matMul(a, shapes, 3, b, shapes + 12, 3, 0, 0, c);
  };
  /** Runs `kernel` on three ranges under their passing numbers. */
  function onRanges(a: number, sizeA: number, b: number, sizeB: number, c: number, sizeC: number, kernel: () => void) {
    registerTensor(rangeA, sizeA, a);
    registerTensor(rangeB, sizeB, b);
    registerTensor(rangeC, sizeC, c);
    kernel();
    disposeData(rangeA);
    disposeData(rangeB);
    disposeData(rangeC);
  }
  return {
    multiplyTensors,
    multiply: (a, b, c, M, K, N) =>
      onRanges(a, M * K, b, K * N, c, M * N, () => multiplyTensors(rangeA, rangeB, rangeC, M, K, N)),
    add: (a, b, c, size) =>
      onRanges(a, size, b, size, c, size, () => {
        new Int32Array(wasm.HEAPU8.buffer, shapes, 1)[0] = size;
        add(rangeA, shapes, 1, rangeB, shapes, 1, float32, rangeC);
      }),
  };
}
