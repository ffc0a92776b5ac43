export { type T5BucketOptions, t5Bucket, t5Buckets, t5BucketThresholds } from './buckets.ts';
export { type T5Config, t5 } from './t5.ts';
