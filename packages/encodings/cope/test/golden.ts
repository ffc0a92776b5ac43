/** This package's golden files. */
import { goldenOf } from '../../../../golden.shared.ts';

export { largestDifference, type Tensor } from '../../../../golden.shared.ts';

export const { testCases } = goldenOf(import.meta.url);
