/** One encoding beside NoPE in a process of its own: its memory and its crashes are its own. `encoding-child.ts REQUEST` */
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
import { type Effort, measureCell } from './encoding-cost.ts';
import { answer, reserveOutput, serve } from './serve.ts';
import { createSubject } from './work.ts';

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

await serve(async ({ length }: { length: number }): Promise<EncodingCell> => {
  try {
    return await measureCell(subject, nope, length, effort);
  } catch (error) {
    return { length, status: 'failed', reason: error instanceof Error ? error.message : String(error) };
  }
});
process.exit();
