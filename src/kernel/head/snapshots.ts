// Snapshots of the state: when the next one is due, and how it is saved beside the commits. Without
// one a restart only reads more of the journal.

import { exportState } from '../machine/snapshot.ts';
import type { State } from '../machine/state.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import { encodeRecords } from '../wire/codec.ts';

/** A snapshot is due after this many journal bytes: more would cost a restart over a second. */
const SNAPSHOT_BYTES_MIN = 16 * 1_048_576;

export class Snapshots {
  readonly #store: Store;
  readonly #log: Log;
  #journalBytes = 0;
  #snapshotBytes = 0;

  constructor({ store, log }: { readonly store: Store; readonly log: Log }) {
    this.#store = store;
    this.#log = log;
  }

  /** Counts another entry. The cost of snapshots stays a fraction of the journal's own. */
  isDue(entryBytes: number): boolean {
    this.#journalBytes += entryBytes;
    return this.#journalBytes >= Math.max(SNAPSHOT_BYTES_MIN, 4 * this.#snapshotBytes);
  }

  /** The state as it is now; to be saved once all of it is durable. */
  make(state: State): Uint8Array {
    const bytes = encodeRecords(exportState(state));
    this.#journalBytes = 0;
    this.#snapshotBytes = bytes.length;
    return bytes;
  }

  save(seq: number, bytes: Uint8Array): void {
    this.#store.saveSnapshot(seq, bytes).catch((error: unknown) => {
      const words = 'no snapshot could be saved; the head tries again later';
      this.#log.warn({ error: String(error) }, words);
    });
  }

  /** At the stop: the next start has little to read. */
  async saveLast(seq: number, state: State): Promise<void> {
    await this.#store.saveSnapshot(seq, this.make(state)).catch((error: unknown) => {
      const words = 'no snapshot was saved at the stop; the next start reads more of the journal';
      this.#log.warn({ error: String(error) }, words);
    });
  }
}
