import { curveLinear } from 'd3-shape';
import { cartesian } from './cartesian.ts';
import type { CartesianData } from './data.ts';
import type { FigureOptions } from './theme.ts';

/**
 * Loss curves, loss over evaluation length, loss by position, bias by distance.
 *
 * Up to 16 points a series: a marker each, spreads as error bars set side by side. More: a line with a few markers, spreads as a
 * band; a series of any length stays as small as the picture is wide. Names stand beside the line ends.
 *
 * @returns a self-contained SVG document
 * @throws FigureError if no point is finite, or a log scale meets a value that is not positive
 */
export function lineChart(data: CartesianData, options: FigureOptions = {}): string {
  return cartesian('lineChart', 'Line chart', curveLinear, data, options);
}
