// S4: replay equals live. The state rebuilt from the disk, with the steps that are not yet durable
// on top, is the state in memory; and a snapshot of it comes back as it was. What follows from the
// facts is the same whether it was kept step by step or built from them.

import { isDeepStrictEqual } from 'node:util';
import { rebuild } from '../../src/kernel/head/journal.ts';
import { replay } from '../../src/kernel/machine/controller.ts';
import type { StepRecord } from '../../src/kernel/machine/events.ts';
import {
  exportState,
  importState,
  longLists,
  type SnapshotData,
} from '../../src/kernel/machine/snapshot.ts';
import type { State } from '../../src/kernel/machine/state.ts';
import { decodeRecords, encodeRecords } from '../../src/kernel/wire/codec.ts';
import { HEAD_MACHINE } from '../head-machine.ts';
import type { MemoryDisk } from '../memory-store.ts';
import { portraitOfIndexes } from '../portrait.ts';
import { Violation } from '../violation.ts';

export function checkReplay(live: State, disk: MemoryDisk, pending: readonly StepRecord[]): void {
  const { snapshot, journal } = disk;
  const { state } = rebuild(HEAD_MACHINE, {
    snapshot: snapshot?.bytes ?? null,
    snapshotSeq: snapshot?.seq ?? 0,
    records: journal,
  });
  for (const step of pending) replay(state, copyOf(step));
  const wanted = encodeRecords(exportState(live));
  const loaded = importState(HEAD_MACHINE, decoded(wanted) as SnapshotData);
  compareBytes(wanted, encodeRecords(exportState(state)), 'the replayed state');
  compareBytes(wanted, encodeRecords(exportState(loaded)), 'the state from a snapshot');
  const indexes = portraitOfIndexes(live);
  compare(indexes, portraitOfIndexes(state), 'the index of the replayed state');
  compare(indexes, portraitOfIndexes(loaded), 'the index of the state from a snapshot');
}

/** Lists of a snapshot, and the bytes that they were when they were taken. */
interface Taken {
  readonly lists: readonly unknown[];
  readonly bytes: Uint8Array;
}

/** What a snapshot would have taken of a state when it was last looked at. */
const TAKEN = new WeakMap<State, Taken>();

/**
 * Long lists become bytes turns after they were taken: nothing of them may have changed by then.
 */
export function checkTaken(live: State): void {
  const taken = TAKEN.get(live);
  if (taken !== undefined) compareTaken(taken);
  const data = new Map(Object.entries(exportState(live)));
  const lists = [...longLists(live).keys()].map((name) => data.get(name));
  TAKEN.set(live, { lists, bytes: encodeRecords(lists) });
}

function compareTaken({ lists, bytes }: Taken): void {
  compareBytes(bytes, encodeRecords(lists), 'a snapshot taken before');
}

/** Values are read from the bytes only where these differ: that costs more than all else here. */
function compareBytes(live: Uint8Array, other: Uint8Array, what: string): void {
  if (Buffer.compare(live, other) !== 0) compare(decoded(live), decoded(other), what);
}

/** A copy such as bytes would bring back: nothing is shared with the live state. */
function copyOf<T>(value: T): T {
  return decoded(encodeRecords(value)) as T;
}

function decoded(bytes: Uint8Array): unknown {
  const value = decodeRecords(bytes);
  if (!value.ok) throw new Error(value.error);
  return value.value;
}

function compare(live: unknown, other: unknown, what: string): void {
  if (isDeepStrictEqual(live, other)) return;
  throw new Violation('S4', `${what} differs from memory at ${firstDifference(live, other, '')}`);
}

function firstDifference(a: unknown, b: unknown, path: string): string {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    return `${path}: ${JSON.stringify(a)} in memory, ${JSON.stringify(b)} otherwise`;
  }
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    if (!isDeepStrictEqual(left[key], right[key])) {
      return firstDifference(left[key], right[key], `${path}/${key}`);
    }
  }
  return `${path}: the order of its keys`;
}
