/** `digest.ts BACKEND` prints a digest of everything five training steps of a transformer leave behind. */
import { createHash } from 'node:crypto';
import * as tf from '@tensorflow/tfjs';
import { type BackendName, useBackend } from '../../src/index.ts';
import { trainStep } from '../step.ts';

await useBackend(process.argv[2] as BackendName);
const step = trainStep({ numLayers: 2, modelDim: 64, numHeads: 4, batch: 4, length: 48, vocab: 65 });
const hash = createHash('sha256');
for (let i = 0; i < 5; i++) hash.update(step().dataSync());
for (const variable of Object.values(tf.engine().registeredVariables)) hash.update(variable.dataSync());
console.log(hash.digest('hex'));
