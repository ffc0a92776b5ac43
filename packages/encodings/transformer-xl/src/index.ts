export { distanceFrequencies, distanceTable, type TransformerXlConfig, transformerXl } from './transformer-xl.ts';
