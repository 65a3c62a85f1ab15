// Notes for a command that follows a job: that the job was suspended and why, and that it goes on.
// A suspended job writes nothing and takes no signal, and would look hung.

import { headNow } from '../../api/head-time.ts';
import type { JobDetail } from '../../api/jobs.ts';
import { Failure } from '../../model/failure.ts';
import type { Context } from '../context.ts';
import { prose } from '../output/prose.ts';

const LOOK_EVERY_MS = 5000;

export interface Standstill {
  /** Looks now. Resolves with whether the job or task stands still; null: nobody knows. */
  readonly look: () => Promise<boolean | null>;
  readonly stop: () => void;
}

/** Looks every few seconds, and says what has changed; `id` may be a task, `42[7]`. */
export function tellStandstill(
  context: Context,
  id: string,
  isStill: () => void = () => undefined,
): Standstill {
  let isOver = false;
  let wasStill = false;
  const look = async (): Promise<boolean | null> => {
    const words = await stillWords(context, id, wasStill);
    if (isOver || words === undefined) return null;
    const now = words.kind === 'still';
    if (now && !wasStill) context.note(words.text);
    if (words.kind === 'runs' && wasStill) context.note(`job ${id} goes on`);
    wasStill = now;
    if (now) isStill();
    return now;
  };
  const again = (): NodeJS.Timeout => setTimeout(() => void looked(), LOOK_EVERY_MS);
  const looked = async (): Promise<void> => {
    await look();
    if (!isOver) timer = again();
  };
  let timer = again();
  const stop = (): void => {
    isOver = true;
    clearTimeout(timer);
  };
  return { look, stop };
}

type Words =
  | { readonly kind: 'still'; readonly text: string }
  | { readonly kind: 'runs' | 'other' };

/** Undefined: the head is away, or knows no such job. `isTold`: why has been said. */
async function stillWords(
  context: Context,
  id: string,
  isTold: boolean,
): Promise<Words | undefined> {
  try {
    const api = await context.api();
    const job = await api.call('getJob', { params: { id } });
    // A plan is made for whoever asks why where some of it waits: only when it matters.
    const isWhole = id === String(job.id);
    if (!(isWhole ? job.state === 'suspended' : hasSuspended(job)))
      return { kind: job.state === 'running' ? 'runs' : 'other' };
    if (isWhole && isTold) return { kind: 'still', text: '' };
    const { state, words } = await api.call('explainJob', { params: { id } });
    if (state !== 'suspended') return { kind: state === 'running' ? 'runs' : 'other' };
    // The time in these words is that of the start, not of the suspension.
    const [first = ''] = prose(words.replace(SINCE, '$1.'), headNow(), null);
    return { kind: 'still', text: `job ${id} ${first.replace(/^It /, '')}` };
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

const SINCE = /^(It is suspended on .*?) since [^ ]*Z\./;

function hasSuspended({ taskCounts, state }: JobDetail): boolean {
  return state === 'suspended' || (taskCounts['suspended'] ?? 0) > 0;
}
