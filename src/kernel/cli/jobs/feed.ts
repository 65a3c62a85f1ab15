// Sends standard input to a job while it runs: a piece at a time, the next when the job has read
// the one before. A job that is started again gets it from the beginning, while that is still here.

import type { FeedReply } from '../../api/feeding.ts';
import { usage } from '../../model/failure.ts';
import { withPatience } from '../connection/patience.ts';
import type { Context } from '../context.ts';
import { type Input, InputBuffer } from './input.ts';

/** What is sent is kept up to here, for another start of the job. */
const REPLAY_BYTES_MAX = 1_048_576;
/** Bytes of one request. */
const PIECE_BYTES_MAX = 1_048_576;
/** Without input the head hears this often that we are still here; it gives up after 60 s. */
const SIGN_OF_LIFE_MS = 10_000;
const HEAD_AWAY_MAX_MS = 120_000;
/** The head answers within 15 s. */
const ANSWER_MAX_MS = 45_000;

export interface Feeding {
  /** Settles when the job is done, or the input cannot be sent: then with the reason. */
  readonly done: Promise<void>;
  /** The job is done: nothing more is read. */
  stop(): void;
}

/** Reads the input to its end, or until the job is done. */
export function feedJob(context: Context, id: string, input: Input): Feeding {
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
