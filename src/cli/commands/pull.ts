// `weft pull`: brings what jobs have left behind to this machine.

import path from 'node:path';
import type { Command } from 'commander';
import { fileProblem } from '../../config/file-problem.ts';
import { plural } from '../../core/base/plural.ts';
import type { ManifestEntry } from '../../core/batch/manifest.ts';
import { readSelection, type Selection, select } from '../../core/batch/select.ts';
import { refuse } from '../../core/model/errors.ts';
import { Failure, failure, usage } from '../../core/model/failure.ts';
import type { Context } from '../context.ts';
import { takeLock } from '../daemons/up-lock.ts';
import { TransferLine } from '../files/transfer-line.ts';
import { OPERANDS_TEXT } from '../jobs/operands.ts';
import { selectJobs } from '../jobs/select.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import { checkEntries, compare, type Placed, type TaskFiles } from '../pull/compare.ts';
import { checkRoom, fetchAll } from '../pull/fetch.ts';
import { makeFolder } from '../pull/make-folder.ts';
import { findOutputs, type TaskOutputs } from '../pull/outputs.ts';
import { amountsOf, COLUMNS, doneWords, noFileWords, planWords, rowOf } from '../pull/words.ts';
import { collect } from '../submit/read.ts';
import { defineVerb } from '../verb.ts';

export interface PullOptions extends ListingOptions {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly glob?: readonly string[];
  readonly skipFolders?: boolean;
  readonly dryRun?: boolean;
  readonly saveDir?: string;
}

export const verb = defineVerb<PullOptions>({
  define(command) {
    command.argument('<job...>', OPERANDS_TEXT);
    definePull(command, 'JOB/ or JOB/INDEX/');
  },
  async run({ context, args, options }) {
    return pullFound(context, options, async () => {
      const jobs = await selectJobs(context, args, {}, { state: 'all' });
      const ids = jobs.map(({ id }) => id);
      return (await findOutputs(context, ids)).map((task) => ({ ...task, below: folderOf(task) }));
    });
  },
});

/** Everything but what it is about. `places`: how folders are made below `--save-dir`. */
export function definePull(command: Command, places: string): void {
  command.option('--include <regex>', 'only paths that match it (repeatable)', collect);
  command.option('--exclude <regex>', 'no paths that match it (repeatable)', collect);
  const pattern = "only paths that match it: '*.csv', 'result/**', '!*.tmp' (repeatable)";
  command.option('--glob <pattern>', pattern, collect);
  command.option('--skip-folders', 'no folders but those that files are in');
  command.option('--save-dir <folder>', `where to put them, as ${places}`, '.');
  command.option('--dry-run', 'fetch nothing: list what would come, and what is there');
  defineListing(command);
}

/** What a task left, and the folder that it gets below `--save-dir`. */
export interface FoundOutputs extends TaskOutputs {
  readonly below: readonly string[];
}

/** Fetches, or lists, what `find` finds of what the options choose. */
export async function pullFound(
  context: Context,
  options: PullOptions,
  find: () => Promise<readonly FoundOutputs[]>,
): Promise<number> {
  const selection = selectionOf(options);
  if (options.output !== undefined && !options.dryRun) {
    throw usage('--output is for --dry-run: nothing is listed otherwise');
  }
  const place = path.resolve(context.cwd, options.saveDir ?? '.');
  const found = await find();
  const tasks = found.map((task) => placedIn(task, place, { selection, saveDir: options.saveDir }));
  for (const one of tasks) checkEntries(one);
  if (options.dryRun) return list(context, tasks, options.output);
  const release = lock(place, tasks);
  try {
    return await pull(context, tasks, { place, isChosen: isChosen(options) });
  } finally {
    release();
  }
}

function folderOf({ jobId, index }: TaskOutputs): string[] {
  return index === null ? [String(jobId)] : [String(jobId), String(index)];
}

function selectionOf({ include, exclude, glob, skipFolders }: PullOptions): Selection {
  const read = readSelection({
    ...(include === undefined ? {} : { include }),
    ...(exclude === undefined ? {} : { exclude }),
    ...(glob === undefined ? {} : { globs: glob }),
    skipFolders: skipFolders === true,
  });
  if (!read.ok) throw usage(read.error.join('\n'));
  return read.value;
}

function placedIn(
  { task, below, entries }: FoundOutputs,
  place: string,
  { selection, saveDir = '.' }: { selection: Selection; saveDir: string | undefined },
): TaskFiles {
  const { taken } = select<ManifestEntry>(entries, selection);
  return { task, place, placeShown: saveDir, below: path.join(...below), entries: taken };
}

async function list(
  context: Context,
  tasks: readonly TaskFiles[],
  output: string | undefined,
): Promise<number> {
  const placed = await compareAll(context, tasks);
  const rows = placed.map(rowOf);
  const empty = 'Nothing matches.';
  await context.list({ rows, columns: COLUMNS, name: (row) => row.path, empty }, output);
  if (output === undefined && rows.length > 0) context.note(planWords(amountsOf(placed)));
  return 0;
}

/** Whether patterns say which files. */
function isChosen({ include, exclude, glob }: PullOptions): boolean {
  return [include, exclude, glob].some((patterns) => patterns !== undefined);
}

async function pull(
  context: Context,
  tasks: readonly TaskFiles[],
  { place, isChosen }: { place: string; isChosen: boolean },
): Promise<number> {
  const begunMs = performance.now();
  const placed = await compareAll(context, tasks);
  if (placed.length === 0) {
    context.print('Nothing matches.');
    return 0;
  }
  const amounts = amountsOf(placed);
  try {
    checkRoom(place, amounts.bytesToFetch);
    await fetchAll(context, placed);
  } catch (error) {
    throw asFailure('write', error, place);
  }
  const [first, ...others] = [...new Set(tasks.map(shownOf))];
  const where = others.length === 0 ? `${first}` : plural(others.length + 1, 'folder');
  const none = isChosen ? noFileWords(amounts, where) : null;
  context.print(none ?? doneWords(amounts, where, performance.now() - begunMs));
  return 0;
}

function shownOf({ placeShown, below }: TaskFiles): string {
  return path.join(placeShown, below);
}

/** Throws one failure with all that stands in the way, before anything is written. */
async function compareAll(context: Context, tasks: readonly TaskFiles[]): Promise<Placed[]> {
  const all = tasks.flatMap(({ entries }) => entries);
  const line = new TransferLine(context, 'comparing');
  line.start(all.reduce((sum, { size }) => sum + size, 0));
  const placed: Placed[] = [];
  const problems: string[] = [];
  try {
    for (const task of tasks) {
      const compared = await compare(task, line.moved);
      for (const one of compared.placed) placed.push(one);
      problems.push(...compared.problems);
    }
  } catch (error) {
    throw asFailure('look at', error, tasks[0]?.place);
  } finally {
    line.stop();
  }
  if (problems.length === 0) return placed;
  throw usage(problems.join('\n'), 'Move it away, or name another --save-dir.');
}

/** Two at once would write the same files. */
function lock(place: string, tasks: readonly TaskFiles[]): () => void {
  const releases: (() => void)[] = [];
  const release = (): void => {
    for (const one of releases) one();
  };
  try {
    makeFolder(place);
    for (const job of new Set(tasks.map(({ task }) => task.split('[')[0] ?? task))) {
      const taken = takeLock(path.join(place, `.${job}.pull.lock`), false);
      if (taken.ok) releases.push(taken.release);
      else throw failure(refuse('pull.busy', { job, folder: place, pid: holderOf(taken.holder) }));
    }
  } catch (error) {
    release();
    throw asFailure('write', error, place);
  }
  return release;
}

function holderOf(holder: { readonly pid: number } | null): string {
  return holder === null ? 'unknown' : String(holder.pid);
}

function asFailure(verb: string, error: unknown, place = ''): unknown {
  const { syscall, path: file = place } = error as NodeJS.ErrnoException;
  if (error instanceof Failure || syscall === undefined) return error;
  return usage(`cannot ${verb} ${file}: ${fileProblem(error)}`);
}
