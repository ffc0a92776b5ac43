import { type ConfigEnv, mergeConfig } from 'vitest/config';
import shared from '../../vitest.shared.ts';

// Comparisons train two trials at a time, as they do for users.
export default (env: ConfigEnv) => mergeConfig(shared(env), { test: { env: { POSENC_THREADS: '2' } } });
