export { type ShawConfig, shaw, shawRow } from './shaw.ts';
