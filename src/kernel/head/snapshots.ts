// Snapshots of the state: when the next one is due, and how it is saved beside the commits. Without
// one a restart only reads more of the journal.

import { exportState, longLists, SNAPSHOT_VERSION } from '../machine/snapshot.ts';
import type { State } from '../machine/state.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import { encodeInSlices } from '../wire/codec.ts';

/** A snapshot is due after this many journal bytes: more would cost a restart over a second. */
const SNAPSHOT_BYTES_MIN = 16 * 1_048_576;

/** A quiet head saves one after this many, as a restart may come at any time. */
const QUIET_BYTES_MIN = 1_048_576;
/** Between two looks whether the head is quiet: nothing was written from the one to the other. */
const QUIET_LOOK_MS = 5000;

interface SnapshotsWorld {
  readonly store: Store;
  readonly log: Log;
  readonly clock: Pick<Clock, 'soon'>;
  /** Bytes of the journal that was read at the start. */
  readonly journalBytes?: number;
}

/** A snapshot that is becoming bytes. */
type Making = Generator<undefined, Uint8Array>;

export class Snapshots {
  readonly #world: SnapshotsWorld;
  #journalBytes = 0;
  #snapshotBytes = 0;
  /** Bytes of entries that earlier lives wrote: no reason to hold up work. */
  #readBytes: number;
  #lookedAtBytes = -1;
  #making: Making | null = null;

  constructor({ store, log, clock, journalBytes = 0 }: SnapshotsWorld) {
    this.#world = { store, log, clock };
    this.#readBytes = journalBytes;
  }

  /** Counts another entry. The cost of snapshots stays a fraction of the journal's own. */
  isDue(entryBytes: number): boolean {
    this.#journalBytes += entryBytes;
    if (this.#making !== null) return false;
    return this.#journalBytes >= Math.max(SNAPSHOT_BYTES_MIN, 4 * this.#snapshotBytes);
  }

  /** True when nothing was written since the last look, and a restart would read much. */
  isDueInQuiet(): boolean {
    const isQuiet = this.#journalBytes === this.#lookedAtBytes;
    this.#lookedAtBytes = this.#journalBytes;
    if (!isQuiet || this.#making !== null) return false;
    const bytes = this.#journalBytes + this.#readBytes;
    return bytes >= Math.max(QUIET_BYTES_MIN, this.#snapshotBytes / 4);
  }

  /** Takes the state as it is now. `save` is called once all of it is durable, or `giveUp`. */
  take(state: State): void {
    this.#journalBytes = 0;
    this.#readBytes = 0;
    this.#making = inSlices(state);
    // In this turn all becomes bytes that the state may go on to change.
    this.#making.next();
  }

  /** Saves what was taken, with `seq` as the last entry in it, in turns beside all other work. */
  save(seq: number): void {
    if (this.#making !== null) this.#goOn(this.#making, seq);
  }

  giveUp(): void {
    this.#making = null;
  }

  #goOn(making: Making, seq: number): void {
    if (this.#making !== making) return;
    const { done, value } = making.next();
    if (done !== true) return this.#world.clock.soon(() => this.#goOn(making, seq));
    this.#making = null;
    this.#snapshotBytes = value.length;
    this.#world.store.saveSnapshot(seq, value).catch((error: unknown) => {
      const words = 'no snapshot could be saved; the head tries again later';
      this.#world.log.warn({ error: String(error) }, words);
    });
  }

  /** At the stop: the next start has little to read. */
  async saveLast(seq: number, state: State): Promise<void> {
    this.giveUp();
    const making = inSlices(state);
    let step = making.next();
    while (step.done !== true) step = making.next();
    await this.#world.store.saveSnapshot(seq, step.value).catch((error: unknown) => {
      const words = 'no snapshot was saved at the stop; the next start reads more of the journal';
      this.#world.log.warn({ error: String(error) }, words);
    });
  }
}

/** Saves snapshots in quiet moments, and tells of each as it begins; returns what ends that. */
export function saveInQuiet(
  clock: Pick<Clock, 'after'>,
  engine: { saveSnapshotInQuiet(): boolean },
  onSaving: () => void,
): () => void {
  const look = (): void => {
    if (engine.saveSnapshotInQuiet()) onSaving();
    timer = clock.after(QUIET_LOOK_MS, look);
  };
  let timer = clock.after(QUIET_LOOK_MS, look);
  return () => timer.cancel();
}

function inSlices(state: State): Making {
  return encodeInSlices({ ...exportState(state), v: SNAPSHOT_VERSION }, longLists(state));
}
