/** Figures of encodings and experiments: `figure(data, options) → string`, a self-contained SVG document. */
export { type Bar, type BarChartData, barChart } from './bar-chart.ts';
export { type Component, type ComponentCurvesData, componentCurves } from './component-curves.ts';
export type {
  Axis,
  CartesianData,
  Point,
  Reference,
  ScaleKind,
  Series,
  Tick,
  ValueAxis,
  VerticalReference,
} from './data.ts';
export { FigureError } from './errors.ts';
export { type GridAxis, type HeatmapData, heatmap } from './heatmap.ts';
export { lineChart } from './line-chart.ts';
export { stepChart } from './step-chart.ts';
export { type FigureOptions, type SeriesStyle, styleOf } from './theme.ts';
export { type CirclePair, type UnitCircleData, unitCircle } from './unit-circle.ts';
