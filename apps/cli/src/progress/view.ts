/** Long work made visible: a live bar per trial on a terminal, plain lines elsewhere. */
import type { CompareEvent, PlannedTrial, TrialResult } from '@posenc/training';
import type { Output } from '../io.ts';
import { length, painter } from '../ui/style.ts';
import { duration } from './duration.ts';
import { createTracker, type Tracked, type Tracker } from './tracker.ts';

export interface View {
  apply(event: CompareEvent): void;
  /** Leaves the last picture standing. */
  close(): void;
}

export function createView(output: Output, trials: readonly PlannedTrial[]): View {
  const tracker = createTracker(trials);
  return output.columns === undefined ? lines(output, trials, tracker) : bars(output, tracker, output.columns);
}

const label = ({ spec }: PlannedTrial) => `${spec.name}, seed ${spec.seed}`;

/** One line when a trial starts, ends or has something to say, and a summary now and then. */
function lines(output: Output, trials: readonly PlannedTrial[], tracker: Tracker): View {
  const every = 15_000;
  let lastSummary = performance.now();
  const say = (text: string) => void output.write(`${text}\n`);
  const finished = () => tracker.all().filter((t) => t.state === 'finished' || t.state === 'diverged').length;
  return {
    apply(event) {
      tracker.apply(event);
      const name = label(event.trial);
      if (event.kind === 'notice') say(`${name}: ${event.message}`);
      if (event.kind === 'stop') say(`${name}: stopped`);
      if (event.kind === 'finish') {
        say(
          `[${finished()}/${trials.length}] ${name}: ${outcome(event.result)}, ${duration(event.result.timing.trainSeconds)} of training${left(tracker)}`,
        );
        lastSummary = performance.now();
      }
      if (event.kind === 'progress' && performance.now() - lastSummary > every) {
        lastSummary = performance.now();
        const running = tracker.all().filter((t) => t.state === 'running');
        say(
          `${percent(tracker.share())} done${left(tracker)}: ${running.map((t) => `${label(t.trial)} ${phase(t)}`).join('; ')}`,
        );
      }
    },
    close() {},
  };
}

/** What a finished trial came to. */
function outcome({ status, steps, evaluations }: TrialResult): string {
  const nearest = evaluations[0]?.lengths[0];
  if (status === 'diverged' || !nearest) return `diverged at step ${steps}`;
  return `loss ${nearest.score?.loss.toFixed(3) ?? '–'} at ${nearest.multiple}×`;
}

const percent = (share: number) => `${Math.floor(100 * share)} %`;

function left(tracker: Tracker): string {
  const seconds = tracker.secondsLeft();
  return seconds === undefined ? '' : `, about ${duration(seconds)} left`;
}

function phase({ state, progress }: Tracked): string {
  if (state === 'running' && !progress) return 'starting';
  if (!progress) return state;
  if (progress.phase === 'evaluate') return `evaluating ${progress.done}/${progress.total}`;
  const { loss = Number.NaN, tokensPerSecond = 0 } = progress;
  return `step ${progress.done}/${progress.total}, loss ${loss.toFixed(3)}, ${Math.round(tokensPerSecond)} tokens/s`;
}

/** Redraws a block of lines in place, at most ten times a second. */
function bars(output: Output, tracker: Tracker, columns: number): View {
  const paint = painter(output);
  // A block taller than the screen could not be redrawn in place.
  const most = () => Math.max(1, (output.rows ?? 24) - 2);
  let drawn = 0;
  let lastDraw = 0;
  const bar = (share: number, width: number) => {
    const full = Math.round(share * width);
    return `${'█'.repeat(full)}${paint('dim', '░'.repeat(width - full))}`;
  };
  const line = (tracked: Tracked, width: number) => {
    const { state, progress, trial, result } = tracked;
    const share = result ? 1 : progress ? progress.done / progress.total : 0;
    const name = label(trial);
    const row = `${name}${' '.repeat(width - length(name))} ${bar(share, 16)} ${result ? outcome(result) : phase(tracked)}`;
    return state === 'waiting' ? paint('dim', row) : row;
  };
  const draw = () => {
    const all = tracker.all();
    const active = all.length <= most() ? all : all.filter((t) => t.state === 'running').slice(0, most());
    const width = Math.max(...active.map((t) => length(label(t.trial))), 1);
    const count = all.filter((t) => t.state === 'finished' || t.state === 'diverged').length;
    const rows = [
      ...active.map((t) => line(t, width)),
      `${count} of ${all.length} trials, ${percent(tracker.share())}${left(tracker)}`,
    ];
    const up = drawn ? `\x1b[${drawn}A\x1b[0J` : '';
    output.write(`${up}${rows.map((row) => clip(row, columns)).join('\n')}\n`);
    drawn = rows.length;
    lastDraw = performance.now();
  };
  draw();
  return {
    apply(event) {
      tracker.apply(event);
      if (event.kind === 'notice') {
        output.write(`${drawn ? `\x1b[${drawn}A\x1b[0J` : ''}${label(event.trial)}: ${event.message}\n`);
        drawn = 0;
      }
      if (event.kind !== 'progress' || performance.now() - lastDraw > 100) draw();
    },
    close: draw,
  };
}

/** At most `columns` visible characters; colour codes take no room. */
function clip(row: string, columns: number): string {
  const esc = String.fromCharCode(27);
  let left = columns;
  const [head = '', ...coded] = row.split(esc);
  const cut = (text: string) => {
    const kept = Array.from(text).slice(0, Math.max(0, left));
    left -= kept.length;
    return kept.join('');
  };
  return (
    cut(head) +
    coded
      .map((part) => {
        const end = part.indexOf('m') + 1;
        return esc + part.slice(0, end) + cut(part.slice(end));
      })
      .join('')
  );
}
