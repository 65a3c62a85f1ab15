// `weft logs`: the captured output of one process, as it is, or of all tasks of an array.

import { refuse } from '../../core/model/errors.ts';
import { Failure, failure, usage } from '../../core/model/failure.ts';
import type { Context } from '../context.ts';
import { readTaskPath } from '../ids.ts';
import { type Copied, copyLog, type LogSource } from '../jobs/follow.ts';
import { copyJob, droppedWords } from '../jobs/follow-job.ts';
import { defineVerb } from '../verb.ts';

type Stream = LogSource['stream'];

interface Options {
  readonly follow?: boolean;
  readonly stderr?: boolean;
  readonly all?: boolean;
  readonly index?: string;
  readonly epoch?: string;
  readonly node?: string;
  readonly rank?: string;
  readonly offset?: string;
  readonly limit?: string;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.argument(
      '<job>',
      'job id: 42, or 42[7] for one task; of a whole array each line says which',
    );
    command.option('-f, --follow', 'go on until the task is done and all output is there');
    command.option('-e, --stderr', 'standard error instead of standard output');
    command.option('-a, --all', 'both: standard output to ours, standard error to ours');
    command.option('-i, --index <index>', 'which task of an array');
    command.option('--epoch <number>', 'which start of the task (default: the last)');
    command.option('--node <rank>', 'which of its nodes, from 0');
    command.option('-r, --rank <rank>', 'which process on that node, from 0');
    command.option('--offset <bytes>', 'leave out this many bytes at the beginning');
    command.option('--limit <bytes>', 'stop after this many bytes');
  },
  async run({ context, args: [job = ''], options }) {
    const source = readSource(readTaskPath(job, options.index), options);
    const streams: readonly Stream[] = options.all
      ? ['stdout', 'stderr']
      : [options.stderr ? 'stderr' : 'stdout'];
    try {
      const copied = await Promise.allSettled(
        streams.map((stream) => copyOne(context, { ...source, stream }, options)),
      );
      const dropped = tellFailures(context, copied).reduce((sum, one) => sum + one.dropped, 0);
      if (dropped > 0) context.note(droppedWords(dropped));
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'job.is_array') throw error;
      await copyArray(context, source, streams);
    }
    return 0;
  },
});

/** One stream may go to a file while the other is here: that is said, and the rest shown. */
function tellFailures(context: Context, copied: PromiseSettledResult<Copied>[]): Copied[] {
  const done = copied.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  for (const one of copied) {
    if (one.status === 'fulfilled') continue;
    const isElsewhere = one.reason instanceof Failure && one.reason.code === 'log.elsewhere';
    if (done.length === 0 || !isElsewhere) throw one.reason;
    context.note(one.reason.message);
  }
  return done;
}

function copyOne(context: Context, source: LogSource, { all }: Options): Promise<Copied> {
  const toError = source.stream === 'stderr' && all;
  const write = (bytes: Uint8Array) => (toError ? context.error(bytes) : context.out(bytes));
  return copyLog(context, source, write);
}

/** All tasks of an array, unless one process is meant: bytes and runs are counted per process. */
async function copyArray(
  context: Context,
  { id, follow, ...narrowed }: Omit<LogSource, 'stream'>,
  streams: readonly Stream[],
): Promise<void> {
  const [option] = Object.keys(narrowed);
  if (option !== undefined) throw usage(`job ${id} is an array; name one task of it, as ${id}[0]`);
  const api = await context.api();
  const { array, files, request } = await api.call('getJob', { params: { id } });
  const captured = streams.some((stream) => files[stream] === undefined);
  const path = files[streams[0] ?? 'stdout'] ?? '';
  if (!captured) throw failure(refuse('log.elsewhere', { task: id, path }));
  await copyJob(context, { id, array, files, ...request }, { follow, streams });
}

function readSource(id: string, options: Options): Omit<LogSource, 'stream'> {
  const numbers = {
    epoch: number('--epoch', options.epoch),
    nodeRank: number('--node', options.node),
    rank: number('--rank', options.rank),
    offset: number('--offset', options.offset),
    limit: number('--limit', options.limit),
  };
  const given = Object.entries(numbers).filter(([, value]) => value !== undefined);
  return { id, follow: options.follow === true, ...Object.fromEntries(given) };
}

function number(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw usage(`${flag}: '${text}' is not a whole number`);
  return Number(text);
}
