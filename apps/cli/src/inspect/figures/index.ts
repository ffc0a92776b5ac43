/** Which pictures an encoding gets: decided by what it has and does, never by its name. */
import type { Inspection } from '../inspection.ts';
import { biasFigures } from './bias.ts';
import { contentFigures } from './content.ts';
import { embeddingFigures } from './embedding.ts';
import type { Figure } from './figure.ts';
import { frequencyFigures } from './frequencies.ts';
import { rotationFigures } from './rotation.ts';

export type { Figure } from './figure.ts';

/** In the order in which they explain each other. */
const drawers = [embeddingFigures, frequencyFigures, rotationFigures, biasFigures, contentFigures];

export function figuresOf(inspection: Inspection): Figure[] {
  const figures = drawers.flatMap((draw) => draw(inspection));
  return figures.map((figure, i) => {
    const earlier = figures.slice(0, i).filter(({ name }) => name === figure.name).length;
    return earlier === 0 ? figure : { ...figure, name: `${figure.name}-${earlier + 1}` };
  });
}
