// `weft change`: sets something else of jobs that wait.

import type { Command } from 'commander';
import type { JobView } from '../../api/jobs.ts';
import { usage } from '../../model/failure.ts';
import { NICE_MAX, NODES_PER_TASK_MAX } from '../../model/limits.ts';
import type { JobChange } from '../../model/submission.ts';
import * as values from '../../model/submission-values.ts';
import { forEachJob, hasTasks } from '../jobs/each.ts';
import { OPERANDS_TEXT } from '../jobs/operands.ts';
import { selectJobs } from '../jobs/select.ts';
import { parseInstant } from '../submit/instant.ts';
import { dropUndefined, read } from '../submit/read.ts';
import { defineVerb } from '../verb.ts';

interface Options {
  readonly name?: string;
  readonly time?: string;
  readonly signal?: string;
  readonly partition?: string;
  readonly qos?: string;
  readonly nodes?: string;
  readonly cpus?: string;
  readonly memory?: string;
  readonly gpus?: string;
  readonly nice?: string;
  readonly begin?: string;
  readonly atOnce?: string;
  readonly hold?: boolean;
  readonly release?: boolean;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.argument('<job...>', OPERANDS_TEXT);
    for (const [flags, text] of FLAGS) command.option(flags, text);
    addRule(command);
  },
  async run({ context, args, options }) {
    const body = changeOf(options);
    if (Object.keys(body).length === 0) {
      throw usage(
        'there is nothing to change; give an option such as --time 2h (`weft change --help` lists them)',
      );
    }
    const isMeant = (job: JobView) => hasTasks(job, 'pending');
    const jobs = await selectJobs(context, args, {}, { state: 'active', isMeant, done: 'changed' });
    const ids = jobs.map(({ id }) => id);
    return forEachJob(context, ids, async (id) => {
      const api = await context.api();
      await api.call('changeJob', { params: { id }, body });
      return `Job ${id} is changed.`;
    });
  },
});

const FLAGS: readonly (readonly [flags: string, text: string])[] = [
  ['--name <name>', 'name of the job'],
  ['-t, --time <duration>', 'time limit, such as 90s or 1h30m, or none'],
  ['--signal <signal@time>', 'signal before the time limit: USR2@90, or none'],
  ['--partition <name>', 'partition'],
  ['--qos <name>', 'quality of service'],
  ['-n, --nodes <count>', 'nodes'],
  ['--cpus <count>', 'cpus per node'],
  ['--memory <size>', 'memory per node'],
  ['--gpus <count>', 'gpus per node'],
  ['--nice <number>', 'lower goes first among your own jobs, -100 to 100'],
  ['--begin <time>', 'not before: +2h, 18:30, 2026-01-31T18:30; now lets it start'],
  ['--at-once <count>', 'tasks of an array that may run at once, or none for no limit'],
  ['--hold', 'do not start before `weft release`'],
  ['--release', 'let it start'],
];

function addRule(command: Command): void {
  command.addHelpText(
    'after',
    '\nThe job must wait. Once some tasks of an array run, only --nice, --begin, --at-once, --hold' +
      '\nand --release can be changed. Partitions and limits are checked as at submission.',
  );
}

function changeOf(options: Options): JobChange {
  if (options.hold && options.release) throw usage('--hold and --release exclude each other');
  const count = (flag: string, text: string | undefined, from: number, to: number) =>
    read(flag, text, (value) => values.parseCount(value, from, to));
  const { MAX_SAFE_INTEGER: most } = Number;
  return dropUndefined({
    name: read('--name', options.name, values.parseText),
    walltimeMs: read('--time', options.time, values.parseWalltime),
    warning:
      options.signal === 'none' ? null : read('--signal', options.signal, values.parseWarning),
    partition: options.partition,
    qos: options.qos,
    nodeCount: count('--nodes', options.nodes, 1, NODES_PER_TASK_MAX),
    cpuCount: count('--cpus', options.cpus, 0, most),
    memoryBytes: read('--memory', options.memory, values.parseMemory),
    gpuCount: count('--gpus', options.gpus, 0, most),
    nice: count('--nice', options.nice, -NICE_MAX, NICE_MAX),
    beginAt: read('--begin', options.begin, (text) => parseInstant(text, Date.now())),
    runningMax: options.atOnce === 'none' ? null : count('--at-once', options.atOnce, 1, most),
    held: options.hold ? true : options.release ? false : undefined,
  }) as JobChange;
}
