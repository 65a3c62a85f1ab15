// What a worker tells its router, over the line that there is at present: without one nothing is
// told, and what counts is told again on the next.

import type { Bytes, CallRef } from '../messages.ts';
import type { CallEntry } from './entries.ts';
import type { WorkerLine } from './worker-line.ts';

export class WorkerVoice {
  #line: WorkerLine | null = null;

  /** Null when the router is away. */
  get line(): WorkerLine | null {
    return this.#line;
  }

  /** An older line counts no more. */
  use(line: WorkerLine): void {
    this.close();
    this.#line = line;
  }

  close(): void {
    this.#line?.peer.close();
    this.#line?.end();
    this.#line = null;
  }

  /** The line is gone by itself. */
  lost(line: WorkerLine): void {
    if (this.#line !== line) return;
    line.end();
    this.#line = null;
  }

  tellStart(entry: CallEntry): void {
    const ref = refOf(entry);
    if (entry.isStartTold || ref === null || this.#line === null) return;
    entry.isStartTold = true;
    this.#line.peer.send({ kind: 'started', ...ref });
  }

  tellProgress(entry: CallEntry, bytes: Bytes): void {
    const ref = refOf(entry);
    if (ref === null || entry.verdict !== null) return;
    this.tellStart(entry);
    this.#line?.peer.send({ kind: 'progress', ...ref, bytes });
  }

  tellEnd(entry: CallEntry): void {
    const ref = refOf(entry);
    if (ref === null || entry.end === null) return;
    const end = entry.session.isOver ? ({ kind: 'cancelled' } as const) : entry.end;
    this.#line?.peer.send({ ...ref, ...end });
  }

  /** On a new line: what ended meanwhile, or may have got lost on the old one. */
  tellAgain(entry: CallEntry): void {
    if (entry.state === 'ended') this.tellEnd(entry);
    entry.isStartTold = false;
    if (entry.payload === null && entry.state === 'queued') this.#line?.wantPayload(entry);
  }

  /** These have not started, and go back. */
  tellReturned(calls: readonly CallRef[]): void {
    if (calls.length > 0) this.#line?.peer.send({ kind: 'returned', calls });
  }

  /** Nothing will run here any more. */
  tellQuit(): void {
    this.#line?.peer.send({ kind: 'returned', calls: [] });
  }
}

/** How they are named on the present line, those that can be. */
export function callRefs(entries: readonly CallEntry[]): CallRef[] {
  return entries.flatMap((entry) => {
    const ref = refOf(entry);
    return ref === null ? [] : [{ session: ref.session, call: ref.call }];
  });
}

/** How it is named on the present line; null when it cannot be. */
function refOf({ session, call, attempt, isDropped }: CallEntry) {
  const { number } = session;
  return number === null || isDropped ? null : { session: number, call, attempt };
}
