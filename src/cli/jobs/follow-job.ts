// Copies the captured output of a whole job: all its tasks, processes and streams, each line with a
// label where there is more than one process.

import { type Interval, IntervalSet } from '../../core/base/interval-set.ts';
import type { OutputFiles } from '../../core/model/job.ts';
import type { Context } from '../context.ts';
import { copyLog } from './follow.ts';
import { LineLabeller } from './line-labeller.ts';

const STREAMS = ['stdout', 'stderr'] as const;
type Stream = (typeof STREAMS)[number];

/** Each holds a connection open while it runs; the next one begins when one has ended. */
const FOLLOWED_AT_ONCE_MAX = 64;

export interface FollowedJob {
  readonly id: string;
  readonly nodeCount: number;
  readonly processesPerNode: number;
  /** Streams with a file of their own are not captured: there is nothing to copy. */
  readonly files: OutputFiles;
  /** Tasks of an array, `0-99,200`; null for a job with one task. */
  readonly array: string | null;
}

interface Source {
  readonly id: string;
  readonly stream: Stream;
  readonly nodeRank: number;
  readonly rank: number;
  readonly label: string | null;
}

/** Resolves when every process is done and its output is here. */
export async function followJob(context: Context, job: FollowedJob): Promise<void> {
  await copyJob(context, job, { follow: true, streams: STREAMS });
}

/** As `followJob`, or only what is there now; with one stream it goes to standard output. */
export async function copyJob(
  context: Context,
  job: FollowedJob,
  how: { readonly follow: boolean; readonly streams: readonly Stream[] },
): Promise<void> {
  const captured = how.streams.filter((stream) => job.files[stream] === undefined);
  const sources = sourcesOf(job, captured);
  let dropped = 0;
  // What is there already is copied in order; what is still written comes as it comes.
  const workers = how.follow ? FOLLOWED_AT_ONCE_MAX : 1;
  const work = async () => {
    for (let next = sources.next(); !next.done; next = sources.next()) {
      dropped += await copyOne(context, next.value, { ...how, isOnly: how.streams.length === 1 });
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  if (dropped > 0) context.note(droppedWords(dropped));
}

/** For people, when output was cut. */
export function droppedWords(bytes: number): string {
  return (
    `${bytes} bytes of output are missing: a process wrote more than head.log_limit; ` +
    '--output FILE keeps all of it'
  );
}

function* sourcesOf(job: FollowedJob, streams: readonly Stream[]): Generator<Source> {
  const { nodeCount, processesPerNode, array } = job;
  const count = nodeCount * processesPerNode;
  for (const index of array === null ? [null] : readIndices(array)) {
    for (let at = 0; at < count; at += 1) {
      const nodeRank = Math.floor(at / processesPerNode);
      const rank = at % processesPerNode;
      const process = count === 1 ? '' : `${nodeRank}.${rank}`;
      const label = labelOf(index, process);
      const id = index === null ? job.id : `${job.id}[${index}]`;
      for (const stream of streams) yield { id, stream, nodeRank, rank, label };
    }
  }
}

function readIndices(text: string): IntervalSet {
  return IntervalSet.of(
    text.split(',').map((part): Interval => {
      const [from = 0, to = from] = part.split('-').map(Number);
      return [from, to];
    }),
  );
}

/** `7: ` for task 7 of an array, `0.1: ` for process 1 on node 0, `7/0.1: ` for both. */
function labelOf(index: number | null, process: string): string | null {
  const parts = [...(index === null ? [] : [index]), ...(process === '' ? [] : [process])];
  return parts.length === 0 ? null : `${parts.join('/')}: `;
}

async function copyOne(
  context: Context,
  { label, ...source }: Source,
  { follow, isOnly }: { readonly follow: boolean; readonly isOnly: boolean },
): Promise<number> {
  const toError = source.stream === 'stderr' && !isOnly;
  const sink = (bytes: Uint8Array) => (toError ? context.error(bytes) : context.out(bytes));
  const lines = label === null ? null : new LineLabeller(label, sink);
  const write = lines === null ? sink : (bytes: Uint8Array) => lines.write(bytes);
  const { dropped } = await copyLog(context, { ...source, follow }, write);
  lines?.end();
  return dropped;
}
