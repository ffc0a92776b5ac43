export { type DebertaBucketOptions, debertaBucket, debertaRow, debertaSpan } from './buckets.ts';
export { type DebertaConfig, deberta } from './deberta.ts';
