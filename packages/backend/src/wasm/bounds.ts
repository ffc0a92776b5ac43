/** ScatterNd and GatherNd with their indices checked: the stock kernels read and write wherever an index points. */
import type { TensorInfo } from '@tensorflow/tfjs';
import { elements, type Kernel } from './memory.ts';

export const inBounds =
  (stock: Kernel, name: string): Kernel =>
  (args) => {
    const { inputs, backend, attrs } = args;
    const { indices, params } = inputs as { indices: TensorInfo; params?: TensorInfo };
    const shape = params?.shape ?? (attrs.shape as number[]);
    const depth = indices.shape.at(-1)!;
    elements(backend, indices).forEach((index, i) => {
      const extent = shape[i % depth]!;
      if (index < 0 || index >= extent)
        throw new Error(`${name}: the index ${index} is not in [0, ${extent - 1}], axis ${i % depth} of [${shape}]`);
    });
    return stock(args);
  };
