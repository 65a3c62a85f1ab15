// Nodes that are held for as long as this command goes on: a job whose program only waits, and a
// step on each of its nodes that ends the job when this command is gone.

import type { Context } from '../../../kernel/cli/context.ts';
import { outcomeWords } from '../../../kernel/cli/jobs/outcome.ts';
import { sendSubmission } from '../../../kernel/cli/jobs/send.ts';
import { waitFor } from '../../../kernel/cli/jobs/wait-for.ts';
import type { Api } from '../../../kernel/connect/api.ts';
import type { Submission } from '../../../kernel/model/submission.ts';
import { StepClient } from '../sdk/step-client.ts';
import { startIn } from './start-step.ts';
import { taskNamed } from './task-nodes.ts';

/** Exit codes that a job can be told to end with, each by a signal of its own; of others 1. */
const CODES = [
  ...Array.from({ length: 20 }, (_, at) => at + 1),
  125,
  126,
  127,
  130,
  134,
  137,
  139,
  143,
];
const FIRST_SIGNAL = 35;

/** The job's own program: it ends when it is told how; it says why, where nobody else does. */
const PLACE = `trap 'exit 0' TERM; trap 'exit 1' USR1; n=${FIRST_SIGNAL}
trap 'echo "its nodes are let go: the command that held them is gone" >&2; exit 129' HUP
for code in ${CODES.join(' ')}; do trap "exit $code" $n; n=$((n + 1)); done
while :; do sleep 3600 & wait $!; done`;
/** Reads how it ended; a line that is lost for good is a hang-up. The mark is that of its task. */
const HOLD = `
sig=TERM
end() {
  for at in $(grep -lszxF "WEFT_LAUNCH=$WEFT_LAUNCH" /proc/[0-9]*/environ); do
    pid=\${at#/proc/}
    pid=\${pid%/environ}
    if [ "$pid" != $$ ]; then kill -s "$sig" "$pid" 2>/dev/null; fi
  done
  exit 0
}
trap 'sig=HUP; end' HUP
read -r how
case $how in failed*) sig=\${how#failed }; esac
end`;

/** Until it is said that a job waits. */
const TOLD_AFTER_MS = 3000;

/** For a job to end that was told to, also where its holders are only just beginning. */
const END_MS = 30_000;

export interface Held {
  readonly id: string;
  /** The first one first. */
  readonly nodes: readonly string[];
  /** Resolves when the job is over before this command: of its time limit, or cancelled. */
  readonly lost: Promise<void>;
}

/** The program of the submission is not run. Resolves with what `use` gives. */
export async function withAllocation(
  context: Context,
  wish: Submission,
  use: (held: Held) => Promise<number>,
): Promise<number> {
  const api = await context.api();
  const id = await sendPlace(context, wish);
  let code = 1;
  const holders: StepClient[] = [];
  try {
    if (!(await hasStarted(context, id))) return code;
    // With MPI the program is on the first node alone: what serves it elsewhere ends with it.
    const isMpi = wish.mpi !== undefined;
    const held = await hold(api, id, { holders, perNode: !isMpi });
    const nodes = isMpi ? (await taskNamed(api, id)).nodes : held;
    const lost = Promise.race(holders.map(({ done }) => done)).then(() => undefined);
    code = await use({ id, nodes, lost });
    return code;
  } finally {
    await release(context, { id, holders, code });
  }
}

/** Resolves when nodes are held, which they are until the job is cancelled; null: they are not. */
export async function holdNodes(context: Context, wish: Submission): Promise<string | null> {
  const id = await sendPlace(context, wish);
  return (await hasStarted(context, id)) ? id : null;
}

async function sendPlace(context: Context, wish: Submission): Promise<string> {
  const program = { kind: 'argv', argv: ['/bin/sh', '-c', PLACE] } as const;
  const { jobId } = await sendSubmission(context, { ...wish, program });
  return String(jobId);
}

/** Waits for the start, and cancels a job that is given up before it. */
async function hasStarted(context: Context, id: string): Promise<boolean> {
  const api = await context.api();
  const leave = (): void => {
    void cancelJob(api, id);
    context.note(`cancelling job ${id}`);
  };
  for (const name of SIGNALS) process.once(name, leave);
  try {
    const { job } = await sayWaiting(context, id, waitFor(context, { id, until: 'started' }));
    if (job.state !== 'done') return true;
    context.note(`job ${id} has ended before its nodes were held`);
    return false;
  } finally {
    for (const name of SIGNALS) process.off(name, leave);
  }
}

/** Words for whoever waits for longer than a moment, in the manner of Slurm. */
async function sayWaiting<T>(context: Context, id: string, start: Promise<T>): Promise<T> {
  let isTold = false;
  const timer = setTimeout(() => {
    isTold = true;
    context.note(`job ${id} queued and waiting for resources`);
  }, TOLD_AFTER_MS);
  const reply = await start.finally(() => clearTimeout(timer));
  if (isTold) context.note(`job ${id} has been allocated resources`);
  return reply;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function hold(
  api: Api,
  id: string,
  { holders, perNode }: { readonly holders: StepClient[]; readonly perNode: boolean },
): Promise<string[]> {
  const argv = ['/bin/sh', '-c', HOLD];
  const {
    id: step,
    epochId,
    processes,
  } = await startIn(api, id, {
    argv,
    perNode,
    title: 'held by weft',
  });
  const nothing = async (): Promise<void> => undefined;
  const sink = { out: nothing, error: nothing, note: () => undefined };
  for (const { rank } of processes) {
    holders.push(new StepClient(api, { id: step, rank, epochId }, sink));
  }
  return processes.map(({ node }) => node);
}

interface Ending {
  readonly id: string;
  readonly holders: readonly StepClient[];
  readonly code: number;
}

async function release(context: Context, { id, holders, code }: Ending): Promise<void> {
  const api = await context.api();
  const words = Buffer.from(code === 0 ? 'done\n' : `failed ${signalFor(code)}\n`);
  for (const holder of holders) void holder.input(words);
  try {
    if (holders.length > 0) {
      const { job } = await waitFor(context, { id, timeoutMs: END_MS });
      // Not by this command: nobody else says why.
      if (!/^(?:completed|failed)$/.test(job.outcome?.kind ?? ''))
        context.note(`job ${id}: ${outcomeWords(job, job)}`);
      return;
    }
  } catch {
    // It is cancelled then.
  } finally {
    for (const holder of holders) holder.leave('over');
  }
  await cancelJob(api, id);
}

function signalFor(code: number): string {
  const at = CODES.indexOf(code);
  return at === -1 ? 'USR1' : String(FIRST_SIGNAL + at);
}

async function cancelJob(api: Api, id: string): Promise<void> {
  try {
    await api.call('cancelJob', { params: { id } });
  } catch {
    // It has ended, or the head is away: then its nodes see that nobody holds it.
  }
}
