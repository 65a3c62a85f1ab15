// `distribute pull`: fetches what the jobs of a batch have left, as `weft batch pull` does.

import { pullFound } from '../../../kernel/cli/commands/pull.ts';
import { collect } from '../../../kernel/cli/submit/read.ts';
import { readSelection, type Selection, select } from '../../../kernel/files/select.ts';
import { usage } from '../../../kernel/model/failure.ts';
import type { FoundOutputs } from '../../../kernel/transfer/pull/bring.ts';
import { findBatchOutputs } from '../../batches/cli/cluster/pull.ts';
import { headVerb } from './head-flags.ts';
import { jobsFile } from './jobs-file.ts';

interface Options {
  readonly dry?: boolean;
  readonly skipFolders?: boolean;
  readonly saveDir?: string;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

/** Words between FILE and the patterns; the seed wanted one of them. */
const FILTERS = ['include', 'exclude'] as const;
type Filter = (typeof FILTERS)[number];

export const pull = headVerb<Options>({
  define(command) {
    command.argument('[file]', 'batch file; default: distribute-jobs.yaml here');
    command.argument('[filter]', 'include or exclude; the patterns behind it say it, too');
    command.option('-d, --dry', 'fetch nothing: list what would come');
    command.option('-s, --skip-folders', 'no folders but those that files are in');
    command.option('--save-dir <folder>', 'where to put it, as NAMESPACE/BATCH/JOB', './');
    command.option('-i, --include <regex>', 'only paths that match one of these', collect);
    command.option('-e, --exclude <regex>', 'no paths that match one of these', collect);
  },
  async run({ context, args, options }) {
    const file = jobsFile(fileOf(args, options));
    const selection = selectionOf(options);
    const { skipFolders = false, saveDir = './', dry = false } = options;
    const find = async () => {
      const found = await findBatchOutputs(context, file, undefined);
      return found.map((task) => selected(task, selection));
    };
    const isChosen = options.include !== undefined || options.exclude !== undefined;
    return pullFound(context, { skipFolders, saveDir, dryRun: dry }, find, isChosen);
  },
});

function selectionOf({ include, exclude }: Options): Selection {
  const read = readSelection({
    ...(include === undefined ? {} : { include }),
    ...(exclude === undefined ? {} : { exclude }),
  });
  if (!read.ok) throw usage(read.error.join('\n'));
  return read.value;
}

/** The seed's patterns could name jobs too: they are matched with `JOB/` before the path. */
function selected(task: FoundOutputs, selection: Selection): FoundOutputs {
  const job = `${task.below.at(-1)}/`;
  const whole = task.entries.map((entry) => ({ ...entry, path: `${job}${entry.path}` }));
  const { taken } = select(whole, selection);
  const entries = taken.map((entry) => ({ ...entry, path: entry.path.slice(job.length) }));
  return { ...task, entries };
}

/** The operand that is no word of a filter, after a look at whether words and patterns agree. */
function fileOf(args: readonly string[], options: Options): string | undefined {
  const filter = FILTERS.find((one) => one === args.at(-1));
  const [file, more] = filter === undefined ? args : args.slice(0, -1);
  if (more !== undefined) {
    const hint = 'In pull -s is --skip-folders, which takes no value; --save-dir names a folder.';
    throw usage(`'${more}' is neither include nor exclude`, hint);
  }
  if (filter !== undefined) checkFilter(filter, options);
  return file;
}

function checkFilter(filter: Filter, options: Options): void {
  if (options[filter] !== undefined) return;
  throw usage(`${filter}: give at least one --${filter} REGEX`);
}
