/** What a training run and its evaluation are told, in JSON. */
import { z } from '@posenc/core';

const randomizedPositions = z
  .int()
  .min(2)
  .optional()
  .describe(
    'place tokens at positions drawn from 0 … this − 1, sorted, each at most once, instead of 0, 1, 2 … (Ruoss 2023); for absolute and rotary encodings: for relative ones the paper draws distances',
  );

/** The JSON of a training, checked: lengths, batch, steps, AdamW, the schedule. */
export const trainingSchema = z.strictObject({
  length: z.int().min(2).describe('L: tokens per training sequence'),
  batchSize: z.int().min(1).default(16).describe('sequences per step'),
  steps: z.int().min(1).describe('optimiser steps; tokens seen = steps × batchSize × length'),
  learningRate: z.number().positive().default(3e-3).describe('peak, after warm-up'),
  warmup: z.number().min(0).max(1).default(0.1).describe('share of the steps spent warming up'),
  finalFraction: z.number().min(0).max(1).default(0.1).describe('the cosine ends at this share of the peak'),
  beta1: z.number().min(0).lt(1).default(0.9),
  beta2: z.number().min(0).lt(1).default(0.99),
  epsilon: z.number().positive().default(1e-8),
  weightDecay: z.number().min(0).default(0.1).describe('decoupled; matrices only'),
  clipNorm: z.number().positive().default(1).describe('largest global gradient norm'),
  randomizedPositions,
});

/** A training config, defaults filled in. */
export type TrainingConfig = z.output<typeof trainingSchema>;

/** Some of the keys, without their defaults: a key left out must not stand for its default, for it changes nothing. */
export const trainingChanges = z.strictObject(
  Object.fromEntries(
    Object.entries(trainingSchema.shape).map(([key, field]) => {
      const bare = (field instanceof z.ZodDefault ? field.unwrap() : field).optional();
      return [key, field.description === undefined ? bare : bare.describe(field.description)];
    }),
  ) as Record<keyof TrainingConfig, z.ZodOptional<z.ZodNumber>>,
);

/** The JSON of an evaluation, checked: at which lengths, on how many windows. */
export const evaluationSchema = z.strictObject({
  multiples: z
    .array(z.int().min(1).max(4096))
    .min(1)
    .default([1, 2, 4, 8])
    .describe('evaluation lengths as multiples k of the training length L'),
  windows: z
    .int()
    .min(1)
    .max(16384)
    .default(32)
    .describe(
      'evaluation windows, each of which scores the last L tokens; or problems, of which the answers are scored',
    ),
  batchTokens: z.int().min(1).default(2048).describe('tokens per evaluation batch: bounds memory, changes no number'),
  randomizedPositions,
});

/** An evaluation config, defaults filled in. */
export type EvaluationConfig = z.output<typeof evaluationSchema>;
