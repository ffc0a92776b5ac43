/** One command line, from arguments to exit code. */
import { Command, CommanderError } from 'commander';
import { addBench } from './commands/bench.ts';
import type { AddCommand } from './commands/common.ts';
import { addCompare } from './commands/compare.ts';
import { addDoctor } from './commands/doctor.ts';
import { addEval } from './commands/eval.ts';
import { addGenerate } from './commands/generate.ts';
import { addInspect } from './commands/inspect.ts';
import { addLint } from './commands/lint.ts';
import { addList } from './commands/list.ts';
import { addNew } from './commands/new.ts';
import { addSchema } from './commands/schema.ts';
import { addTrain } from './commands/train.ts';
import { exit, Interrupted, internalReport, isMistake, Verdict } from './exit.ts';
import type { Io } from './io.ts';
import { blame } from './plugins.ts';
import { painter, widthOf } from './ui/style.ts';
import { version } from './version.ts';

const builtInCommands: readonly AddCommand[] = [
  addCompare,
  addTrain,
  addEval,
  addGenerate,
  addInspect,
  addLint,
  addList,
  addNew,
  addBench,
  addDoctor,
  addSchema,
];

/**
 * Runs `posenc` with these arguments and returns its exit code (see `exit`). Never throws; all it prints goes to `io`.
 * @param commands another set of commands, for programs built on this one
 */
export async function run(argv: readonly string[], io: Io, commands = builtInCommands): Promise<number> {
  const program = createProgram(io, commands);
  const paint = painter(io.stderr);
  const fail = (message: string) => io.stderr.write(`${paint(['red', 'bold'], 'error:')} ${message}\n`);
  try {
    if (argv.length === 0) program.help({ error: true });
    await program.parseAsync([...argv], { from: 'user' });
    return exit.ok;
  } catch (error) {
    if (error instanceof Verdict) return error.code;
    if (error instanceof Interrupted) {
      io.stderr.write(`${error.message}\n`);
      return exit.interrupted;
    }
    if (error instanceof CommanderError) return error.exitCode === 0 ? exit.ok : exit.usage;
    if (isMistake(error)) fail(error.message);
    else {
      const blamed = blame(error, io.cwd);
      if (blamed === undefined) {
        io.stderr.write(internalReport(error, argv));
        return exit.internal;
      }
      fail(blamed);
    }
    return exit.mistake;
  }
}

function createProgram(io: Io, commands: readonly AddCommand[]): Command {
  const paint = painter(io.stdout);
  const program = new Command('posenc')
    .description('Compare, train and inspect positional encodings of transformers.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error:/, painter(io.stderr)(['red', 'bold'], 'error:'))),
      getOutHelpWidth: () => widthOf(io.stdout),
      getErrHelpWidth: () => widthOf(io.stderr),
      getOutHasColors: () => io.stdout.color,
      getErrHasColors: () => io.stderr.color,
    })
    .configureHelp({ styleTitle: (title) => paint('bold', title) })
    .showHelpAfterError('Add --help to see what is allowed.')
    .addHelpText(
      'after',
      '\nEvery command has --help with examples. Errors: 1 a mistake in what was given, 2 in the command line, 70 a defect of posenc.',
    );
  for (const add of commands) add(program, io);
  return program;
}
