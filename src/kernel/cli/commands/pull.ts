// `weft pull`: brings what jobs have left behind to this machine.

import path from 'node:path';
import type { Command } from 'commander';
import { plural } from '../../base/plural.ts';
import { formatBytes, formatSize } from '../../base/size.ts';
import { readSelection, type Selection } from '../../files/select.ts';
import { usage } from '../../model/failure.ts';
import {
  bring,
  checkWhole,
  compareAll,
  type FoundOutputs,
  placedIn,
} from '../../transfer/pull/bring.ts';
import { checkLists, type Here, type Placed, type TaskFiles } from '../../transfer/pull/compare.ts';
import { findOutputs, type TaskOutputs } from '../../transfer/pull/outputs.ts';
import { transferOf } from '../connection/transfer-context.ts';
import type { Context } from '../context.ts';
import { OPERANDS_TEXT } from '../jobs/operands.ts';
import { selectJobs } from '../jobs/select.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import type { Column } from '../output/table.ts';
import { formatSpan } from '../output/words.ts';
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
      return (await findOutputs(transferOf(context), ids)).map((task) => ({
        ...task,
        below: folderOf(task),
      }));
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

/** Fetches, or lists, what `find` finds of what the options choose. */
export async function pullFound(
  context: Context,
  options: PullOptions,
  find: () => Promise<readonly FoundOutputs[]>,
  /** Whether patterns say which files. */
  isChosen = hasPatterns(options),
): Promise<number> {
  const selection = selectionOf(options);
  if (options.output !== undefined && !options.dryRun) {
    throw usage('--output is for --dry-run: nothing is listed otherwise');
  }
  const place = path.resolve(context.cwd, options.saveDir ?? '.');
  const found = await find();
  const shown = options.saveDir ?? '.';
  const tasks = found.map((task) => placedIn(task, { place, selection, shown }));
  const { right, lost } = checkLists(tasks);
  if (options.dryRun) {
    await list(context, right, options.output);
    checkWhole({ placed: [], flawed: [] }, lost, PARTIAL);
    return 0;
  }
  return pull(context, right, { place, isChosen, lost });
}

const PARTIAL = 'Pull again once that is mended; what is here is not fetched twice.';

const HINTS = {
  inTheWay: 'Move it away, or name another --save-dir.',
  noRoom: 'Make room, choose with --include or --glob, or name another --save-dir.',
};

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

async function list(
  context: Context,
  tasks: readonly TaskFiles[],
  output: string | undefined,
): Promise<void> {
  const transfer = transferOf(context, { isQuiet: output !== undefined });
  const placed = await compareAll(transfer, tasks, HINTS);
  const rows = placed.map(rowOf);
  const empty = 'Nothing matches.';
  await context.list({ rows, columns: COLUMNS, name: (row) => row.path, empty }, output);
  if (output === undefined && rows.length > 0) context.note(planWords(amountsOf(placed)));
}

function hasPatterns({ include, exclude, glob }: PullOptions): boolean {
  return [include, exclude, glob].some((patterns) => patterns !== undefined);
}

async function pull(
  context: Context,
  tasks: readonly TaskFiles[],
  { place, isChosen, lost }: { place: string; isChosen: boolean; lost: readonly string[] },
): Promise<number> {
  const begunMs = performance.now();
  const brought = await bring(transferOf(context), tasks, { place, hints: HINTS });
  const { placed, flawed } = brought;
  if (placed.length + flawed.length + lost.length === 0) {
    context.print('Nothing matches.');
    return 0;
  }
  const amounts = amountsOf(placed);
  const [first, ...others] = [...new Set(tasks.map(shownOf))];
  const where = others.length === 0 ? `${first}` : plural(others.length + 1, 'folder');
  const none = isChosen ? noFileWords(amounts, where) : null;
  context.print(none ?? doneWords(amounts, where, performance.now() - begunMs));
  checkWhole(brought, lost, PARTIAL);
  return 0;
}

function shownOf({ placeShown, below }: TaskFiles): string {
  return path.join(placeShown, below);
}

// What `weft pull` says: rows of its dry run, and the sentence at its end.

interface Row {
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link';
  readonly size: number;
  readonly here: Here;
}

const HERE: Readonly<Record<Here, string>> = {
  missing: 'no',
  there: 'yes',
  differs: 'another one',
};

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'SIZE',
    value: ({ kind, size }) => (kind === 'file' ? formatSize(size) : kind),
    raw: ({ size }) => size,
    align: 'right',
  },
  { title: 'HERE', value: ({ here }) => HERE[here], raw: ({ here }) => here },
  { title: 'FILE', value: ({ path }) => path },
];

function rowOf({ entry: { kind, size }, shown, here }: Placed): Row {
  return { path: shown, kind, size, here };
}

/** Files, those of them that are to come, and those that are there but other ones. */
interface Amounts {
  readonly files: number;
  readonly links: number;
  readonly there: number;
  readonly differ: number;
  readonly toFetch: number;
  readonly bytesToFetch: number;
}

function amountsOf(placed: readonly Placed[]): Amounts {
  const files = placed.filter(({ entry }) => entry.kind === 'file');
  const toFetch = files.filter(({ here }) => here !== 'there');
  return {
    files: files.length,
    links: placed.filter(({ entry }) => entry.kind === 'link').length,
    there: files.length - toFetch.length,
    differ: files.filter(({ here }) => here === 'differs').length,
    toFetch: toFetch.length,
    bytesToFetch: toFetch.reduce((sum, { entry }) => sum + entry.size, 0),
  };
}

/** `3 files with 1.2G to fetch, 5 are here`. */
function planWords({ toFetch, bytesToFetch, there, differ }: Amounts): string {
  const fetched = `${plural(toFetch, 'file')} with ${formatBytes(bytesToFetch)} to fetch`;
  const over = differ === 0 ? '' : `, over ${differ} that differ`;
  return `${fetched}${over}${there === 0 ? '' : `; ${there} here already`}`;
}

/** Null when there are files; links, which may have been chosen as well, count as such. */
function noFileWords({ files, links }: Amounts, where: string): string | null {
  return files + links > 0 ? null : `No file matches: only folders are in ${where}.`;
}

/** `Fetched 3 files with 1.2G into 42 in 12s (105M/s).` */
function doneWords(of: Amounts, where: string, tookMs: number): string {
  const { files, toFetch, bytesToFetch, there, differ } = of;
  if (toFetch === 0) return `${plural(files, 'file')} in ${where}, all as the job left them.`;
  const rate = `${formatBytes(Math.round((bytesToFetch / tookMs) * 1000))}/s`;
  const took = tookMs < 1000 ? '' : ` in ${formatSpan(tookMs)} (${rate})`;
  const fetched = `Fetched ${plural(toFetch, 'file')} with ${formatBytes(bytesToFetch)} into ${where}`;
  const more = [
    ...(differ === 0 ? [] : [`${differ} of them over others that were there`]),
    ...(there === 0 ? [] : [`${there} ${there === 1 ? 'was' : 'were'} there already`]),
  ];
  return `${[`${fetched}${took}`, ...more].join('; ')}.`;
}
