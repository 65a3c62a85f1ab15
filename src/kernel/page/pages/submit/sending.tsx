// A form on its way: sent again with its key until there is an answer, and what to do with one whose
// answer was lost.

import { useEffect, useRef, useState } from 'preact/hooks';
import { headNow } from '../../../api/head-time.ts';
import type { Body } from '../../../api/routes.ts';
import { call, HeadError } from '../../data/client.ts';
import { now } from '../../data/clock.ts';
import { keep } from '../../data/kept.ts';
import { go, hrefOf } from '../../data/route.ts';
import { forget, isLost, sendOnce, unanswered } from '../../data/send-once.ts';
import { me, TYPED } from '../../data/session.ts';
import { perform } from '../../parts/actions.tsx';
import { Time } from '../../parts/basic.tsx';
import { type JobForm, submissionOf } from '../../pure/job-form.ts';
import { spanWords } from '../../pure/words.ts';

const RETRY_MS = 3000;

type Submission = Body<'submitJob'>;

/** The submission as it is sent; another text is another job. */
export function wishOf(form: JobForm): string {
  return JSON.stringify(submissionOf(form));
}

export interface Sent {
  readonly isBusy: boolean;
  /** Since when there is no answer; null: the first try is on its way, or none is. */
  readonly lostAt: number | null;
  readonly send: (wish: string) => void;
  readonly stop: () => void;
}

export function useSending(): Sent {
  const [state, setState] = useState<{ lostAt: number | null } | null>(null);
  const gone = useRef(new AbortController());
  useEffect(() => () => gone.current.abort(), []);
  const stop = (): void => {
    gone.current.abort();
    setState(null);
  };
  const send = (wish: string): void => {
    gone.current.abort();
    gone.current = new AbortController();
    const { signal } = gone.current;
    setState({ lostAt: null });
    const onLost = (): void =>
      setState((before) => (signal.aborted ? before : { lostAt: before?.lostAt ?? headNow() }));
    const run = async (): Promise<string> => {
      const { jobId, again } = await untilAnswered(wish, signal, onLost);
      keep('tab', TYPED, null);
      go(['jobs', jobId]);
      return again
        ? `Job ${jobId} was accepted before, and its answer lost: there is one, not two.`
        : `Job ${jobId} is submitted.`;
    };
    void perform({ run }).then(
      () => signal.aborted || setState(null),
      (error: unknown) => {
        if (!signal.aborted) throw error;
      },
    );
  };
  return { isBusy: state !== null, lostAt: state?.lostAt ?? null, send, stop };
}

async function untilAnswered(wish: string, signal: AbortSignal, onLost: () => void) {
  const body = JSON.parse(wish) as Submission;
  for (;;) {
    try {
      return await sendOnce(wish, (headers) => call('submitJob', { body, headers, signal }));
    } catch (error) {
      if (!(error instanceof HeadError) || !isLost(error)) throw error;
      onLost();
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    signal.throwIfAborted();
  }
}

/** `wish`: what the form says now; null: it is not whole. */
export function Sending({ sending, wish }: { sending: Sent; wish: string | null }) {
  const { isBusy, lostAt, stop, send } = sending;
  if (isBusy) {
    if (lostAt === null) return null;
    return (
      <div class="problem" role="alert">
        <strong>The head does not answer</strong>, for {spanWords(Math.max(0, now.value - lostAt))}.
        The page sends the job again until it does: it is one job, however often.
        <button type="button" onClick={stop}>
          Stop sending
        </button>
      </div>
    );
  }
  return (
    <>
      {unanswered()
        .filter((one) => isSubmission(one.wish))
        .map((one) => (
          <div class="problem" role="alert" key={one.key}>
            {one.wish === wish ? 'This job' : `The job ${titleOf(one.wish)}`} was sent at{' '}
            <Time at={one.at} /> and its answer lost: it may have been accepted.{' '}
            {one.wish === wish
              ? 'Submit sends it again, and shows it: it stays one job.'
              : 'What the form says now is another job.'}{' '}
            <a href={hrefOf(['jobs'], { state: 'all', owner: me.value?.name ?? '' })}>
              Look at your jobs
            </a>
            {one.wish !== wish && (
              <button type="button" onClick={() => send(one.wish)}>
                Send that one again
              </button>
            )}
            <button type="button" onClick={() => forget(one.wish)}>
              Forget it
            </button>
          </div>
        ))}
    </>
  );
}

/** Others are kept, too: jobs that run again. */
function isSubmission(wish: string): boolean {
  return wish.startsWith('{');
}

/** The job's name, else the beginning of its command. */
function titleOf(wish: string): string {
  const { name, program } = JSON.parse(wish) as Submission;
  if (name !== undefined) return name;
  const line = program.kind === 'shell' ? program.line : '';
  return line.length > 40 ? `${line.slice(0, 40)}…` : line;
}
