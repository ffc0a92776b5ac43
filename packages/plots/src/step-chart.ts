import { curveStep } from 'd3-shape';
import { cartesian } from './cartesian.ts';
import type { CartesianData } from './data.ts';
import type { FigureOptions } from './theme.ts';

/**
 * A quantity that jumps between whole numbers, such as the T5 bucket of an offset: each value holds half-way to its neighbours.
 * Data, options and errors as in `lineChart`.
 */
export function stepChart(data: CartesianData, options: FigureOptions = {}): string {
  return cartesian('stepChart', 'Step chart', curveStep, data, options);
}
