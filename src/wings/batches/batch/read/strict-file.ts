// Reads a YAML file and tells all that is wrong with it, each problem with its line and column.

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { formatSize } from '../../../../kernel/base/size.ts';
import { fileProblem } from '../../../../kernel/config/file-problem.ts';
import {
  type Problem as FileProblem,
  fileFailure,
  YamlText,
} from '../../../../kernel/config/yaml-text.ts';
import { formatPlace, type Problem, UNKNOWN_KEY } from '../../../../kernel/files/problem.ts';
import { refuse } from '../../../../kernel/model/errors.ts';
import { type Failure, failure } from '../../../../kernel/model/failure.ts';
import { offsetOf, plainOf, Unreadable } from './plain.ts';

/** A description of jobs; data belongs into files of its own. */
const FILE_BYTES_MAX = 64 * 1_048_576;
/** A file with more mistakes has one that is repeated. */
const PROBLEMS_SHOWN_MAX = 200;
const HINT = '`weft batch template` shows a right one; docs/batches.md has every key.';
const LACKING = 'Make these files, or name yours: paths are from the folder of the batch file.';
/** By the names that files of the seed have: what they are is not always to be read. */
const SEED_HINTS: Readonly<Record<string, string>> = {
  'distribute-jobs.yaml':
    '`distribute template python --output -` shows a right one; docs/migration/distribute.md has every key.',
  'distribute-nodes.yaml': 'docs/migration/distribute.md has every key.',
};

/** What the values of a file come to, and what is wrong with them. */
export interface Judged {
  readonly problems: readonly Problem[];
}

/** Throws one failure that lists all problems. */
export function readStrictly<T extends Judged>(file: string, judge: (plain: unknown) => T): T {
  const yaml = new YamlText(readText(file), file);
  const syntax = yaml.syntaxProblems();
  // A key that is there twice leaves the rest readable; a broken structure does not.
  if (syntax.some(({ code }) => code !== 'DUPLICATE_KEY')) throw invalid(file, syntax);
  const judged = judge(plainValues(file, yaml));
  const problems = [...syntax, ...judged.problems.map((problem) => place(yaml, problem))];
  problems.sort((a, b) => a.offset - b.offset);
  if (problems.length > 0) throw invalid(file, problems);
  return judged;
}

function place(yaml: YamlText, { at, what, isKey }: Problem): FileProblem & { offset: number } {
  const offset = offsetOf(yaml.document, at, isKey ? 'key' : 'value');
  // An unknown key is told of the mapping that it stands in.
  const label = formatPlace(what.startsWith(UNKNOWN_KEY) ? at.slice(0, -1) : at);
  return { ...yaml.problem(offset, label === '' ? what : `${label}: ${what}`), offset };
}

function plainValues(file: string, yaml: YamlText): unknown {
  try {
    return plainOf(yaml.document);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw invalid(file, [yaml.problem(error.offset, error.message)]);
  }
}

function readText(file: string): string {
  let handle: number;
  try {
    // Without waiting for the other end of a pipe.
    handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw unreadable(file, fileProblem(error));
  }
  try {
    const found = fstatSync(handle);
    if (found.isDirectory()) throw unreadable(file, 'is a folder; name the file in it');
    if (!found.isFile()) throw unreadable(file, 'is a device, pipe or socket; expected a file');
    if (found.size > FILE_BYTES_MAX) {
      throw unreadable(file, `is larger than ${formatSize(FILE_BYTES_MAX)}`);
    }
    return decode(file, readFileSync(handle));
  } finally {
    closeSync(handle);
  }
}

function decode(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw unreadable(file, 'is not valid UTF-8');
    throw error;
  }
}

function unreadable(file: string, what: string): Failure {
  return failure(refuse('batch.invalid', { where: file, what }, hintFor(file)));
}

function invalid(file: string, problems: readonly FileProblem[]): Failure {
  const more = problems.length - PROBLEMS_SHOWN_MAX;
  const shown = problems.slice(0, PROBLEMS_SHOWN_MAX);
  const rest = more > 0 ? [{ where: file, what: `and ${more} more` }] : [];
  const isLacking = problems.every(({ what }) => / does not exist\.?$/.test(what));
  return fileFailure('batch.invalid', [...shown, ...rest], isLacking ? LACKING : hintFor(file));
}

function hintFor(file: string): string {
  return SEED_HINTS[path.basename(file)] ?? HINT;
}
