/** `posenc compare`: the main job. Trains every encoding of a suite alike, evaluates far beyond the training length, reports. */
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { writeFileAtomic } from '@posenc/checkpoints';
import { PosencError } from '@posenc/core';
import { type Plan, parseSuite, planRun, runPlan, trialsOf } from '@posenc/training';
import { readJson } from '../config/read.ts';
import { createEnvironment } from '../environment.ts';
import { Interrupted } from '../exit.ts';
import type { Io } from '../io.ts';
import { withNamed } from '../plugins/named.ts';
import { createView } from '../progress/view.ts';
import { commitOf } from '../provenance.ts';
import { lossCurves, trialFolders } from '../report/curves.ts';
import { renderReport } from '../report/report.ts';
import { renderTable } from '../report/table.ts';
import { shareCores, threadBudget } from '../trials/cores.ts';
import { dryRun } from '../trials/dry-run.ts';
import { workers } from '../trials/workers.ts';
import { toJson } from '../ui/json.ts';
import { grouped } from '../ui/numbers.ts';
import { quoted } from '../ui/shell.ts';
import { type AddCommand, type RunOptions, takeUp, wholeNumber, withExamples, withRun } from './common.ts';

interface Options extends RunOptions {
  readonly dryRun?: true;
  readonly workers?: number;
}

export const addCompare: AddCommand = (program, io) => {
  const command = program
    .command('compare')
    .summary('train encodings alike and see which one extrapolates')
    .description(
      'Train every encoding of a suite on the same token budget, evaluate at multiples of the training length, and write a run folder with results.json and report.html.',
    )
    .argument('<suite>', 'a suite in JSON (posenc schema suite)')
    .option('--out <folder>', 'the run folder; default: runs/ and the name of the suite')
    .option('--dry-run', 'print the trials, their parameters and how long they would take')
    .option('--workers <n>', 'trials at a time; default, and at most: one per core', wholeNumber(1, 1024));
  withRun(command, 'go on with what the run folder holds; finished trials are never run again');
  command.action((path: string, options: Options) => compare(path, options, io));
  withExamples(command, io, [
    ['posenc compare suite.json --dry-run', 'what it would do'],
    ['posenc compare suite.json', 'do it, into runs/NAME'],
    ['posenc compare suite.json --resume', 'go on after Ctrl-C, a crash or a power cut'],
  ]);
};

async function compare(path: string, options: Options, io: Io): Promise<void> {
  const suite = parseSuite(await readJson(path, io), path, path === '-' ? io.cwd : dirname(resolve(io.cwd, path)));
  const plugins = await withNamed(options.plugin, suite, io);
  const folder = resolve(io.cwd, options.out ?? join('runs', suite.name));
  const before = takeUp(folder, options);
  const budget = threadBudget(before.threads);
  const trials = suite.seeds.length * suite.encodings.length;
  const { workers: atATime, threads } = shareCores(budget, trials, {
    workers: options.workers,
    threads: before.threads,
  });
  if (Math.min(options.workers ?? 1, trials) > atATime)
    io.stderr.write(
      `--workers ${options.workers}: ${atATime} at a time, for ${grouped(budget)} threads may compute, and a trial has ${grouped(threads)}\n`,
    );
  const environment = await createEnvironment(before.backend, plugins, io, threads);
  const task = environment.tasks.create(suite.task);
  const plan = planRun(folder, trialsOf(suite, task, environment), task, environment);

  if (options.dryRun) {
    const estimate = await dryRun(suite, plan, task, environment, atATime);
    io.stdout.write(options.json ? toJson(estimate.json) : estimate.text);
    return;
  }
  refuseToMix(folder, plan, options, io);
  for (const stale of plan.stale)
    io.stderr.write(`stale, not used (another config, data or version): ${relative(io.cwd, stale)}\n`);

  const signal = io.interrupted();
  const view = createView(io.stderr, plan.trials);
  let comparison: Awaited<ReturnType<typeof runPlan>>;
  try {
    comparison = await runPlan(folder, suite, plan, environment, {
      task,
      executor: workers({ backend: environment.runtime.backend, threads, plugins, cwd: io.cwd }),
      workers: atATime,
      allowDrift: options.allowDrift,
      signal,
      onEvent: view.apply,
      provenance: {
        commit: commitOf(dirname(resolve(io.cwd, path))),
        node: process.version,
        finished: new Date().toISOString(),
        command: commandLine(path, options),
      },
    });
  } finally {
    view.close();
  }
  if (!comparison) throw new Interrupted(`stopped. Go on with: ${commandLine(path, { ...options, resume: true })}`);

  const report = join(folder, 'report.html');
  writeFileAtomic(
    report,
    renderReport(comparison, lossCurves(plan.trials), { trialFolders: trialFolders(folder, plan.trials) }),
  );
  if (options.json) io.stdout.write(toJson(comparison));
  else
    io.stdout.write(
      `\n${renderTable(comparison, { color: io.stdout.color, width: io.stdout.columns ?? 100 })}\n\nReport: ${relative(io.cwd, report) || report}\n`,
    );
}

/** A folder with trials in it is only touched when asked to. */
function refuseToMix(folder: string, plan: Plan, options: Options, io: Io): void {
  if (options.resume || !existsSync(join(folder, 'trials'))) return;
  const done = plan.trials.filter((trial) => trial.result).length;
  throw new PosencError(
    `"${relative(io.cwd, folder) || '.'}" already holds a run (${done} of these ${plan.trials.length} trials finished): --resume goes on with it, --out FOLDER starts another`,
  );
}

function commandLine(path: string, options: Options): string {
  const words = ['posenc', 'compare', quoted(path)];
  if (options.out) words.push('--out', quoted(options.out));
  if (options.workers) words.push('--workers', String(options.workers));
  if (options.backend !== 'auto') words.push('--backend', options.backend);
  for (const plugin of options.plugin) words.push('--plugin', quoted(plugin));
  if (options.resume) words.push('--resume');
  if (options.allowDrift) words.push('--allow-drift');
  return words.join(' ');
}
