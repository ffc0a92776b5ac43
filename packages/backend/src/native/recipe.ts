/** What a native backend is made of, and what that costs. */
import type { NativeName } from './folder.ts';

export interface Recipe {
  readonly name: NativeName;
  /** The binding: compiled code with an npm package around it. */
  readonly npmPackage: string;
  /** The package on PyPI whose wheel carries the TensorFlow C library. */
  readonly wheel: string;
  /** Of that wheel, where it is always the same file. */
  readonly wheelSha256: string | undefined;
  /** Paths in the wheels that are kept; everything else in them is for Python. */
  readonly keep: readonly string[];
  /** Rounded up, in MB: what is downloaded, and what is needed on the disk while it is built. */
  readonly download: number;
  readonly disk: number;
}

const library = [
  'tensorflow/libtensorflow_cc.so.2',
  'tensorflow/libtensorflow_framework.so.2',
  'tensorflow/include/',
  'tensorflow/THIRD_PARTY_NOTICES.txt',
];

export const recipes: { readonly [N in NativeName]: Recipe } = {
  tensorflow: {
    name: 'tensorflow',
    npmPackage: '@tensorflow/tfjs-node',
    wheel: 'tensorflow-cpu==2.15.1',
    wheelSha256: '54660c074d7241a503e81edfd9f5ef5af88f64051b72e2945f26318c790f2d26',
    keep: library,
    download: 290,
    disk: 1600,
  },
  'tensorflow-gpu': {
    name: 'tensorflow-gpu',
    npmPackage: '@tensorflow/tfjs-node-gpu',
    wheel: 'tensorflow[and-cuda]==2.21.0',
    wheelSha256: undefined,
    // The libraries of CUDA come as wheels of their own, and are found beside TensorFlow.
    keep: [...library, 'nvidia/'],
    download: 3600,
    disk: 13000,
  },
};

/** The wheels are for this Python, whichever one pip runs on: only the C library in them is used. */
export const wheelPython = { version: '3.11', abis: ['cp311', 'abi3', 'none'] } as const;
