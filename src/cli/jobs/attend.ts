// Staying with a job that was just submitted: its output, its end, and Ctrl-C meanwhile.

import type { Context } from '../context.ts';
import { EXIT_OWN_FAILURE, Failure } from '../failure.ts';
import { copyLog } from './follow.ts';
import { LineLabeller } from './line-labeller.ts';
import { exitCodeOf, outcomeWords } from './outcome.ts';
import { waitFor } from './wait-for.ts';

export interface Attended {
  readonly id: string;
  readonly follow: boolean;
  readonly nodeCount: number;
  readonly processesPerNode: number;
}

/** More streams than this are a matter for `weft logs`, one by one. */
const FOLLOWED_PROCESSES_MAX = 64;

/** Resolves with the exit code of the job; 125 when we cannot learn it. */
export async function attend(context: Context, job: Attended): Promise<number> {
  const restore = cancelOnInterrupt(context, job.id);
  try {
    if (job.follow) await followAll(context, job);
    const { job: view } = await waitFor(context, { id: job.id });
    if (view.outcome?.kind !== 'completed' && view.outcome?.kind !== 'failed') {
      context.note(`job ${job.id}: ${outcomeWords(view)}`);
    } else if (view.outcome.kind === 'failed' && !job.follow) {
      context.note(`job ${job.id}: ${outcomeWords(view)}`);
    }
    return exitCodeOf(view);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.note(`${error.message} Job ${job.id} is not affected.`);
    return EXIT_OWN_FAILURE;
  } finally {
    restore();
  }
}

async function followAll(context: Context, job: Attended): Promise<void> {
  const count = job.nodeCount * job.processesPerNode;
  if (count > FOLLOWED_PROCESSES_MAX) {
    context.note(`${count} processes: following the first ${FOLLOWED_PROCESSES_MAX} only`);
  }
  const copies = [];
  for (let process = 0; process < Math.min(count, FOLLOWED_PROCESSES_MAX); process += 1) {
    const nodeRank = Math.floor(process / job.processesPerNode);
    const rank = process % job.processesPerNode;
    const label = count === 1 ? null : `${nodeRank}.${rank}: `;
    for (const stream of ['stdout', 'stderr'] as const) {
      copies.push(followOne(context, { id: job.id, stream, nodeRank, rank, label }));
    }
  }
  const dropped = await Promise.all(copies);
  const bytes = dropped.reduce((sum, one) => sum + one, 0);
  if (bytes > 0) context.note(`${bytes} bytes of output are over the limit and were not kept`);
}

async function followOne(
  context: Context,
  of: {
    id: string;
    stream: 'stdout' | 'stderr';
    nodeRank: number;
    rank: number;
    label: string | null;
  },
): Promise<number> {
  const { label, ...source } = of;
  const sink = (bytes: Uint8Array) =>
    of.stream === 'stdout' ? context.terminal.out(bytes) : context.terminal.error(bytes);
  const lines = label === null ? null : new LineLabeller(label, sink);
  const write = lines === null ? sink : (bytes: Uint8Array) => lines.write(bytes);
  const { dropped } = await copyLog(context, { ...source, follow: true }, write);
  lines?.end();
  return dropped;
}

/** The first Ctrl-C cancels the job, as one does for a command in front; the second only leaves. */
function cancelOnInterrupt(context: Context, id: string): () => void {
  let asked = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (asked) process.exit(signal === 'SIGINT' ? 130 : 143);
    asked = true;
    context.note(`cancelling job ${id}; once more to leave without waiting for it`);
    void context
      .api()
      .then((api) => api.call('cancelJob', { params: { id } }))
      .catch((error: Error) => context.note(`cannot cancel job ${id}: ${error.message}`));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return () => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  };
}
