// What a worker keeps: the calls of each session until nobody asks for them, their large results,
// and which sessions are over.

import { CALL_OVER_MAX } from '../../../../kernel/model/limits.ts';
import { CallTable } from '../call-table.ts';
import type { Held } from '../messages.ts';
import { letGo, type PassedValue } from '../near.ts';
import type { CallEntry, WorkerSessionEntry } from './entries.ts';

export class ResultStore {
  readonly #sessions = new Map<string, WorkerSessionEntry>();
  /** The latest last. */
  readonly #over = new Set<string>();
  #count = 0;
  #heldBytes = 0;

  /** Calls that are here in any state. */
  get count(): number {
    return this.#count;
  }

  /** Size of the large results that are kept. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  get sessions(): Iterable<WorkerSessionEntry> {
    return this.#sessions.values();
  }

  /** Ids of sessions that ended here. */
  get over(): string[] {
    return [...this.#over];
  }

  sessionOf(id: string): WorkerSessionEntry | undefined {
    return this.#sessions.get(id);
  }

  /** The session of this id, with its number on the present line; a new one when it was over. */
  open(id: string, number: number): WorkerSessionEntry {
    const known = this.#sessions.get(id);
    const session =
      known === undefined || known.isOver
        ? { id, number, calls: new CallTable<CallEntry>(), isOver: false }
        : known;
    this.#sessions.set(id, session);
    session.number = number;
    return session;
  }

  /** On a new line: sessions have no numbers yet. Answers what is held. */
  newLine(): Held[] {
    const held: Held[] = [];
    for (const session of this.#sessions.values()) {
      session.number = null;
      for (const entry of session.calls.values()) if (!session.isOver) held.push(heldOf(entry));
    }
    return held;
  }

  add(entry: CallEntry): void {
    const { calls } = entry.session;
    const older = calls.get(entry.call);
    if (older !== undefined) this.forget(older);
    calls.set(entry.call, entry);
    this.#count += 1;
  }

  keepResult(entry: CallEntry, result: PassedValue): void {
    entry.result = result;
    this.#heldBytes += result.length;
  }

  freeResult(entry: CallEntry): void {
    this.#heldBytes -= entry.result?.length ?? 0;
    letGo(entry.result);
    entry.result = null;
  }

  /** Nobody asks for it any more; if it still runs, its end is told to nobody. */
  forget(entry: CallEntry): void {
    if (entry.isDropped) return;
    entry.isDropped = true;
    this.freeResult(entry);
    this.#count -= 1;
    const { calls } = entry.session;
    if (calls.get(entry.call) === entry) calls.delete(entry.call);
    this.drop(entry.session);
  }

  /** Removes a session that is over and has nothing left. */
  drop(session: WorkerSessionEntry): void {
    const { id, calls, isOver } = session;
    // Its client may have come back meanwhile: then another one has its id.
    if (calls.size === 0 && isOver && this.#sessions.get(id) === session) this.#sessions.delete(id);
  }

  /** A session is over; one that is not here as well. */
  remember(id: string): void {
    this.#over.delete(id);
    this.#over.add(id);
    for (const oldest of this.#over) {
      if (this.#over.size <= CALL_OVER_MAX) break;
      this.#over.delete(oldest);
    }
  }
}

function heldOf({ session, call, attempt, state }: CallEntry): Held {
  const told = state === 'handed' ? 'queued' : state;
  return { session: session.id, call, attempt, state: told };
}
