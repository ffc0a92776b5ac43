/** From the results of a demo run to docs/measured.json: what the pages quote, and what says where it comes from. */
import type { Comparison } from '@posenc/training';
import { checkMeasured, type Measured } from './data.ts';

export function extract({ rows, controls, suite, environment }: Comparison): Measured {
  const { training, model, seeds } = suite;
  const control = (name: string) => rounded(controls.data.find((c) => c.name === name)!.loss);
  const { backend, commit, node, finished } = environment;
  const measured = {
    command: 'npm run demo',
    environment: { backend, commit, node, finished },
    trained: {
      length: training.length,
      steps: training.steps,
      batchSize: training.batchSize,
      seeds: seeds.length,
      modelDim: model.modelDim,
      numLayers: model.numLayers,
      numHeads: model.numHeads,
    },
    unigram: control('unigram'),
    bigram: control('bigram'),
    rows: rows.map((row) => {
      const shuffled = controls.shuffled.find(({ name }) => name === row.name)?.loss;
      return {
        name: row.name,
        trainedAs: row.trainedAs,
        encoding: row.encoding,
        cells: row.cells.map(({ length, status, loss }) => ({ length, status, ...(loss && { loss: summary(loss) }) })),
        ...(shuffled && { shuffled: summary(shuffled) }),
      };
    }),
  };
  return checkMeasured(measured, 'results');
}

const summary = ({ mean, sd, n }: { mean: number; sd: number; n: number }) => ({
  mean: rounded(mean),
  sd: rounded(sd),
  n,
});
const rounded = (value: number): number => Math.round(value * 1e4) / 1e4;
