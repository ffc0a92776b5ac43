/**
 * Hugging Face checkpoints into the shared transformer, and back. What is particular to a family is in `families/`; here is
 * what holds for all: every tensor of a file is used, or ignored for a stated reason; every parameter is filled; shapes agree.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  type AnyEncoding,
  createTransformer,
  dimsOf,
  type EncodingConfig,
  type ModelConfig,
  type ParamSpecs,
  PosencError,
  type Registry,
  resolveModel,
  sizeOf,
  type Transformer,
} from '@posenc/core';
import type { Binding, Shape } from './binding.ts';
import type { EncodingJson, Family } from './families/family.ts';
import { familyNamed, familyOf } from './families/index.ts';
import { type HubCheckpoint, readHubFolder, writeHubFolder } from './hub-folder.ts';
import type { HostTensor } from './safetensors.ts';
import { canonicalNames, hasOwnHead, type Ignored, ignoredTensors, type TensorFile } from './tensor-names.ts';

/** By parameter path. */
export type HostParams = Readonly<Record<string, HostTensor<'F32'>>>;

/** A checkpoint in our words. */
export interface LoadedModel<P extends AnyEncoding = AnyEncoding> {
  /** `model_type` in config.json. */
  readonly family: string;
  readonly model: Transformer;
  readonly encoding: EncodingConfig<P>;
  /** In the order of `model.params`. */
  readonly params: HostParams;
  /** What a user should know about this family or this file. */
  readonly notes: readonly string[];
  /** Tensors of the file that serve no purpose here. */
  readonly ignored: readonly Ignored[];
  /** config.json as it was. */
  readonly source: Readonly<Record<string, unknown>>;
}

/** What is needed to write a checkpoint: a `LoadedModel`, or a trained model and the family to write it as. */
export interface WritableModel {
  readonly family: string;
  readonly model: { readonly config: ModelConfig };
  /** JSON, as for a registry. */
  readonly encoding: object;
  readonly params: HostParams;
  /** Keys of config.json to keep where the model does not decide them (ids of special tokens, context length …). */
  readonly source?: Readonly<Record<string, unknown>>;
}

/**
 * Loads a folder; `registry` creates the encoding that its config.json asks for.
 *
 * @throws PosencError when the folder cannot be read, the family is not supported, config.json asks for what the shared
 *   transformer lacks, or a tensor is missing, unknown, or of another shape than config.json says
 */
export function loadHuggingFace<P extends AnyEncoding>(folder: string, registry: Registry<P>): LoadedModel<P> {
  return fromHuggingFace(readHubFolder(folder), registry);
}

/**
 * Writes a folder that `loadHuggingFace` and transformers 4 and 5 read.
 *
 * @throws PosencError when the disk fails, or the family cannot express the model
 */
export function saveHuggingFace<P extends AnyEncoding>(
  folder: string,
  model: WritableModel,
  registry: Registry<P>,
): void {
  writeHubFolder(folder, toHuggingFace(model, registry));
}

/** `loadHuggingFace` without the files. */
export function fromHuggingFace<P extends AnyEncoding>(
  { config: source, tensors }: HubCheckpoint,
  registry: Registry<P>,
): LoadedModel<P> {
  const family = familyOf(source);
  const file = canonicalNames(tensors, family.names);
  const said = family.read(source, 'config.json');
  const saidModel = resolveModel(said.model, 'config.json');
  refuseLarger(saidModel, tensors);
  const ownHead = saidModel.tiedEmbeddings && hasOwnHead(file, family.names, embeddingName(family, saidModel));
  const config = ownHead ? { ...saidModel, tiedEmbeddings: false } : saidModel;
  const encoding = registry.parse(said.encoding, 'the encoding in config.json');
  const model = createTransformer(config, registry.create(encoding, dimsOf(config)));

  const filled: Record<string, HostTensor<'F32'>> = {};
  const used = new Set<string>();
  for (const binding of bindingsOf(family, config, model.params)) {
    const shapes = binding.ours.map((path) => model.params[path]!.shape);
    const theirShapes = binding.theirShapes(shapes);
    const theirs = binding.theirs.map((name, i) => weights(file, name, theirShapes[i]!, family));
    const ours = shapes.map((shape) => new Float32Array(sizeOf(shape)));
    binding.walk(shapes, (part, at, theirPart, theirAt) => {
      ours[part]![at] = theirs[theirPart]![theirAt]!;
    });
    binding.ours.forEach((path, i) => {
      filled[path] = { dtype: 'F32', shape: shapes[i]!, data: ours[i]! };
    });
    for (const name of binding.theirs) used.add(name);
  }
  const ignored = ignoredTensors(file, used, family);
  const notes = ownHead
    ? ['config.json says that the head is the token embedding; the file has a head of its own, which is used.']
    : [];
  return {
    family: family.name,
    model,
    encoding,
    params: Object.fromEntries(Object.keys(model.params).map((path) => [path, filled[path]!])),
    notes: [...family.notes, ...notes],
    ignored,
    source,
  };
}

/** `saveHuggingFace` without the files. */
export function toHuggingFace<P extends AnyEncoding>(given: WritableModel, registry: Registry<P>): HubCheckpoint {
  const family = familyNamed(given.family);
  const { config } = given.model;
  const parsed = registry.parse(given.encoding);
  const encoding = parsed as unknown as EncodingJson;
  if (!family.encodings.includes(encoding.type))
    throw new PosencError(
      `a ${family.name} checkpoint cannot have the encoding "${encoding.type}"; it can have: ${family.encodings.join(', ')}`,
    );
  const written = writeConfig(family, config, encoding, given.source);
  const back = family.read(written, 'the config.json written');
  refuseChanges(family, 'model', config, resolveModel(back.model));
  refuseChanges(family, 'encoding', parsed, registry.parse(back.encoding));

  const specs = createTransformer(config, registry.create(parsed, dimsOf(config))).params;
  const tensors = new Map<string, HostTensor>();
  for (const binding of bindingsOf(family, config, specs)) {
    const shapes = binding.ours.map((path) => specs[path]!.shape);
    const ours = binding.ours.map((path, i) => ownWeights(given.params, path, shapes[i]!));
    const theirShapes = binding.theirShapes(shapes);
    const theirs = theirShapes.map((shape) => new Float32Array(sizeOf(shape)));
    binding.walk(shapes, (part, at, theirPart, theirAt) => {
      theirs[theirPart]![theirAt] = ours[part]![at]!;
    });
    binding.theirs.forEach((name, i) => {
      tensors.set(name, { dtype: 'F32', shape: theirShapes[i]!, data: theirs[i]! });
    });
  }
  return { config: written, tensors };
}

/** Before anything is built of these sizes. Each is a side of some matrix in the file. */
function refuseLarger(c: ModelConfig, tensors: HubCheckpoint['tensors']): void {
  const numbers = Array.from(tensors.values()).reduce((total, { data }) => total + data.length, 0);
  const sizes = {
    vocabSize: c.vocabSize,
    modelDim: c.modelDim,
    mlpDim: c.mlpDim,
    'numHeads · headDim': c.numHeads * c.headDim,
  };
  for (const [name, size] of Object.entries(sizes))
    if (size > numbers)
      throw new PosencError(
        `config.json makes ${name} ${size}, and the whole file holds only ${numbers} numbers: they belong to different models`,
      );
}

/** The bindings whose parameters this model has. Throws PosencError when one of its parameters has none. */
function bindingsOf(family: Family, config: ModelConfig, specs: ParamSpecs): Binding[] {
  const bindings = family.bindings(config).filter(({ ours }) => ours.every((path) => path in specs));
  const bound = new Set(bindings.flatMap(({ ours }) => ours));
  const unbound = Object.keys(specs).filter((path) => !bound.has(path));
  if (unbound.length)
    throw new PosencError(`a ${family.architecture} has no tensor for the model's parameters ${unbound.join(', ')}`);
  return bindings;
}

const embeddingName = (family: Family, config: ModelConfig): string =>
  family.bindings(config).find(({ ours }) => ours.includes('embedding.tokens'))!.theirs[0]!;

/** One tensor of the file as float32. Throws PosencError when it is missing, of another shape, or not made of floats. */
function weights(file: TensorFile, canonical: string, shape: Shape, { architecture }: Family): Float32Array {
  const found = file.get(canonical);
  if (!found)
    throw new PosencError(
      `the file has no tensor "${canonical}" [${shape.join(', ')}], which the ${architecture} in config.json has: ` +
        'it holds another kind of model, or a part of one',
    );
  const { name, tensor } = found;
  if (tensor.shape.join() !== shape.join())
    throw new PosencError(
      `the file's tensor "${name}" is [${tensor.shape.join(', ')}], but config.json makes it [${shape.join(', ')}]: they belong to different models`,
    );
  if (tensor.data instanceof Float32Array) return tensor.data;
  if (tensor.data instanceof Float64Array) return Float32Array.from(tensor.data);
  throw new PosencError(
    `the file's tensor "${name}" is ${tensor.dtype}, and weights are F32, F16, BF16 or F64: take a version of the model that is not quantized`,
  );
}

function ownWeights(params: HostParams, path: string, shape: Shape): Float32Array {
  const found = params[path];
  if (!found) throw new PosencError(`the weights have no "${path}" [${shape.join(', ')}], which the model has`);
  if (found.shape.join() !== shape.join())
    throw new PosencError(
      `the weights' "${path}" is [${found.shape.join(', ')}], and the model's [${shape.join(', ')}]`,
    );
  return found.data;
}

/** The family's keys over those of the config that was read, without what is only another name or version of them. */
function writeConfig(
  family: Family,
  config: ModelConfig,
  encoding: EncodingJson,
  source: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const kept = Object.entries(source).filter(([key]) => !(key in family.aliases) && key !== 'dtype');
  const all = {
    // Absent, they would be those of the family's best-known model.
    bos_token_id: null,
    eos_token_id: null,
    pad_token_id: null,
    ...Object.fromEntries(kept),
    model_type: family.name,
    architectures: [family.architecture],
    torch_dtype: 'float32',
    ...family.write(config, encoding),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** How a model was or will be trained is not in config.json, and does not matter to its weights. */
const trainingOnly = new Set(['dropout', 'initStd', 'embeddingInitStd']);

/** What config.json has no word for is lost: found by reading back what was written. */
function refuseChanges(family: Family, what: string, before: object, after: object): void {
  const [old, now] = [before, after] as [Record<string, unknown>, Record<string, unknown>];
  for (const key of new Set([...Object.keys(old), ...Object.keys(now)]))
    if (!trainingOnly.has(key) && !isDeepStrictEqual(old[key], now[key]))
      throw new PosencError(
        `a ${family.name} checkpoint cannot express this ${what}: its ${key} is ${JSON.stringify(old[key])}, and would be read as ${JSON.stringify(now[key])}`,
      );
}
