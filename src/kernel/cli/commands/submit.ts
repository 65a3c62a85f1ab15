// `weft submit`: submits a script, with the options that its `#WEFT` lines give.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileProblem } from '../../config/file-problem.ts';
import { refuse } from '../../model/errors.ts';
import { failure, usage } from '../../model/failure.ts';
import { SCRIPT_BYTES_MAX } from '../../model/limits.ts';
import type { Context } from '../context.ts';
import { submitterHere } from '../jobs/send.ts';
import { mergeOptions, readDirectives } from '../submit/directives.ts';
import { readsInput, withItems } from '../submit/items.ts';
import { defineSubmitOptions, makeSubmission, type SubmitOptions } from '../submit/options.ts';
import { strictText } from '../submit/plain-text.ts';
import {
  BYTE_ORDER_MARK,
  type ForeignLines,
  foreignLines,
  hasWindowsLines,
  withPlainLines,
} from '../submit/script-text.ts';
import { slurmWords } from '../submit/slurm-lines.ts';
import { inputsOf } from '../submit/staged-files.ts';
import { pointsWords, withAxes } from '../submit/sweep.ts';
import { defineVerb } from '../verb.ts';
import { type AttendOptions, defineAttendOptions, submitAndAttend } from './run.ts';

export const verb = defineVerb<SubmitOptions & AttendOptions>({
  define(command) {
    command.usage('[options] <script> [arguments...]');
    command.argument('<script>', 'a file, or - for standard input');
    command.argument('[arguments...]', 'what the script gets');
    defineAttendOptions(command, 'script');
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
    for (const lines of foreignLines(text)) context.note(foreignWords({ file, text }, lines));
    const submitter = submitterHere(context);
    const merged = mergeOptions(readDirectives(text, file, submitter), options);
    const name = merged.name ?? (file === '-' ? 'script' : path.basename(file));
    const program = { kind: 'script', text, args } as const;
    const submission = makeSubmission(program, { ...merged, name }, submitter);
    const inputIsTaken = file === '-' || readsInput(merged);
    const wish = withItems(submission, merged, context.cwd);
    if (merged.sweep !== undefined) context.note(pointsWords(wish.each ?? []));
    const inputs = inputsOf(merged, program);
    return submitAndAttend(context, wish, { ...options, inputIsTaken, inputs });
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

interface Script {
  readonly file: string;
  readonly text: string;
}

function foreignWords({ file, text }: Script, lines: ForeignLines): string {
  const { prefix, count, line } = lines;
  if (prefix === '#SBATCH') return slurmNote(file, text);
  const which = count === 1 ? `line ${line} is for another system` : `${count} ${prefix} lines`;
  const from = count === 1 ? '' : ` from line ${line} on are for another system`;
  const done = count === 1 ? 'is not read' : 'are not read';
  return `${file}: ${which}${from} and ${done}; write options as #WEFT lines (weft submit --help)`;
}

/** `run.sh: none of its #SBATCH lines is read; the same here: #WEFT --cpus 4; …`. */
function slurmNote(file: string, text: string): string {
  const { same, other } = slurmWords(text);
  const equal = same === '' ? '' : `; the same here: #WEFT ${same}`;
  const rest = other.length === 0 ? '' : `; without an equal: ${other.join(', ')}`;
  return `${file}: none of its #SBATCH lines is read${equal}${rest} (weft submit --help)`;
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
