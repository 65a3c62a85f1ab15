// `weft logs`: the captured output of one process, as it is.

import { usage } from '../failure.ts';
import { readTaskPath } from '../ids.ts';
import { copyLog, type LogSource } from '../jobs/follow.ts';
import { defineVerb } from '../verb.ts';

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
    command.argument('<job>', 'job id: 42, or 42[7] for one task of an array');
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
    const streams = options.all
      ? (['stdout', 'stderr'] as const)
      : ([options.stderr ? 'stderr' : 'stdout'] as const);
    const copied = await Promise.all(
      streams.map((stream) => {
        const toError = stream === 'stderr' && options.all;
        const { terminal } = context;
        const write = (bytes: Uint8Array) =>
          toError ? terminal.error(bytes) : terminal.out(bytes);
        return copyLog(context, { ...source, stream }, write);
      }),
    );
    const dropped = copied.reduce((sum, { dropped: bytes }) => sum + bytes, 0);
    if (dropped > 0) context.note(`${dropped} bytes more are over the limit and were not kept`);
    return 0;
  },
});

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
