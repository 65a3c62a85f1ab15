// The last committed records in memory, for those who follow along and come back after a cut. Who
// may see an event is decided when it comes: later its job may be gone.

import type { Event } from '../../machine/declared.ts';
import type { State } from '../../machine/state.ts';
import { hasRole, type UserActor } from '../../model/actor.ts';
import type { JobId } from '../../model/ids.ts';
import type { Committed } from '../engine-options.ts';
import type { PublicEvents } from './public-events.ts';

/** Ten seconds of a busy head, an hour of a quiet one. */
const RECORDS_MAX = 10_000;
/** Characters of what is shown: some 6,000 submissions, for whoever is cut off for seconds. */
const TEXT_MAX = 8 * 1_048_576;

/** The readers of an event: everybody, the owner of a job, or admins. */
type Audience = { readonly owner: string } | 'all' | 'admin';

export interface RingRecord {
  readonly seq: number;
  readonly at: number;
  /** In the order of the record; nothing else of it stays in memory. */
  readonly events: readonly RingEvent[];
}

export interface RingEvent {
  readonly kind: string;
  readonly jobId: JobId | null;
  /** JSON of what is shown, without what is nobody's business. */
  readonly text: string;
  readonly audience: Audience;
}

export class EventRing {
  /** Circular: record `seq` stands at `seq % RECORDS_MAX`. */
  readonly #records: (RingRecord | undefined)[] = [];
  #oldest: number;
  #newest: number;
  /** Characters in all records that are here. */
  #size = 0;
  readonly #readers = new Set<() => void>();

  readonly #public: PublicEvents;

  /** `seq`: of the last record committed before this ring listens. */
  constructor(seq: number, of: PublicEvents) {
    this.#public = of;
    this.#oldest = seq + 1;
    this.#newest = seq;
  }

  /** The first record that is still here, or the next that will come. */
  get oldest(): number {
    return this.#oldest;
  }

  get newest(): number {
    return this.#newest;
  }

  add({ seq, at, events }: Omit<Committed, 'history'>, state: State): void {
    // Numbers jump when the head had to read its store again; what is older is then gone.
    if (seq !== this.#newest + 1) this.#clear(seq);
    const shown = events.map((event) => ({
      kind: event.kind,
      jobId: this.#public.jobIdOf(event),
      text: JSON.stringify(this.#public.show(event)),
      audience: this.#audienceOf(event, state),
    }));
    const record = { seq, at, events: shown };
    while (this.#oldest <= seq - RECORDS_MAX) this.#dropOldest();
    this.#records[seq % RECORDS_MAX] = record;
    this.#newest = seq;
    this.#size += sizeOf(record);
    // The newest stays, however large: its readers are waiting for it.
    while (this.#size > TEXT_MAX && this.#oldest < seq) this.#dropOldest();
    for (const reader of [...this.#readers]) reader();
  }

  /** Undefined when it is too old or has not come. */
  get(seq: number): RingRecord | undefined {
    return seq < this.#oldest || seq > this.#newest ? undefined : this.#records[seq % RECORDS_MAX];
  }

  onRecord(reader: () => void): () => void {
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  }

  #audienceOf(event: Event, state: State): Audience {
    const audience = this.#public.audienceOf(event);
    if (audience !== 'job') return audience;
    if (event.kind === 'job_submitted') return { owner: event.owner };
    const jobId = this.#public.jobIdOf(event);
    const owner = jobId === null ? undefined : state.jobs.get(jobId)?.owner;
    return owner === undefined ? 'admin' : { owner };
  }

  #clear(oldest: number): void {
    this.#records.length = 0;
    this.#size = 0;
    this.#oldest = oldest;
  }

  #dropOldest(): void {
    const place = this.#oldest % RECORDS_MAX;
    const record = this.#records[place];
    if (record !== undefined) this.#size -= sizeOf(record);
    this.#records[place] = undefined;
    this.#oldest += 1;
  }
}

/** Which events a reader wants; absent: all. */
export interface EventFilter {
  readonly kind?: readonly string[] | undefined;
  readonly job?: readonly number[] | undefined;
}

/** The wanted events that the user may see. */
export function visibleEvents(
  record: RingRecord,
  actor: UserActor,
  { kind: kinds, job: jobs }: EventFilter = {},
): RingEvent[] {
  return record.events.filter(
    ({ kind, jobId, audience }) =>
      (kinds?.includes(kind) ?? true) &&
      (jobs === undefined || (jobId !== null && jobs.includes(jobId))) &&
      maySee(actor, audience),
  );
}

function sizeOf({ events }: RingRecord): number {
  return events.reduce((sum, { text }) => sum + text.length, 0);
}

function maySee(actor: UserActor, audience: Audience): boolean {
  if (audience === 'all') return true;
  if (audience === 'admin') return hasRole(actor, 'admin');
  return audience.owner === actor.name || hasRole(actor, 'operator');
}
