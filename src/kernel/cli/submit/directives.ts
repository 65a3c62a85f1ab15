// `#WEFT --option value` lines at the top of a script: the options of `weft submit`, kept with the
// work they belong to. The command line wins over them.

import { Command, CommanderError } from 'commander';
import { refuse } from '../../model/errors.ts';
import { Failure, failure } from '../../model/failure.ts';
import { tellOptions } from '../unknown-command.ts';
import {
  defineSubmitOptions,
  makeSubmission,
  type SubmitOptions,
  type Submitter,
} from './options.ts';
import { splitWords, type Word } from './words.ts';

const PREFIX = /^#WEFT(?=\s|$)/;

/** Whether there is any such line before the first command. */
export function hasDirectives(text: string): boolean {
  for (const line of text.split('\n')) {
    if (PREFIX.test(line)) return true;
    if (line.trim() !== '' && !line.startsWith('#')) return false;
  }
  return false;
}

/** Options of all lines before the first command. `path` is for messages. */
export function readDirectives(text: string, path: string, submitter: Submitter): SubmitOptions {
  let options: Record<string, unknown> = {};
  for (const [index, line] of text.split('\n').entries()) {
    if (PREFIX.test(line)) {
      const found = readLine(line, `${path}:${index + 1}`, submitter);
      options = mergeOptions(options as SubmitOptions, found) as Record<string, unknown>;
    } else if (line.trim() !== '' && !line.startsWith('#')) break;
  }
  return options as SubmitOptions;
}

/** `over` wins; options that may be repeated add up. */
export function mergeOptions(under: SubmitOptions, over: SubmitOptions): SubmitOptions {
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
