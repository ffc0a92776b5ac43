/** The standard step in jax-js: one jitted function from parameters, moments and batch to the next ones. `jax-js.ts FOLDER` */
import { readFileSync } from 'node:fs';
import { blockUntilReady, init, jit, nn, numpy as np, valueAndGrad } from '@jax-js/jax';
import { readProblem, reserveOutput, serveSteps } from 'posenc/bench';

reserveOutput();
const { sizes, adam, normEps, weights, tokens, targets } = readProblem(process.argv[2]!);
const { numLayers, modelDim: D, numHeads: H, vocabSize: V, batch: B, length: T } = sizes;
const Dh = D / H;
await init('wasm');

type Tree = Record<string, np.Array>;
const each = (f: (path: string) => np.Array): Tree => Object.fromEntries(weights.map(({ path }) => [path, f(path)]));

/** Every use of an array in jax-js takes it over: `get` hands out another reference to a parameter. */
function lossOf(params: Tree, ids: np.Array, next: np.Array): np.Array {
  const get = (path: string) => params[path]!.ref;
  const linear = (x: np.Array, path: string) => np.matmul(x, get(`${path}.weight`)).add(get(`${path}.bias`));
  const norm = (x: np.Array, path: string) => {
    const centred = x.ref.sub(np.mean(x, -1, { keepdims: true }));
    const variance = np.mean(np.square(centred.ref), -1, { keepdims: true });
    const unit = centred.div(np.sqrt(variance.add(normEps)));
    return unit.mul(get(`${path}.gain`)).add(get(`${path}.bias`));
  };
  let x = np.take(get('embedding.tokens'), ids, 0);
  for (let l = 0; l < numLayers; l++) {
    const attend = `layers.${l}.attention`;
    const input = norm(x.ref, `${attend}.norm`);
    const heads = (side: string) => linear(input.ref, `${attend}.${side}`).reshape([B, T, H, Dh]);
    const mixed = nn.dotProductAttention(heads('query'), heads('key'), heads('value'), { isCausal: true });
    input.dispose();
    x = x.add(linear(mixed.reshape([B * T, D]), `${attend}.output`));
    const hidden = nn.relu(linear(norm(x.ref, `layers.${l}.mlp.norm`), `layers.${l}.mlp.up`));
    x = x.add(linear(hidden, `layers.${l}.mlp.down`));
  }
  const logits = np.matmul(norm(x, 'norm'), get('embedding.tokens').transpose());
  const picked = nn.logSoftmax(logits, -1).mul(nn.oneHot(next, V));
  for (const array of Object.values(params)) array.dispose();
  return picked.sum().div(-B * T);
}

const gradient = valueAndGrad(lossOf);
const update = jit((params: Tree, m: Tree, v: Tree, t: np.Array, ids: np.Array, next: np.Array) => {
  const { learningRate, beta1, beta2, epsilon } = adam;
  const refs = each((path) => params[path]!.ref);
  const [loss, g] = gradient(refs, ids, next) as unknown as [np.Array, Tree];
  const m1 = each((path) => m[path]!.mul(beta1).add(g[path]!.ref.mul(1 - beta1)));
  const v1 = each((path) => v[path]!.mul(beta2).add(np.square(g[path]!).mul(1 - beta2)));
  const power = (base: number) => np.exp(t.ref.mul(Math.log(base)));
  const [c1, c2] = [np.subtract(1, power(beta1)), np.subtract(1, power(beta2))];
  const moved = each((path) =>
    params[path]!.sub(
      m1[path]!.ref.div(c1.ref)
        .div(np.sqrt(v1[path]!.ref.div(c2.ref)).add(epsilon))
        .mul(learningRate),
    ),
  );
  for (const array of [t, c1, c2]) array.dispose();
  return [loss, moved, m1, v1] as [np.Array, Tree, Tree, Tree];
});

const shapes = new Map(weights.map(({ path, shape }) => [path, [...shape]]));
const values = new Map(weights.map(({ path, data }) => [path, data]));
let params = each((path) => np.array(values.get(path)! as Float32Array<ArrayBuffer>).reshape(shapes.get(path)!));
let m = each((path) => np.zeros(shapes.get(path)!));
let v = each((path) => np.zeros(shapes.get(path)!));
const ids = np.array(tokens.data as Int32Array<ArrayBuffer>, { dtype: np.int32 });
const next = np.array(targets.data as Int32Array<ArrayBuffer>, { dtype: np.int32 });
let steps = 0;

async function step(): Promise<number> {
  steps++;
  const [loss, ...state] = update(params, m, v, np.array(steps), ids.ref, next.ref) as [np.Array, Tree, Tree, Tree];
  [params, m, v] = state;
  const [value] = await loss.data();
  await blockUntilReady([params, m, v]);
  return value!;
}

const manifest = new URL('../package.json', import.meta.resolve('@jax-js/jax'));
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
// Its worker threads need the `Worker` of browsers, which Node.js does not have.
const threads = typeof Worker === 'undefined' ? 1 : navigator.hardwareConcurrency;
const parameters = weights.reduce((sum, { data }) => sum + data.length, 0);
await serveSteps({ version, variant: 'wasm, jit', threads, parameters }, step);
process.exit();
