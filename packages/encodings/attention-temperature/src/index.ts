export * from './attention-temperature.ts';
export { type Rule, type RuleInput, temperatureAt } from './rules.ts';
