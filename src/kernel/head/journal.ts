// The journal's entries: one per group commit, holding the records of its steps. And the way back
// from snapshot and entries to a State.

import { replay } from '../machine/controller.ts';
import { RECORD_VERSION, type StepRecord } from '../machine/events.ts';
import type { Machine } from '../machine/machine.ts';
import { createState } from '../machine/nouns.ts';
import { importState, SNAPSHOT_VERSION, type SnapshotData } from '../machine/snapshot.ts';
import type { State } from '../machine/state.ts';
import { type Recovered, StoreFailure } from '../ports/store.ts';
import { decodeRecords, encodeRecords } from '../wire/codec.ts';

interface JournalEntry {
  readonly v: number;
  readonly steps: readonly StepRecord[];
}

export function encodeEntry(steps: readonly StepRecord[]): Uint8Array {
  return encodeRecords({ v: RECORD_VERSION, steps } satisfies JournalEntry);
}

/** Reads one entry; throws `StoreFailure` on bytes that no version of this program wrote. */
export function decodeEntry(seq: number, bytes: Uint8Array): readonly StepRecord[] {
  const entry = decodeRecords(bytes);
  if (!entry.ok) throw new StoreFailure('corrupt', `journal entry ${seq}: ${entry.error}`);
  if (!isEntry(entry.value)) throw new StoreFailure('corrupt', `journal entry ${seq} is no entry`);
  const { v, steps } = entry.value;
  if (v > RECORD_VERSION) {
    const words = `journal entry ${seq} has version ${v}, this program reads up to ${RECORD_VERSION}; install the newer release again.`;
    throw new StoreFailure('newer', words);
  }
  return steps;
}

function isEntry(value: unknown): value is JournalEntry {
  if (typeof value !== 'object' || value === null) return false;
  const { v, steps } = value as Partial<JournalEntry>;
  return typeof v === 'number' && Array.isArray(steps);
}

/** The state as of the last durable entry, that entry's number, and bytes of all that were read. */
export function rebuild(
  machine: Machine,
  recovered: Omit<Recovered, 'loss' | 'isElsewhere' | 'room'>,
): {
  state: State;
  seq: number;
  journalBytes: number;
} {
  let journalBytes = 0;
  let seq = recovered.snapshotSeq;
  const { snapshot } = recovered;
  const state =
    snapshot === null
      ? createState(machine)
      : usable('the snapshot', () => readSnapshot(machine, snapshot));
  for (const record of recovered.records) {
    const steps = decodeEntry(record.seq, record.bytes);
    usable(`journal entry ${record.seq}`, () => {
      for (const step of steps) replay(state, step);
    });
    seq = record.seq;
    journalBytes += record.bytes.length;
  }
  return { state, seq, journalBytes };
}

function readSnapshot(machine: Machine, bytes: Uint8Array): State {
  const data = decodeRecords(bytes);
  if (!data.ok) throw new StoreFailure('corrupt', `the snapshot: ${data.error}`);
  const { v } = data.value as SnapshotData;
  if (v > SNAPSHOT_VERSION) {
    const words = `the snapshot has version ${v}, this program reads up to ${SNAPSHOT_VERSION}; install the newer release again.`;
    throw new StoreFailure('newer', words);
  }
  return importState(machine, data.value as SnapshotData);
}

/** What has the right checksum and does not fit was damaged before it was written, or is a bug. */
function usable<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof StoreFailure) throw error;
    const cause = error instanceof Error ? error.message : String(error);
    const words = `${what} is intact, but cannot be used: ${cause}. Keep the state directory; restore a copy, or install the release that wrote it`;
    throw new StoreFailure('corrupt', words, error);
  }
}
