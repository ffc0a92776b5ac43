/** Every kernel that JavaScript may call. */
export * from './matmul';
export { setThread } from './simd';
