/** The entry file of worker processes in tests. */
import * as tf from '@tensorflow/tfjs';
import { serveTrials } from '../src/index.ts';
import { environment } from './environment.ts';

serveTrials(async () => {
  await tf.setBackend('cpu');
  return environment;
});
