// Which tasks stood still when, by the head's events. A head that is killed takes its last events
// with it: a stop whose end is missing for that reason is left out.

import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../src/kernel/api/api-error.ts';
import type { Answer } from '../../src/kernel/api/exchange.ts';
import type { Insistent } from './client.ts';
import type { Stop } from './evidence.ts';

/** Only what is read of an event. */
interface JournalEvent {
  readonly kind: string;
  readonly epochId?: string;
  readonly node?: string;
  readonly since?: number;
  readonly because?: string;
  readonly place?: StoppedPlace;
}

interface StoppedPlace {
  readonly jobId: number;
  readonly index: number | null;
}

interface JournalLine {
  readonly seq: number;
  readonly at: number;
  readonly events: readonly JournalEvent[];
}

export class Stops {
  readonly stops: Stop[] = [];
  /** How often somebody was told to make room, by how. */
  readonly preempted = { suspend: 0, requeue: 0 };
  /** Times that the feed was broken off and events may be missing. */
  gaps = 0;
  readonly #open = new Map<string, Omit<Stop, 'until'>>();
  #seq = 0;
  #life = new AbortController();

  /** Follows until it is told to end. */
  async follow(client: Insistent, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const life = this.#life.signal;
      try {
        const both = AbortSignal.any([signal, life]);
        await this.#read(await client.stream(this.#seq, both), life);
      } catch (error) {
        if (signal.aborted) return;
        if (life.aborted) continue;
        if (!(error instanceof ApiError)) throw error;
        if (error.code === 'event.too_old') this.#miss(Number(error.details.oldest) - 1);
      }
      await sleep(50);
    }
  }

  /** The head was put back: its events begin anew, with the numbers of others. */
  startAnew(): void {
    this.#life.abort();
    this.#life = new AbortController();
    this.#miss(0);
  }

  #miss(seq: number): void {
    this.gaps += 1;
    this.#open.clear();
    this.#seq = seq;
  }

  async #read(stream: Answer, life: AbortSignal): Promise<void> {
    let text = '';
    try {
      for await (const chunk of stream.setEncoding('utf8')) {
        if (life.aborted) return;
        const blocks = (text + chunk).split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) this.#take(block);
      }
    } catch (error) {
      // A head that is killed breaks off.
      if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    }
  }

  #take(block: string): void {
    const data = /^data: (.*)$/m.exec(block)?.[1];
    this.#seq = Number(/^id: (\d+)$/m.exec(block)?.[1] ?? this.#seq);
    if (data === undefined) return;
    const { at, events } = JSON.parse(data) as JournalLine;
    for (const event of events) this.#event(event, at);
  }

  #event(event: JournalEvent, at: number): void {
    if (event.because?.startsWith('preempted by')) {
      if (event.kind === 'suspend_asked') this.preempted.suspend += 1;
      if (event.kind === 'end_asked') this.preempted.requeue += 1;
    }
    const { epochId, node, place, since = at } = event;
    if (place !== undefined && GOES_ON.includes(event.kind)) this.#close(place, at);
    if (epochId === undefined || node === undefined) return;
    const key = `${epochId} ${node}`;
    if (event.kind === 'part_suspended') {
      const [task = '', epoch] = epochId.split('#');
      this.#open.set(key, { task, epoch: Number(epoch), host: node, from: since });
    }
    if (event.kind === 'part_ended' || event.kind === 'part_resumed') this.#open.delete(key);
  }

  /** What may run again from here on, on all of its nodes. */
  #close({ jobId, index }: StoppedPlace, until: number): void {
    const task = index === null ? `${jobId}` : `${jobId}[${index}]`;
    for (const [key, open] of this.#open) {
      if (open.task !== task) continue;
      this.stops.push({ ...open, until });
      this.#open.delete(key);
    }
  }
}

/** A task that is to end is let go on first: it could not hear of it otherwise. */
const GOES_ON = ['resume_asked', 'end_asked'];
