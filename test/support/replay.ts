// Whether journal and snapshot bring the very same state back (S4): with every record through the
// bytes that a store would keep.

import assert from 'node:assert/strict';
import { HEAD_MACHINE } from '../../sim/head-machine.ts';
import { portraitOfIndexes } from '../../sim/portrait.ts';
import { decodeEntry, encodeEntry } from '../../src/kernel/head/journal.ts';
import { check } from '../../src/kernel/machine/check.ts';
import { replay } from '../../src/kernel/machine/controller.ts';
import type { StepRecord } from '../../src/kernel/machine/events.ts';
import { createState } from '../../src/kernel/machine/nouns.ts';
import { exportState, importState, type SnapshotData } from '../../src/kernel/machine/snapshot.ts';
import type { State } from '../../src/kernel/machine/state.ts';
import { decodeRecords, encodeRecords } from '../../src/kernel/wire/codec.ts';

/** All facts of a state, and the indexes that must follow from them. */
export function portrait(state: State): unknown {
  // Through bytes, so that nothing is shared with the live state.
  return { facts: viaBytes(exportState(state)), ...portraitOfIndexes(state) };
}

/** A snapshot as it comes back from the store. */
export function viaSnapshot(state: State): State {
  return importState(HEAD_MACHINE, viaBytes(exportState(state)) as SnapshotData);
}

/** Compares live with replayed, and with a snapshot of live. */
export function checkReplay(live: State, records: readonly StepRecord[]): void {
  const wanted = portrait(live);
  assert.deepEqual(portrait(viaSnapshot(live)), wanted, 'a snapshot brings the state back');
  const state = replayed(records);
  check(state);
  assert.deepEqual(portrait(state), wanted, 'the journal brings the state back');
}

/** The state that the records bring back, with a snapshot and a restart half-way. */
export function replayed(records: readonly StepRecord[]): State {
  let state = createState(HEAD_MACHINE);
  records.forEach((record, at) => {
    for (const step of decodeEntry(at, encodeEntry([record]))) replay(state, step);
    if (at === records.length >> 1) state = viaSnapshot(state);
  });
  return state;
}

function viaBytes(value: unknown): unknown {
  const decoded = decodeRecords(encodeRecords(value));
  assert.ok(decoded.ok);
  return decoded.value;
}
