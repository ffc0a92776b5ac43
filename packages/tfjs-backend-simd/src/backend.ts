/**
 * The backend: tfjs's cpu backend whose numbers live in WebAssembly memory. Kernels of the cpu backend read and write
 * them through views, without copies; kernels of this package get their addresses.
 */
import { MathBackendCPU } from '@tensorflow/tfjs-backend-cpu';
import { type backend_util, type DataType, type TensorInfo, type TypedArray, util } from '@tensorflow/tfjs-core';
import type { Allocator } from './allocator.ts';
import type { Pool } from './pool.ts';

type HostValues = backend_util.BackendValues;
type NumericType = 'float32' | 'int32' | 'bool';

const isNumeric = (dtype: DataType): dtype is NumericType =>
  dtype === 'float32' || dtype === 'int32' || dtype === 'bool';

/** Numbers of one or more tensors: what the cpu backend's kernels know as `{ values, dtype, refCount }`. */
class Stored {
  readonly dtype: NumericType;
  readonly size: number;
  readonly address: number;
  refCount: number;
  readonly #memory: WebAssembly.Memory;
  #view: TypedArray | undefined;

  constructor(memory: WebAssembly.Memory, address: number, size: number, dtype: NumericType, refCount: number) {
    this.#memory = memory;
    this.address = address;
    this.size = size;
    this.dtype = dtype;
    this.refCount = refCount;
  }

  /** Stays valid when the memory grows, because it is shared. */
  get values(): TypedArray {
    this.#view ??= this.#createView();
    return this.#view;
  }

  #createView(): TypedArray {
    const { buffer } = this.#memory;
    if (this.dtype === 'float32') return new Float32Array(buffer, this.address, this.size);
    if (this.dtype === 'int32') return new Int32Array(buffer, this.address, this.size);
    return new Uint8Array(buffer, this.address, this.size);
  }
}

/** The stock CPU backend with its tensors in one shared WebAssembly memory, its hot kernels there too, on worker threads. */
export class SimdBackend extends MathBackendCPU {
  readonly pool: Pool;
  readonly allocator: Allocator;
  readonly #memory: WebAssembly.Memory;
  /** References that the kernel which runs now has taken and not given back. */
  #taken: Map<object, number> | undefined;

  constructor(memory: WebAssembly.Memory, allocator: Allocator, pool: Pool) {
    super();
    this.#memory = memory;
    this.allocator = allocator;
    this.pool = pool;
  }

  /** Runs a kernel. One that throws (out of memory, say) keeps nothing: what it has made goes, and its other references. */
  guard<T>(kernel: () => T): T {
    // A kernel that another one calls: the outer one answers for both.
    if (this.#taken) return kernel();
    const taken = new Map<object, number>();
    this.#taken = taken;
    try {
      return kernel();
    } catch (error) {
      this.#taken = undefined;
      for (const [dataId, count] of taken) for (let i = 0; i < count; i++) this.disposeData(dataId);
      throw error;
    } finally {
      this.#taken = undefined;
    }
  }

  #count(dataId: object, change: number): void {
    this.#taken?.set(dataId, (this.#taken.get(dataId) ?? 0) + change);
  }

  override write(values: HostValues, shape: number[], dtype: DataType): object {
    const dataId = {};
    this.move(dataId, values, shape, dtype, 1);
    this.#count(dataId, 1);
    return dataId;
  }

  /** Also called while a kernel runs, for an input that another backend holds: nothing that the kernel has taken. */
  override move(dataId: object, values: HostValues, shape: number[], dtype: DataType, refCount: number): void {
    if (!isNumeric(dtype) || values === undefined || values === null) {
      this.data.set(dataId, { values, dtype, refCount });
      return;
    }
    const stored = this.#store(dataId, util.sizeFromShape(shape), dtype, refCount);
    if (stored.size > 0) stored.values.set(values as ArrayLike<number>);
  }

  #store(dataId: object, size: number, dtype: NumericType, refCount: number): Stored {
    const address = this.allocator.allocate(size * util.bytesPerElement(dtype));
    const stored = new Stored(this.#memory, address, size, dtype, refCount);
    this.data.set(dataId, stored);
    return stored;
  }

  /** A new tensor whose elements are whatever was there: the caller writes all of them. */
  output(shape: number[], dtype: NumericType = 'float32'): TensorInfo {
    const dataId = {};
    this.#store(dataId, util.sizeFromShape(shape), dtype, 1);
    this.#count(dataId, 1);
    return { dataId, shape, dtype };
  }

  /** Where the elements are. */
  address({ dataId }: TensorInfo): number {
    return (this.data.get(dataId) as unknown as Stored).address;
  }

  /** The elements, in place: valid until the tensor is disposed. */
  view({ dataId }: TensorInfo): TypedArray {
    return this.data.get(dataId).values as TypedArray;
  }

  /** 32-bit words at an address of this memory. */
  words(address: number, count: number): Int32Array {
    return new Int32Array(this.#memory.buffer, address, count);
  }

  /** The same numbers under another shape: one more reference to them. */
  alias(x: TensorInfo, shape: number[]): TensorInfo {
    this.incRef(x.dataId);
    return { dataId: x.dataId, shape, dtype: x.dtype };
  }

  /** A copy: what is read stays as it is when the tensor goes. */
  override readSync(dataId: object): HostValues {
    const stored = this.data.get(dataId);
    return stored instanceof Stored ? stored.values.slice() : super.readSync(dataId);
  }

  override incRef(dataId: object): void {
    super.incRef(dataId);
    this.#count(dataId, 1);
  }

  override decRef(dataId: object): void {
    super.decRef(dataId);
    this.#count(dataId, -1);
  }

  override disposeData(dataId: object, force = false): boolean {
    this.#count(dataId, -1);
    const stored = this.data.has(dataId) ? (this.data.get(dataId) as unknown) : undefined;
    const gone = super.disposeData(dataId, force);
    if (gone && stored instanceof Stored) this.allocator.release(stored.address);
    return gone;
  }

  override memory() {
    const { bytesInUse, bytesReserved } = this.allocator;
    return { unreliable: false, bytesInUse, bytesReserved } as unknown as ReturnType<MathBackendCPU['memory']>;
  }

  override dispose(): void {
    this.pool.stop();
  }
}
