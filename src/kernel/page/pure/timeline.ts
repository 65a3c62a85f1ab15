// The life of a job as a line of time: waits and runs, one after the other, each with its reason.

import type { HistoryTask } from '../../api/history.ts';
import type { JobView } from '../../api/jobs.ts';
import { endWords, plainWord } from './words.ts';

export interface Stretch {
  readonly kind: 'wait' | 'run';
  readonly from: number;
  /** Null when it goes on. */
  readonly until: number | null;
  readonly words: string;
  /** For its colour: a state or an outcome. */
  readonly word: string;
}

type Life = Pick<
  JobView,
  'state' | 'outcome' | 'reason' | 'submittedAt' | 'runStartedAt' | 'endedAt' | 'nodes' | 'exit'
>;

/** `epochs`: earlier starts and the last one, once they have ended, in any order. Plain jobs. */
export function stretchesOf(job: Life, epochs: readonly HistoryTask[]): Stretch[] {
  const stretches: Stretch[] = [];
  let at = job.submittedAt;
  const wait = (until: number | null, words: string): void => {
    if (until === null || until > at) {
      stretches.push({ kind: 'wait', from: at, until, words, word: 'pending' });
    }
  };
  const ended = epochs
    .filter(({ startedAt }) => startedAt !== null)
    .sort((one, other) => one.epoch - other.epoch);
  for (const { startedAt, endedAt, nodes, outcome, final, epoch } of ended) {
    const from = startedAt as number;
    wait(from, epoch === 1 ? 'waited' : 'waited to start again');
    const why = endWords({ exit: outcome.exit, outcome });
    const how = [plainWord(outcome.kind), why].filter(Boolean).join(', ');
    const again = final ? '' : '; requeued';
    const words = `ran on ${nodes.join(', ')}: ${how}${again}`;
    stretches.push({ kind: 'run', from, until: endedAt, words, word: outcome.kind });
    at = endedAt;
  }
  const { state, runStartedAt, endedAt } = job;
  const isKnown =
    runStartedAt !== null && ended.some(({ startedAt }) => startedAt === runStartedAt);
  if (runStartedAt !== null && !isKnown && (endedAt !== null || state !== 'pending')) {
    wait(runStartedAt, 'waited');
    const words = `${plainWord(state === 'done' ? (job.outcome?.kind ?? 'done') : state)} on ${job.nodes.join(', ')}`;
    const word = state === 'done' ? (job.outcome?.kind ?? 'done') : state;
    stretches.push({ kind: 'run', from: runStartedAt, until: endedAt, words, word });
  } else if (state === 'pending') wait(null, job.reason?.words ?? 'waits');
  else if (endedAt !== null) wait(endedAt, 'waited, never started');
  return stretches;
}
