// `weft submit`: submits a script, with the options that its `#WEFT` lines give.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Command, CommanderError } from 'commander';
import { fileProblem } from '../../config/file-problem.ts';
import { refuse } from '../../model/errors.ts';
import { Failure, failure, usage } from '../../model/failure.ts';
import { SCRIPT_BYTES_MAX } from '../../model/limits.ts';
import type { Context, ReadScript, Script } from '../context.ts';
import { submitterHere } from '../jobs/send.ts';
import { translated } from '../submit/foreign-lines.ts';
import { readsInput, withItems } from '../submit/items.ts';
import {
  defineSubmitOptions,
  makeSubmission,
  type SubmitOptions,
  type Submitter,
} from '../submit/options.ts';
import { strictText } from '../submit/plain-text.ts';
import {
  BYTE_ORDER_MARK,
  foreignLines,
  hasWindowsLines,
  isCommand,
  withPlainLines,
} from '../submit/script-text.ts';
import { inputsOf } from '../submit/staged-files.ts';
import { pointsWords, withAxes } from '../submit/sweep.ts';
import { splitWords, type Word } from '../submit/words.ts';
import { tellOptions } from '../unknown-command.ts';
import { defineVerb } from '../verb.ts';
import { type AttendOptions, defineAttendOptions, submitAndAttend } from './run.ts';

interface Options extends SubmitOptions, AttendOptions {
  readonly ignoreDirectives?: boolean;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.usage('[options] <script> [arguments...]');
    command.argument('<script>', 'a file, or - for standard input');
    command.argument('[arguments...]', 'arguments of the script');
    defineAttendOptions(command, 'script');
    const ignore = 'take no options from lines of the script, such as #SBATCH, #HQ or #WEFT';
    command.option('--ignore-directives', ignore);
    defineSubmitOptions(command);
    command.passThroughOptions();
  },
  async run({ context, args: words, options: given }) {
    const {
      args: [file = '', ...args],
      options,
    } = withAxes(given, words);
    if (file === '') throw usage('no script is named');
    const text = plainText(
      context,
      readScript(file === '-' ? 0 : path.resolve(context.cwd, file), file),
      file,
    );
    const isIgnored = given.ignoreDirectives === true;
    const read = isIgnored ? null : await readForeign(context, { file, text, typed: options });
    const submitter = read?.submitter ?? submitterHere(context);
    const own = isIgnored || read !== null ? read?.options : readDirectives(text, file, submitter);
    const merged = mergeOptions(own ?? {}, options);
    const name = merged.name ?? (file === '-' ? 'script' : path.basename(file));
    const program = { kind: 'script', text, args } as const;
    const made = makeSubmission(program, { ...merged, name }, submitter);
    const submission = read === null ? made : read.finish(made);
    const inputIsTaken = file === '-' || readsInput(merged);
    const wish = withItems(submission, merged, context.cwd);
    if (merged.sweep !== undefined) context.note(pointsWords(wish.each ?? []));
    const inputs = inputsOf(merged, program);
    const wait = options.wait ?? read?.wait ?? false;
    const dryRun = options.dryRun ?? read?.dryRun ?? false;
    return submitAndAttend(context, wish, { ...options, wait, dryRun, inputIsTaken, inputs });
  },
});

/** The text as systems here take it; what was changed is told. */
function plainText(context: Context, read: string, file: string): string {
  const text = read.startsWith(BYTE_ORDER_MARK) ? read.slice(BYTE_ORDER_MARK.length) : read;
  if (text !== read) context.note(`${file} begins with a byte order mark; it is left out`);
  if (!hasWindowsLines(text)) return text;
  context.note(`${file} has Windows line endings (CRLF); they are converted`);
  return withPlainLines(text);
}

/**
 * Options for another system are read where a wing reads them, and the script has none of ours. One
 * whose lines nobody reads would run as if it had asked for nothing, which nobody means who wrote
 * them: it is refused, with what to write.
 */
async function readForeign(context: Context, script: Script): Promise<ReadScript | null> {
  const { file, text } = script;
  const [lines] = foreignLines(text);
  if (lines === undefined) return null;
  const { prefix, count, line } = lines;
  const [reader] = context.wings.flatMap(({ cli }) => cli?.scripts?.[prefix] ?? []);
  if (reader !== undefined && !hasDirectives(text)) return reader(context, script);
  const which =
    count === 1 ? `its ${prefix} line (${line}) is` : `its ${count} ${prefix} lines are`;
  if (hasDirectives(text)) {
    context.note(`${file}: ${which} not read, its #WEFT lines are`);
    return null;
  }
  const what = `${file}: ${which} not read, and it has no #WEFT line`;
  throw usage(what, adviceFor(text, prefix).join('\n  '));
}

function adviceFor(text: string, prefix: string): string[] {
  const without = '`weft submit --ignore-directives` runs it without options.';
  const found = translated(text, prefix);
  if (found === null) return ['Write options as #WEFT lines (weft submit --help).', without];
  const { same, other } = found;
  const equal = same.length === 0 ? [] : ['The same here:', ...same.map((one) => `#WEFT ${one}`)];
  const rest = other.length === 0 ? [] : [`Without an equal: ${other.join(', ')}`];
  return [...equal, ...rest, without];
}

function readScript(from: string | number, name: string): string {
  const bytes = readBytes(from, name);
  if (bytes.length > SCRIPT_BYTES_MAX) {
    const most = `a script at most ${SCRIPT_BYTES_MAX}`;
    throw usage(`${name} has ${bytes.length} bytes, ${most}; use weft run`);
  }
  // A program that was compiled has them, and is no text to convert.
  if (bytes.includes(0)) throw usage(`${name} is no script: it has NUL bytes; use weft run`);
  const text = strictText(bytes, name);
  if (text.trim() === '') throw usage(`${name} is empty`);
  return text;
}

function readBytes(from: string | number, name: string): Uint8Array {
  try {
    return readFileSync(from);
  } catch (cause) {
    const what = `cannot be read: ${fileProblem(cause)}`;
    throw failure(refuse('config.invalid', { where: name, what }));
  }
}

// `#WEFT --option value` lines at the top of a script: the options of `weft submit`, kept with the
// work they belong to. The command line wins over them.

const PREFIX = /^#WEFT(?=\s|$)/;

/** Whether there is any such line before the first command. */
function hasDirectives(text: string): boolean {
  for (const line of text.split('\n')) {
    if (PREFIX.test(line)) return true;
    if (isCommand(line)) return false;
  }
  return false;
}

/** Options of all lines before the first command. `path` is for messages. */
function readDirectives(text: string, path: string, submitter: Submitter): SubmitOptions {
  let options: Record<string, unknown> = {};
  for (const [index, line] of text.split('\n').entries()) {
    if (PREFIX.test(line)) {
      const found = readLine(line, `${path}:${index + 1}`, submitter);
      options = mergeOptions(options as SubmitOptions, found) as Record<string, unknown>;
    } else if (isCommand(line)) break;
  }
  return options as SubmitOptions;
}

/** `over` wins; options that may be repeated add up. */
function mergeOptions(under: SubmitOptions, over: SubmitOptions): SubmitOptions {
  const merged: Record<string, unknown> = { ...under };
  for (const [name, value] of Object.entries(over)) {
    const before = merged[name];
    if (value === undefined || (name === 'requeue' && value === true)) continue;
    merged[name] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
  }
  // The two say the same thing differently: the later one replaces the earlier.
  if (over.private) delete merged['chdir'];
  if (over.chdir !== undefined) delete merged['private'];
  return merged as SubmitOptions;
}

function readLine(line: string, where: string, submitter: Submitter): SubmitOptions {
  // Blanks in place of the prefix, so that columns stay true.
  const words = splitWords(line.replace(PREFIX, '     '));
  if (!words.ok) throw wrong(`${where}:${words.error.column}`, words.error.what);
  const command = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  defineSubmitOptions(command);
  tellOptions(command);
  command.helpOption(false).allowExcessArguments(false);
  try {
    command.parse(
      words.value.map((word) => word.text),
      { from: 'user' },
    );
    const options = command.opts<SubmitOptions>();
    // Only to check the values where their line is known.
    makeSubmission({ kind: 'argv', argv: ['true'] }, options, submitter);
    return options;
  } catch (error) {
    if (!(error instanceof CommanderError || error instanceof Failure)) throw error;
    const message = error.message.replace(/^error: /, '').replace(/\n\((.*?)\.?\)$/, '. $1');
    throw wrong(`${where}:${columnOf(message, words.value)}`, message);
  }
}

function columnOf(message: string, words: readonly Word[]): number {
  const named = words.find(({ text }) => {
    const flag = text.split('=')[0] ?? text;
    return message.includes(`'${text}'`) || message.startsWith(`${flag}:`);
  });
  return (named ?? words[0])?.column ?? 1;
}

function wrong(where: string, what: string): Failure {
  return failure(refuse('config.invalid', { where, what }));
}
