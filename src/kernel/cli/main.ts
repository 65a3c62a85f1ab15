// The command line from arguments to exit code: finds the verb, loads it, runs it, prints failures.

import { Command, CommanderError, Option } from 'commander';
import { quoteWord } from '../base/shell-word.ts';
import type { Environment } from '../config/config.ts';
import type { Programs } from '../config/daemon-options.ts';
import { usage } from '../model/failure.ts';
import { type CommonOptions, Context, type Terminal } from './context.ts';
import type { CliWing } from './part.ts';
import { harmless, reportFailure } from './report.ts';
import { meantOfWeft, proposeCommands, tellOperands, tellOptions } from './unknown-command.ts';
import type { Meaning, Verb, VerbGroup, VerbProgram } from './verb.ts';
import { verbsOf, withInner } from './verbs.ts';
import { VERSION } from './version.ts';

export interface Invocation {
  /** `weft`, or one of the seed's programs. */
  readonly program: string;
  /** Without node and script. */
  readonly argv: readonly string[];
  readonly terminal: Terminal;
  readonly environment: Environment;
  /** Null when it is gone. */
  readonly cwd: string | null;
  readonly programs: Programs;
  readonly wings: readonly CliWing[];
}

/** Runs `weft`. Resolves with the exit code; never rejects. */
export function runWeft(invocation: Invocation): Promise<number> {
  return guarded(invocation, async (finish) => {
    const argv = withHelpBehind(invocation.argv);
    const word = verbWord(argv);
    // The others are only needed to be listed or proposed, which a command in front rules out.
    const isAlone = word !== null && word === argv[0];
    const program = await buildProgram(invocation, finish, { word, isAlone });
    await program.parseAsync(argv, { from: 'user' });
  });
}

/** Runs a program of several verbs of its own, as `distribute`. */
export function runVerbs(invocation: Invocation, verbs: VerbProgram): Promise<number> {
  return guarded(invocation, async (finish) => {
    const program = buildVerbs(invocation, finish, verbs);
    await program.parseAsync(withHelpBehind(invocation.argv), { from: 'user' });
  });
}

/** A program of several verbs of its own. */
export function buildVerbs(
  invocation: Invocation,
  finish: Finish,
  { summary, define, meant, ...group }: VerbProgram,
): Command {
  const program = prepare(new Command(invocation.program), invocation).description(summary);
  program.version(VERSION, '-V, --version', 'print the version');
  program.addHelpText('after', `\nMore about a command: ${invocation.program} COMMAND --help`);
  define(program);
  addCommonOptions(program);
  attachGroup(program, group, { invocation, finish, meant });
  return program;
}

/** Runs a program that is one verb by itself, as `cmrun`. */
export function runSingle(invocation: Invocation, summary: string, verb: Verb): Promise<number> {
  return guarded(invocation, async (finish) => {
    const command = prepare(new Command(invocation.program), invocation).description(summary);
    command.enablePositionalOptions().version(VERSION, '-V, --version', 'print the version');
    attach(command, verb, { invocation, finish });
    await command.parseAsync(invocation.argv, { from: 'user' });
  });
}

interface Finish {
  exitCode: number;
}

interface Running {
  readonly invocation: Invocation;
  readonly finish: Finish;
  readonly meant?: Meaning | undefined;
}

/** `help VERB` is `VERB --help`. */
function withHelpBehind([first, ...rest]: readonly string[]): readonly string[] {
  if (first === undefined) return [];
  return first === 'help' ? [...rest, '--help'] : [first, ...rest];
}

async function guarded(
  invocation: Invocation,
  work: (finish: Finish) => Promise<void>,
): Promise<number> {
  const finish: Finish = { exitCode: 0 };
  try {
    await work(finish);
    return finish.exitCode;
  } catch (error) {
    return report(error, invocation);
  }
}

interface Loaded {
  /** The verb of this name in full, the others by name only; `*`: all in full. */
  readonly word: string | null;
  /** Without the others, where there is a verb of this name. */
  readonly isAlone?: boolean;
}

/** The whole program. */
export async function buildProgram(
  invocation: Invocation,
  finish: Finish,
  { word, isAlone = false }: Loaded,
): Promise<Command> {
  const program = prepare(new Command('weft'), invocation);
  program.description('One queue for the machines you have.').enablePositionalOptions();
  program.version(VERSION, '-V, --version', 'print the version').helpCommand(false);
  program.addHelpText('after', '\nMore about a command: weft COMMAND --help');
  addCommonOptions(program);
  const { wings } = invocation;
  const verbs = verbsOf(wings);
  const alone = isAlone ? verbs.filter(({ name }) => name === word) : [];
  for (const { name, summary, group, load } of alone.length > 0 ? alone : verbs) {
    const command = prepare(program.command(name), invocation).summary(summary).helpGroup(group);
    command.description(summary);
    if (word === name || word === '*') {
      const { verb } = await load();
      const of = { invocation, finish };
      if ('verbs' in verb) attachGroup(command, await withInner(name, verb, wings), of);
      else attach(command, verb, of);
    }
  }
  proposeCommands(program, meantOfWeft);
  return program;
}

function attachGroup(command: Command, group: VerbGroup, of: Running): void {
  for (const [name, { summary, verb }] of Object.entries(group.verbs)) {
    const inner = prepare(command.command(name), of.invocation).summary(summary);
    attach(inner.description(summary), verb, of);
  }
  command.helpCommand(false).enablePositionalOptions();
  proposeCommands(command, of.meant);
}

function attach(command: Command, verb: Verb, { invocation, finish }: Running): void {
  verb.define(command);
  tellOperands(command);
  addCommonOptions(command);
  command.action(async () => {
    refuseTwice(command);
    const options = command.optsWithGlobals<CommonOptions & Record<string, unknown>>();
    const commands = (word: string) => buildProgram(invocation, finish, { word });
    const runLine = (argv: readonly string[], terminal: Terminal) =>
      runWeft({ ...invocation, argv, terminal });
    const contextOf = (terminal: Terminal) =>
      new Context({ ...invocation, terminal, options, commands, runLine });
    const run = async (context: Context) => {
      const args = await withOwnIds(command, context);
      return verb.run({ context, args, options });
    };
    if (options['watch'] !== undefined) {
      const { watch } = await import('./watch.ts');
      const wish = { every: options['watch'], title: titleOf(invocation) };
      finish.exitCode = await watch(wish, { terminal: invocation.terminal, contextOf }, run);
      return;
    }
    const context = contextOf(invocation.terminal);
    try {
      finish.exitCode = await run(context);
    } finally {
      context.close();
    }
  });
}

/** The command as it was typed. */
function titleOf({ program, argv }: Invocation): string {
  return [program, ...argv].map(quoteWord).join(' ');
}

function prepare(command: Command, { terminal }: Invocation): Command {
  tellOptions(command);
  return command.exitOverride().configureOutput({
    writeOut: (text) => terminal.out(text),
    // The help of a command that was named without what is to be done.
    writeErr: (text) => terminal.error(text),
    outputError: () => undefined, // Printed once, by report().
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  });
}

const COMMON: readonly (readonly [flags: string, text: string])[] = [
  ['--dir <directory>', 'state directory of the cluster (default: ~/.local/state/weft)'],
  ['--head <url>', 'a head elsewhere, https://host:5001; its token in WEFT_TOKEN'],
  ['--fingerprint <hex>', 'SHA-256 of its certificate'],
  ['--token-file <file>', 'file with the token'],
  ['--config <file>', 'configuration file'],
];

function addCommonOptions(command: Command): void {
  const own = new Set(command.options.map(({ long }) => long));
  for (const [flags, text] of COMMON) {
    const option = new Option(flags, text).helpGroup('Which cluster:');
    if (!own.has(option.long)) command.addOption(option);
  }
}

/** Before the command and behind it: one of the two would count without a word. */
function refuseTwice(command: Command): void {
  for (const [flags] of COMMON) {
    const option = new Option(flags);
    const values = new Set<unknown>();
    for (let at: Command | null = command; at !== null; at = at.parent) {
      const value: unknown = at.opts()[option.attributeName()];
      if (value !== undefined) values.add(value);
    }
    if (values.size < 2) continue;
    const [inner, outer] = values;
    throw usage(`${option.long} is there twice, with '${outer}' and with '${inner}'`);
  }
}

/** The first word that is no option of ours nor the value of one. */
function verbWord(argv: readonly string[]): string | null {
  const valued = new Set(COMMON.map(([flags]) => flags.split(' ')[0]));
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] as string;
    if (!word.startsWith('-')) return word;
    if (valued.has(word)) at += 1;
  }
  return null;
}

function report(error: unknown, { program, terminal }: Invocation): number {
  if (error instanceof CommanderError) {
    // Help and version were asked for and have been printed.
    if (error.exitCode === 0) return 0;
    if (error.code === 'commander.help') return 2;
    const text = error.message.replace(/^error: /, '').replace(/\n\((.*)\)$/, '. $1');
    terminal.error(harmless(`${program}: ${text}\n`));
    return 2;
  }
  return reportFailure(error, { program, terminal });
}

/** Operands called so are ids of jobs. */
const JOB = 'job';
/** No id of ours has one of these. */
const FOREIGN = '/';

/** The operands, those that other names of jobs stood for with our ids in their place. */
export async function withOwnIds(command: Command, context: Context): Promise<readonly string[]> {
  const declared = command.registeredArguments;
  const isForeign = (text: string, at: number): boolean => {
    const argument = declared[Math.min(at, declared.length - 1)];
    const isJob = argument?.name() === JOB && (at < declared.length || argument.variadic);
    return isJob && text.includes(FOREIGN);
  };
  const { args } = command;
  if (!args.some(isForeign)) return args;
  return Promise.all(args.map((text, at) => (isForeign(text, at) ? ownId(text, context) : text)));
}

async function ownId(text: string, context: Context): Promise<string> {
  for (const { cli } of context.wings) {
    const id = await cli?.jobId?.(text, context);
    if (id != null) return id;
  }
  return text;
}
