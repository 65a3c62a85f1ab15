// Staying with a job that was just submitted: its output, its end, and Ctrl-C meanwhile.

import type { FeedReply } from '../../api/feeding.ts';
import { headNow } from '../../api/head-time.ts';
import type { JobView } from '../../api/jobs.ts';
import { asClause } from '../../base/sentence.ts';
import { EXIT_OWN_FAILURE, Failure, usage } from '../../model/failure.ts';
import { withPatience } from '../connection/patience.ts';
import type { Context } from '../context.ts';
import { prose } from '../output/prose.ts';
import { jobProgress } from '../progress/tasks.ts';
import { failedCount } from './failed-tasks.ts';
import { type FollowedJob, followJob } from './follow-job.ts';
import { type Input, InputBuffer } from './input.ts';
import { exitCodeOf, outcomeWords } from './outcome.ts';
import { tellStandstill } from './standstill.ts';
import { waitFor } from './wait-for.ts';

/** After this long most jobs that can start have started. */
const WAIT_TOLD_MS = 10_000;

export interface Attended extends FollowedJob {
  readonly follow: boolean;
  /** What is sent to it while it runs; null: nothing. */
  readonly input: Input | null;
}

/** Resolves with the exit code of the job; 125 when we cannot learn it. */
export async function attend(context: Context, job: Attended): Promise<number> {
  const restore = cancelOnInterrupt(context, job.id);
  const feeding = job.input === null ? null : feedJob(context, job.id, job.input);
  feeding?.done.catch((error: Error) => cancelUnfed(context, job.id, error));
  const progress = jobProgress(context, job.array === null ? [] : [job.id]);
  let isOver = false;
  const still = tellStandstill(context, job.id);
  const told = setTimeout(() => void tellWait(context, job.id, () => isOver), WAIT_TOLD_MS);
  try {
    if (job.follow) await followJob(context, job);
    const { job: view } = await waitFor(context, { id: job.id });
    isOver = true;
    progress.stop();
    if (view.outcome?.kind !== 'completed') context.note(endWords(job.id, view));
    return exitCodeOf(view);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.note(`${error.message} Job ${job.id} is not affected.`);
    return EXIT_OWN_FAILURE;
  } finally {
    isOver = true;
    clearTimeout(told);
    still.stop();
    feeding?.stop();
    progress.stop();
    restore();
  }
}

/** Once: whoever sits there sees nothing else of a job that has not started. */
async function tellWait(context: Context, id: string, isOver: () => boolean): Promise<void> {
  try {
    const api = await context.api();
    const { state } = await api.call('getJob', { params: { id } });
    if (state !== 'pending') return;
    const { words } = await api.call('explainJob', { params: { id } });
    const [first = ''] = prose(words, headNow(), null);
    if (!isOver()) context.note(`job ${id} waits: ${first.replace(/^It is pending: /, '')}`);
  } catch (error) {
    // The command that waits for the job says itself that the head is away.
    if (!(error instanceof Failure)) throw error;
  }
}

/** `job 3: failed (exit 1 on n2); 2 of 10 tasks failed`. */
function endWords(id: string, view: JobView): string {
  const failed = view.array === null ? 0 : failedCount(view);
  const many = failed === 0 ? '' : `; ${failed} of ${view.taskCount} tasks failed`;
  return `job ${id}: ${outcomeWords(view, view)}${many}`;
}

/** Half of its input would give half of a result, and look like a whole one. */
async function cancelUnfed(context: Context, id: string, error: Error): Promise<void> {
  context.note(`${asClause(error.message)}; job ${id} is cancelled`);
  await cancel(context, id);
}

async function cancel(context: Context, id: string): Promise<void> {
  try {
    const api = await context.api();
    await api.call('cancelJob', { params: { id } });
  } catch (error) {
    context.note(`cannot cancel job ${id}: ${(error as Error).message}`);
  }
}

/** The first Ctrl-C cancels the job, as one does for a command in front; the second only leaves. */
function cancelOnInterrupt(context: Context, id: string): () => void {
  let asked = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (asked) process.exit(signal === 'SIGINT' ? 130 : 143);
    asked = true;
    context.note(`cancelling job ${id}; press again to leave without waiting for its end`);
    void cancel(context, id);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return () => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  };
}

// Sends standard input to a job while it runs: a piece at a time, the next when the job has read
// the one before. A job that is started again gets it from the beginning, while that is still here.

/** What is sent is kept up to here, for another start of the job. */
const REPLAY_BYTES_MAX = 1_048_576;
/** Bytes of one request. */
const PIECE_BYTES_MAX = 1_048_576;
/** Without input the head hears this often that we are still here; it gives up after 60 s. */
const SIGN_OF_LIFE_MS = 10_000;
const HEAD_AWAY_MAX_MS = 120_000;
/** The head answers within 15 s. */
const ANSWER_MAX_MS = 45_000;

interface Feeding {
  /** Settles when the job is done, or the input cannot be sent: then with the reason. */
  readonly done: Promise<void>;
  /** The job is done: nothing more is read. */
  stop(): void;
}

/** Reads the input to its end, or until the job is done. */
function feedJob(context: Context, id: string, input: Input): Feeding {
  const source = new InputBuffer(input.open());
  const feeder = new JobFeeder(context, id, source);
  return { done: feeder.run(), stop: () => feeder.stop() };
}

class JobFeeder {
  readonly #context: Context;
  readonly #id: string;
  readonly #source: InputBuffer;
  /** Bytes from `#base` on: those that the job has not read, and before them what can be resent. */
  #kept: Buffer = Buffer.alloc(0);
  #base = 0;
  /** How much of the input this run of the job has read. */
  #offset = 0;
  #run = 0;
  /** The run that has read all of it. */
  #fedRun = 0;
  #stopped = false;

  constructor(context: Context, id: string, source: InputBuffer) {
    this.#context = context;
    this.#id = id;
    this.#source = source;
  }

  stop(): void {
    this.#stopped = true;
    this.#source.close();
  }

  async run(): Promise<void> {
    while (!this.#stopped) {
      if (this.#total === this.#offset) await this.#more();
      if (this.#stopped) return;
      const from = this.#offset - this.#base;
      const piece = this.#kept.subarray(from, from + PIECE_BYTES_MAX);
      const end = this.#source.isEnded && this.#offset + piece.length === this.#total;
      const reply = await this.#send(piece, end);
      if (reply === null || reply.done) this.stop();
      else this.#heard(reply, end);
    }
  }

  get #total(): number {
    return this.#base + this.#kept.length;
  }

  async #more(): Promise<void> {
    if (!this.#source.isEnded) await this.#source.wait(SIGN_OF_LIFE_MS);
    this.#kept = Buffer.concat([this.#kept, this.#source.take()]);
  }

  /** Returns null when the job was done before the head heard of it. */
  async #send(piece: Buffer, end: boolean): Promise<FeedReply | null> {
    const api = await this.#context.api();
    const wait = end && this.#fedRun !== 0 && this.#fedRun === this.#run;
    const data = piece.toString('base64');
    const body = { run: this.#run, offset: this.#offset, data, end, ...(wait ? { wait } : {}) };
    const note = 'Waiting for the head to come back.';
    const patience = { totalMs: HEAD_AWAY_MAX_MS, note, isOver: () => this.#stopped };
    const params = { id: this.#id };
    try {
      return await withPatience(this.#context, patience, () =>
        api.call('feedJob', { params, body, timeoutMs: ANSWER_MAX_MS }),
      );
    } catch (error) {
      if (this.#stopped) return null;
      throw error;
    }
  }

  #heard({ run, offset, taken }: FeedReply, end: boolean): void {
    if (offset < this.#base) throw usage(`job ${this.#id} was started again: ${CANNOT_RESEND}`);
    this.#run = run;
    this.#offset = offset;
    if (end && taken && offset === this.#total) this.#fedRun = run;
    if (this.#total <= REPLAY_BYTES_MAX) return;
    this.#kept = this.#kept.subarray(offset - this.#base);
    this.#base = offset;
  }
}

const CANNOT_RESEND =
  'its standard input has been read, and cannot be sent a second time. ' +
  'Use --stdin FILE for a job that may be started again';
