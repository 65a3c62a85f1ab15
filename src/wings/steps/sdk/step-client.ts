// One process of a step for whoever started it: its stream on a line to the head, dialled once more
// when that is lost, and what it says at the end.

import { constants } from 'node:os';
import type { Api } from '../../../kernel/connect/api.ts';
import { Failure } from '../../../kernel/model/failure.ts';
import { EPOCH_HEADER, formatLine } from '../core/ids.ts';
import { LINGER_MS } from '../core/limits.ts';
import { Retries } from '../core/retries.ts';
import type { WindowSize } from '../core/told.ts';
import { Channel } from '../wire/channel.ts';
import {
  FROM_STEP,
  type Frame,
  FrameReader,
  frame,
  inputFrames,
  readEnded,
  signalFrame,
  sizeFrame,
  TO_STEP,
} from '../wire/frames.ts';

/** How a process was over. `why`: what is to be said of it; null: nothing. */
export interface StepResult {
  readonly code: number;
  readonly why: string | null;
}

export interface StepSink {
  /** Resolves when it is taken. */
  readonly out: (bytes: Buffer) => Promise<void>;
  readonly error: (bytes: Buffer) => Promise<void>;
  readonly note: (line: string) => void;
  /** What its program asks by PMI. */
  readonly pmi?: (bytes: Buffer) => void;
}

export interface StepPlace {
  readonly id: string;
  readonly rank: number;
  /** In which start of its task it is. Absent: in whichever. */
  readonly epochId?: string | undefined;
  /** The program, to be named where it cannot be started. */
  readonly program?: string | undefined;
  /** How long its node waits for a line; absent: a minute. */
  readonly lingerMs?: number | undefined;
  /** Only looks, under a name of its own, over one line: what comes on another is not all. */
  readonly watch?: string | undefined;
}

const RETRY_MS = 200;
const NOT_FOUND = 'step.not_found';
/** The node of a step that is left hears of it within so long, over one line or the next. */
const LEAVE_MS = 5_000;
/** 126 and 127 as shells have it: it cannot be run, or is not there. */
const ENOENT = constants.errno.ENOENT;
const OWN_FAILURE = 125;
/** A head that restarts knows nothing of a step before the node has told it. */
const PASSING: ReadonlySet<string> = new Set([
  'head.unreachable',
  NOT_FOUND,
  'head.starting',
  'auth.required',
  'rate.exceeded',
]);

const WATCHED = { code: OWN_FAILURE, why: 'the line to it is lost; attach once more to go on' };

export class StepClient {
  readonly #api: Api;
  readonly #place: StepPlace;
  readonly #sink: StepSink;
  readonly #channel: Channel;
  readonly #reader = new FrameReader();
  readonly #done = Promise.withResolvers<StepResult>();
  #destroy: () => void = () => undefined;
  #wake: () => void = () => undefined;
  #drained: (() => void)[] = [];
  /** What was shown so far, so that it comes in order. */
  #showing: Promise<void> = Promise.resolve();
  #isOver = false;
  /** What is said once the node has heard that nobody is here any more. */
  #leaving: StepResult | null = null;
  #toldAway = false;

  constructor(api: Api, place: StepPlace, sink: StepSink) {
    this.#api = api;
    this.#place = place;
    this.#sink = sink;
    this.#channel = new Channel({
      bytes: (bytes) => this.#hear(bytes),
      drained: () => {
        for (const resolve of this.#drained.splice(0)) resolve();
      },
      joined: (isJoined) => {
        if (isJoined) this.#toldAway = false;
      },
      bye: () => {
        if (this.#leaving !== null) this.#over(this.#leaving);
      },
    });
    void this.#lines();
  }

  /** Never rejects. */
  get done(): Promise<StepResult> {
    return this.#done.promise;
  }

  /** Resolves when there is room for more. */
  async input(bytes: Buffer): Promise<void> {
    if (this.#leaving !== null) return;
    let hasRoom = true;
    for (const one of inputFrames(bytes)) hasRoom = this.#channel.write(one);
    if (!hasRoom && !this.#isOver)
      await new Promise<void>((resolve) => this.#drained.push(resolve));
  }

  endInput(): void {
    this.#channel.write(frame(TO_STEP.end));
  }

  signal(number: number): void {
    this.#channel.write(signalFrame(number));
  }

  /** An answer by PMI. */
  answerPmi(text: string): void {
    this.#channel.write(frame(TO_STEP.pmi, Buffer.from(text, 'latin1')));
  }

  /** The terminal has another size. */
  resize(size: WindowSize): void {
    this.#channel.write(sizeFrame(size));
  }

  /** Hangs the step up, and does not wait for its end; asked for again, not for its node either. */
  leave(why: string): void {
    if (this.#leaving !== null) return this.#over(this.#leaving);
    this.#leaving = { code: 128 + constants.signals.SIGHUP, why };
    const timer = setTimeout(() => this.leave(why), LEAVE_MS);
    void this.done.then(() => clearTimeout(timer));
    this.#channel.end();
    this.#wake();
  }

  async #lines(): Promise<void> {
    const retries = new Retries(this.#place.lingerMs ?? LINGER_MS);
    while (!this.#isOver) {
      let waitMs: number | null = RETRY_MS;
      try {
        await this.#line();
        if (this.#place.watch !== undefined) return this.#over(WATCHED);
        retries.joined();
      } catch (error) {
        if (this.#isOver) return;
        const code = error instanceof Failure ? error.code : null;
        const isFinal = code !== null && (!PASSING.has(code) || this.#place.watch !== undefined);
        waitMs = retries.failed(performance.now(), code === NOT_FOUND);
        if (isFinal || waitMs === null) {
          const words = error instanceof Error ? error.message : String(error);
          const why = isFinal ? words : `its line is lost: ${words}`;
          return this.#over({ code: OWN_FAILURE, why });
        }
        this.#tellAway();
      }
      await this.#pause(waitMs);
    }
  }

  /** Short for a client that leaves, and over with it. */
  async #pause(waitMs: number): Promise<void> {
    if (this.#isOver) return;
    const woken = Promise.withResolvers<void>();
    const timer = setTimeout(woken.resolve, this.#leaving === null ? waitMs : RETRY_MS);
    this.#wake = woken.resolve;
    await woken.promise;
    clearTimeout(timer);
  }

  #tellAway(): void {
    if (this.#toldAway || this.#leaving !== null) return;
    this.#toldAway = true;
    this.#sink.note(`the line to step ${this.#place.id} is lost; trying again`);
  }

  /** Resolves when the line is gone that could be had. */
  async #line(): Promise<void> {
    const { id, rank, epochId, watch } = this.#place;
    const task = encodeURIComponent(id.slice(0, id.lastIndexOf('.')));
    const path = `/v1/jobs/${task}/steps/${encodeURIComponent(id)}/${formatLine(rank, watch)}`;
    const { stream, rest } = await this.#api.dial(path, {
      protocol: 'weft-step',
      ...(epochId === undefined ? {} : { headers: { [EPOCH_HEADER]: epochId } }),
    });
    const gone = new Promise<void>((resolve) => void stream.once('close', () => resolve()));
    stream.on('error', () => stream.destroy());
    this.#destroy = () => stream.end(() => stream.destroy());
    if (this.#isOver) return this.#destroy();
    this.#channel.open((bytes) => void stream.write(bytes));
    const hear = (bytes: Buffer): void => {
      const heard = this.#channel.feed(bytes);
      if (!heard.ok) this.#over({ code: OWN_FAILURE, why: heard.error });
    };
    if (rest.length > 0) hear(Buffer.from(rest));
    stream.on('data', hear);
    await gone;
    this.#channel.cut();
  }

  #hear(bytes: Buffer): void {
    const frames = this.#reader.take(bytes);
    if (!frames.ok) return this.#over({ code: OWN_FAILURE, why: frames.error });
    for (const one of frames.value) this.#showing = this.#showing.then(() => this.#show(one));
    this.#showing = this.#showing.then(() => this.#channel.take(bytes.length));
  }

  async #show({ kind, payload }: Frame): Promise<void> {
    if (kind === FROM_STEP.output) return this.#sink.out(payload);
    if (kind === FROM_STEP.errors) return this.#sink.error(payload);
    if (kind === FROM_STEP.pmi) return this.#sink.pmi?.(payload);
    if (kind === FROM_STEP.ended) return this.#ended(payload);
    if (kind === FROM_STEP.failed) {
      const errno = payload.length === 4 ? payload.readUInt32LE(0) : 0;
      const code = errno === ENOENT ? 127 : 126;
      return this.#over({
        code,
        why: `${this.#place.program ?? 'it'} cannot be started: ${errnoWords(errno)}`,
      });
    }
    if (kind === FROM_STEP.gone) this.#over({ code: OWN_FAILURE, why: payload.toString() });
  }

  #ended(payload: Buffer): void {
    const ended = readEnded(payload);
    if (ended === null) return this.#over({ code: OWN_FAILURE, why: 'its end cannot be read' });
    const { exit } = ended;
    const code = 'code' in exit ? exit.code : 128 + exit.signal;
    this.#over({ code, why: null });
  }

  #over(result: StepResult): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#wake();
    for (const resolve of this.#drained.splice(0)) resolve();
    if (this.#leaving === null) this.#channel.end();
    this.#destroy();
    this.#done.resolve(this.#leaving ?? result);
  }
}

function errnoWords(errno: number): string {
  const [name] = Object.entries(constants.errno).find(([, number]) => number === errno) ?? [];
  if (name === 'ENOENT') return 'there is no such program';
  if (name === 'EACCES') return 'it is no program that may be run';
  return `error ${errno}${name === undefined ? '' : ` (${name})`}`;
}
