/** The table that `train` and `eval` print: one model's scores by length. */
import type { Task } from '@posenc/tasks';
import type { Score } from '@posenc/training';
import { columns } from '../ui/style.ts';
import { sizesText } from './format.ts';

interface Scored {
  readonly name: string;
  readonly lengths: readonly {
    readonly multiple: number;
    readonly length: number;
    readonly score: Score | null;
  }[];
}

/** By context length the loss in nats per token and the accuracy; of problems, by their size, the exact match first. */
export function scoreTable(rows: readonly Scored[], task: Task): string {
  const head = (rows[0]?.lengths ?? []).map(({ multiple, length }) => {
    const sizes = task.problemSizes?.(multiple);
    return `${multiple}× (${sizes ? sizesText(sizes) : length})`;
  });
  const body = rows.map(({ name, lengths }) => [
    name,
    ...lengths.map(({ score }) => (score ? scoreText(score) : 'undefined')),
  ]);
  const legend = task.rowsAreProblems
    ? 'Problems exactly right (nats per answer token, accuracy per answer token). Beyond 1× problems are larger than any in training.'
    : 'Nats per token over the same targets at every length (accuracy).';
  return [...columns([['', ...head], ...body]), legend].join('\n');
}

function scoreText({ loss, accuracy, exactMatch }: Score): string {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  return exactMatch === undefined
    ? `${loss.toFixed(3)} (${percent(accuracy)})`
    : `${percent(exactMatch)} (${loss.toFixed(3)}, ${percent(accuracy)})`;
}
