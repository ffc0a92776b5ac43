/** Cost of encodings by length: which ones, and the processes that measure them. */
import type { BackendName } from '@posenc/backend';
import { type ModelInput, PosencError } from '@posenc/core';
import { readEncoding } from '../config/encoding.ts';
import { builtIn } from '../encodings.ts';
import { isMistake } from '../exit.ts';
import type { Io } from '../io.ts';
import { workspaceEncodings } from '../plugins/workspace.ts';
import { loadEncodings } from '../plugins.ts';
import { ChildEnded, nodeModule, startChild } from './child.ts';
import type { EncodingBench, EncodingCell, EncodingRow } from './document.ts';
import type { EncodingReady, EncodingRequest } from './encoding-child.ts';
import type { Effort } from './encoding-cost.ts';
import type { Measuring } from './machine.ts';

export interface Candidate {
  readonly name: string;
  readonly config: EncodingRequest['config'];
  readonly plugins: readonly string[];
}

/** One layer of the standard step's width: what an encoding costs, it costs per layer, and 2,048 tokens of any of them fit into 4 GiB. */
export const encodingModel = { numLayers: 1, modelDim: 128, numHeads: 4, vocabSize: 64 } as const satisfies ModelInput;

/**
 * The encodings asked for; when none is, all that are known here with their defaults, NoPE first: measured beside itself, it
 * shows how far the others' ratios can be trusted.
 */
export async function candidates(specs: readonly string[], plugins: readonly string[], io: Io): Promise<Candidate[]> {
  const given = await Promise.all(
    specs.map(async (name): Promise<Candidate> => {
      const { config, loaded } = await readEncoding(name, plugins, io);
      return { name, config, plugins: loaded.map(({ specifier }) => specifier) };
    }),
  );
  if (given.length) return given;
  const types = ['nope', ...builtIn.map(({ type }) => type).filter((type) => type !== 'nope')];
  const known = types.map((type): Candidate => ({ name: type, config: { type }, plugins: [] }));
  const found: Candidate[] = [];
  for (const specifier of [...plugins, ...workspaceEncodings().keys()])
    try {
      for (const { plugin } of await loadEncodings([specifier], io.cwd))
        found.push({ name: plugin.type, config: { type: plugin.type }, plugins: [specifier] });
    } catch (error) {
      if (!isMistake(error) || plugins.includes(specifier)) throw error;
      io.stderr.write(`not measured: ${error.message}\n`);
    }
  const others = found.filter(({ name }, i) => !types.includes(name) && found.findIndex((f) => f.name === name) === i);
  const parsed = [...known, ...others].map(async (candidate) => ({
    ...candidate,
    config: (await readEncoding(JSON.stringify(candidate.config), candidate.plugins, io)).config,
  }));
  return Promise.all(parsed);
}

export interface EncodingOptions extends Measuring {
  readonly lengths: readonly number[];
  readonly backend: BackendName;
  readonly effort: Effort;
  readonly cwd: string;
  onRow(row: EncodingRow): void;
}

/** Measures one encoding after another, each in a process of its own, and a fresh one after a failure. */
export async function measureEncodings(all: readonly Candidate[], options: EncodingOptions): Promise<EncodingBench> {
  const rows: EncodingRow[] = [];
  let backend: EncodingBench['backend'] | undefined;
  for (const { name, config, plugins } of all) {
    const { cwd, effort } = options;
    const request: EncodingRequest = { config, plugins, cwd, backend: options.backend, model: encodingModel, effort };
    const cells: EncodingCell[] = [];
    let parameters: EncodingRow['parameters'] | undefined;
    while (cells.length < options.lengths.length) {
      const child = startChild(
        nodeModule(new URL('./encoding-child.ts', import.meta.url), [JSON.stringify(request)]),
        options.signal,
      );
      try {
        const ready = (await child.receive()) as EncodingReady;
        backend = ready.backend;
        parameters = ready.parameters;
        do {
          const length = options.lengths[cells.length]!;
          options.onProgress(`encodings: ${name}, ${length} tokens`);
          await options.watch.rest();
          child.send({ length });
          cells.push((await child.receive()) as EncodingCell);
        } while (cells.length < options.lengths.length && cells.at(-1)!.status !== 'failed');
      } catch (error) {
        if (!(error instanceof ChildEnded) || options.signal.aborted) throw error;
        if (!parameters) throw new PosencError(`${name} could not be measured: ${error.message}`, { cause: error });
        cells.push({ length: options.lengths[cells.length]!, status: 'failed', reason: error.message });
      } finally {
        await child.stop();
      }
    }
    const row = { name, config, parameters: parameters!, cells };
    options.onRow(row);
    rows.push(row);
  }
  return { backend: backend!, model: { ...encodingModel }, lengths: [...options.lengths], rows };
}
