// The last committed records in memory, for those who follow along and come back after a cut. Who
// may see an event is decided when it comes: later its job may be gone.

import type { Event } from '../../core/controller/events.ts';
import type { State } from '../../core/controller/state.ts';
import { hasRole, type UserActor } from '../../core/model/actor.ts';
import { jobIdOf } from './event-subject.ts';
import { shownEvent } from './shown-event.ts';

/** Ten seconds of a busy head, an hour of a quiet one. */
const RECORDS_MAX = 10_000;

/** Who may see an event: everybody, the owner of a job, or admins. */
type Audience = { readonly owner: string } | 'all' | 'admin';

export interface RingRecord {
  readonly seq: number;
  readonly at: number;
  readonly events: readonly Event[];
  readonly audiences: readonly Audience[];
}

export class EventRing {
  /** Circular: record `seq` stands at `seq % RECORDS_MAX`. */
  readonly #records: (RingRecord | undefined)[] = [];
  #oldest: number;
  #newest: number;
  readonly #readers = new Set<() => void>();

  /** `seq`: of the last record committed before this ring listens. */
  constructor(seq: number) {
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

  add(record: Pick<RingRecord, 'seq' | 'at' | 'events'>, state: State): void {
    const audiences = record.events.map((event) => audienceOf(event, state));
    // Numbers jump when the head had to read its store again; what is older is then gone.
    if (record.seq !== this.#newest + 1) this.#oldest = record.seq;
    this.#newest = record.seq;
    this.#oldest = Math.max(this.#oldest, record.seq - RECORDS_MAX + 1);
    this.#records[record.seq % RECORDS_MAX] = { ...record, audiences };
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
}

/** The events of a record that the user may see, without what is nobody's business. */
export function visibleEvents(record: RingRecord, actor: UserActor): { kind: string }[] {
  return record.events
    .filter((_, at) => maySee(actor, record.audiences[at] ?? 'admin'))
    .map((event) => shownEvent(event));
}

function maySee(actor: UserActor, audience: Audience): boolean {
  if (audience === 'all') return true;
  if (audience === 'admin') return hasRole(actor, 'admin');
  return audience.owner === actor.name || hasRole(actor, 'operator');
}

function audienceOf(event: Event, state: State): Audience {
  const jobId = jobIdOf(event);
  if (jobId === null) return isNodeEvent(event) || event.kind === 'head_started' ? 'all' : 'admin';
  if (event.kind === 'job_submitted') return { owner: event.owner };
  const owner = state.jobs.get(jobId)?.owner;
  return owner === undefined ? 'admin' : { owner };
}

function isNodeEvent(event: Event): boolean {
  return event.kind.startsWith('node_');
}
