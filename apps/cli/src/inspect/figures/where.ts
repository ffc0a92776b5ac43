/** What a picture of some layers says about the others. */
import type { Group, Measured } from '../measure.ts';
import { layersText } from '../words.ts';

/** Added to titles, files and captions when not all layers do the same. */
export interface Where {
  readonly text: string;
  readonly suffix: string;
  readonly sentence: string | undefined;
}

export function whereOf({ layers, alike }: Group, { groups }: Measured): Where {
  if (groups.length === 1) return { text: '', suffix: '', sentence: undefined };
  return {
    text: `, ${layersText(layers)}`,
    suffix: `-layer-${layers[0]}`,
    sentence:
      alike.length > 0
        ? `${layersText(alike).replace('l', 'L')} ${alike.length > 1 ? 'do' : 'does'} the same with parameters of ${alike.length > 1 ? 'their' : 'its'} own.`
        : undefined,
  };
}

/** Layers that differ in nothing but the values of their parameters share their pictures: those of the first. */
export const isFirstOfKind = ({ layers, alike }: Group): boolean => alike.every((layer) => layer > layers[0]!);
