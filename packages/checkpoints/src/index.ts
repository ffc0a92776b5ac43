export * from './atomic.ts';
export * from './checkpoint.ts';
export * from './file-error.ts';
export * from './folder.ts';
export * from './json-lines.ts';
export * from './safetensors.ts';
