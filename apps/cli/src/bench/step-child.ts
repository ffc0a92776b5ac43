/** The standard step on one of posenc's backends, in a process of its own: `step-child.ts FOLDER BACKEND`. */
import { type BackendName, useBackend } from '@posenc/backend';
import { countParams } from '@posenc/core';
import * as tf from '@tensorflow/tfjs';
import { readProblem } from './problem.ts';
import { reserveOutput, serveSteps } from './serve.ts';
import { standardStep } from './step.ts';

reserveOutput();
const [folder, backend] = process.argv.slice(2) as [string, BackendName];
tf.enableProdMode();
const { version, variant, threads } = await useBackend(backend);
const { model, take } = standardStep(readProblem(folder));
await serveSteps({ version, variant, threads, parameters: countParams(model.params) }, take);
process.exit();
