// The options of `run`, `submit` and `#WEFT` lines, and the submission they make. The table of
// options says which there are.

import { type Command, Option } from 'commander';
import { usage } from '../../model/failure.ts';
import { parseNodeName } from '../../model/ids.ts';
import type { OutputFiles, Program } from '../../model/job.ts';
import type { OptionRow } from '../../model/options/row.ts';
import { HELP_GROUPS, ROWS, type TypedOptions } from '../../model/options/table.ts';
import type { DirectoryChoice, Submission } from '../../model/submission.ts';
import * as values from '../../model/submission-values.ts';
import { jobEnvironment } from './environment.ts';
import { optionValues } from './option-values.ts';
import { refuseForeignBytes } from './plain-text.ts';
import { collect, dropUndefined, read, readAll } from './read.ts';
import { needsOwnDirectory, stagingRequest } from './staged-files.ts';

export type SubmitOptions = TypedOptions;

/** Adds the options that describe a job. */
export function defineSubmitOptions(command: Command): void {
  for (const [title, rows] of HELP_GROUPS) {
    for (const row of Object.values(rows)) command.addOption(optionOf(row).helpGroup(title));
  }
}

/** Whether a word is one of these options, `--memory` or `--memory=4G`. */
export function isSubmitFlag(word: string): boolean {
  const [flag = ''] = word.split('=');
  return ROWS.some(({ flags }) => {
    const { short, long } = new Option(flags);
    return flag === short || flag === long;
  });
}

/** Adds those that describe a worker of a pool. */
export function definePoolOptions(command: Command): void {
  for (const row of ROWS) if (row.pool) command.addOption(optionOf(row));
}

function optionOf({ flags, words, many }: OptionRow): Option {
  const option = new Option(flags, words);
  return many ? option.argParser(collect) : option;
}

/** Where the submitter stands. */
export interface Submitter {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  readonly umask: number;
  readonly now: number;
}

/** Makes the submission; throws a usage failure that names the option. */
export function makeSubmission(
  program: Program,
  options: SubmitOptions,
  submitter: Submitter,
): Submission {
  const environment = jobEnvironment(options, submitter.environment);
  const directory = directoryChoice(options, submitter.directory);
  refuseForeignBytes({ program, environment, directory }, options);
  const fields = optionValues(options, submitter.now);
  return dropUndefined({
    ...fields,
    ...processes(options, fields),
    labels: withSites(fields.labels, options),
    umask: fields.umask ?? submitter.umask,
    program,
    environment,
    directory,
    files: outputFiles(options),
    staging: stagingRequest(options),
  });
}

/** A site is a label that its gateway has, and so have its nodes where they are steered. */
function withSites(
  labels: readonly string[] | undefined,
  { site }: SubmitOptions,
): readonly string[] | undefined {
  const sites = readAll(
    '--site',
    site?.split(',').map((name) => name.trim()),
    parseNodeName,
  );
  if (sites === undefined) return labels;
  return [...(labels ?? []), sites.map((name) => `site=${name}`).join(' | ')];
}

function processes(
  { mpi }: SubmitOptions,
  { processesPerNode }: Partial<Submission>,
): Partial<Submission> {
  if (!mpi) return {};
  const ranks = dropUndefined({ ranksPerNode: processesPerNode });
  return { processesPerNode: undefined, mpi: ranks };
}

function directoryChoice(options: SubmitOptions, here: string): DirectoryChoice {
  if (options.private && options.chdir !== undefined) {
    throw usage('--private and --chdir exclude each other');
  }
  const isStaged = needsOwnDirectory(options);
  if (isStaged && options.chdir !== undefined) {
    throw usage('--in and --out are for a directory of its own, --chdir is for a shared one');
  }
  if (options.private || isStaged) return { kind: 'private' };
  if (options.chdir === undefined) return { kind: 'auto', path: here };
  if (options.chdir === '') throw usage('--chdir: may not be empty');
  const path = options.chdir.startsWith('/') ? options.chdir : `${here}/${options.chdir}`;
  return { kind: 'shared', path };
}

function outputFiles({ output, error, stdin }: SubmitOptions): OutputFiles | undefined {
  if (output === undefined && error === undefined && stdin === undefined) return undefined;
  return dropUndefined({
    stdout: read('--output', output, values.parseOutputFile),
    stderr: read('--error', error, values.parseOutputFile),
    stdin: read('--stdin', stdin, values.parseText),
  });
}
