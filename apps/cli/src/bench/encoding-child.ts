/** One encoding beside NoPE in a process of its own: its memory and its crashes are its own. `encoding-child.ts REQUEST` */
import { createInterface } from 'node:readline';
import { type BackendName, useBackend } from '@posenc/backend';
import {
  countParams,
  createTransformer,
  dimsOf,
  type EncodingConfig,
  type ModelInput,
  resolveModel,
} from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { loadRegistry } from '../config/encoding.ts';
import type { EncodingBench, EncodingCell } from './document.ts';
import { createSubject, type Effort, measureCell } from './encoding-cost.ts';
import { answer, reserveOutput } from './serve.ts';

export interface EncodingRequest {
  readonly config: EncodingConfig;
  readonly plugins: readonly string[];
  readonly cwd: string;
  readonly backend: BackendName;
  readonly model: ModelInput;
  readonly effort: Effort;
}

export interface EncodingReady {
  readonly backend: EncodingBench['backend'];
  readonly parameters: { readonly total: number; readonly encoding: number };
}

reserveOutput();
const { config, plugins, cwd, backend, model, effort } = JSON.parse(process.argv[2]!) as EncodingRequest;
tf.enableProdMode();
const { name, version, variant, threads, description } = await useBackend(backend);
const { registry } = await loadRegistry(plugins, { cwd });
const resolved = resolveModel(model);
const withEncoding = (c: EncodingConfig) => createTransformer(resolved, registry.create(c, dimsOf(resolved)));
const subject = createSubject(withEncoding(config));
const nope = createSubject(withEncoding(registry.parse({ type: 'nope' })));
const { params, encoding } = subject.model;
answer({
  backend: { name, version, variant, threads, description },
  parameters: { total: countParams(params), encoding: countParams(encoding.params) },
} satisfies EncodingReady);

for await (const line of createInterface({ input: process.stdin })) {
  const { length } = JSON.parse(line) as { length: number };
  let cell: EncodingCell;
  try {
    cell = await measureCell(subject, nope, length, effort);
  } catch (error) {
    cell = { length, status: 'failed', reason: error instanceof Error ? error.message : String(error) };
  }
  answer(cell);
}
process.exit();
