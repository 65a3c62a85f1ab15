// Records of every earlier release must load for ever; and what does not load is refused in words.

import { HEAD_MACHINE } from '../../sim/head-machine.ts';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { RECORD_VERSION, type StepRecord } from '../../src/kernel/machine/events.ts';
import { exportState, importState, type SnapshotData } from '../../src/kernel/machine/snapshot.ts';
import { decodeEntry, encodeEntry, rebuild } from '../../src/kernel/head/journal.ts';
import { type Recovered, StoreFailure } from '../../src/kernel/ports/store.ts';
import { openSqliteStore } from '../../src/kernel/store/sqlite/open.ts';
import { decodeRecords, encodeRecords } from '../../src/kernel/wire/codec.ts';
import {
  type JournalRecord,
  number,
  readRecord,
  recordsOf,
  recoveredFrom,
  throughJson,
  VERSIONS,
} from './files.ts';

interface StoreRecord {
  readonly file: Uint8Array;
  readonly jobs: readonly unknown[];
  readonly tasks: readonly unknown[];
  readonly entries: readonly Uint8Array[];
}

for (const version of VERSIONS) {
  for (const name of recordsOf(version, 'journal-')) {
    test(`${name} of release ${version} loads as it did then`, () => {
      const record = readRecord<JournalRecord>(version, name);
      const { state, seq } = rebuild(HEAD_MACHINE, recoveredFrom(record));
      assert.equal(seq, record.seq);
      assert.partialDeepStrictEqual(throughJson(exportState(state)), record.state);
    });

    test(`the state of ${name} of release ${version} survives a snapshot of this one`, () => {
      const { state } = rebuild(HEAD_MACHINE, recoveredFrom(readRecord<JournalRecord>(version, name)));
      const before = exportState(state);
      const bytes = decodeRecords(encodeRecords(before));
      assert.ok(bytes.ok);
      const after = exportState(importState(HEAD_MACHINE, bytes.value as SnapshotData));
      assert.deepEqual(throughJson(after), throughJson(before));
    });
  }

  test(`a store of release ${version} is brought to this one with everything in it`, async () => {
    const record = readRecord<StoreRecord>(version, 'store');
    const directory = mkdtempSync(join(tmpdir(), 'weft-record-'));
    try {
      writeFileSync(join(directory, 'weft.db'), record.file);
      const store = await openSqliteStore({ directory });
      const { records } = await store.recover();
      const kept = Array.from(records, ({ bytes }) => Buffer.from(bytes));
      assert.deepEqual(kept, record.entries.map((bytes) => Buffer.from(bytes)));
      const jobs = throughJson(await store.jobs({ limit: 1000 }));
      assert.partialDeepStrictEqual(jobs, record.jobs);
      const tasks = throughJson(await store.tasks({ limit: 1000 }));
      assert.partialDeepStrictEqual(tasks, record.tasks);
      await store.close();
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
}

const STEPS: readonly StepRecord[] = [
  { v: RECORD_VERSION, at: 1_700_000_000_000, events: [{ kind: 'head_started' }] },
  { v: RECORD_VERSION, at: 1_700_000_000_001, events: [] },
];

test('[S4] an entry comes back as the steps it was made of', () => {
  assert.deepEqual(decodeEntry(1, encodeEntry(STEPS)), STEPS);
});

test('a journal of entries is read in order and numbered on from the snapshot', () => {
  const records = number([encodeEntry(STEPS), encodeEntry([])], 8);
  assert.deepEqual(records.map((record) => record.seq), [8, 9]);
  const recovered: Recovered = { snapshot: null, snapshotSeq: 7, records, room: 'enough', loss: null, isElsewhere: false };
  assert.equal(rebuild(HEAD_MACHINE, recovered).seq, 9);
});

test('an entry of a newer release is refused, with both versions', () => {
  const bytes = encodeRecords({ v: RECORD_VERSION + 1, steps: [] });
  assert.throws(() => decodeEntry(5, bytes), refusal('newer', RECORD_VERSION + 1));
});

test('bytes that are no entry are refused with the number of the entry', () => {
  assert.throws(() => decodeEntry(5, Uint8Array.of(0xc1)), refusal('corrupt', 5));
});

function refusal(reason: StoreFailure['reason'], named: number) {
  return (error: unknown) => {
    assert.ok(error instanceof StoreFailure);
    assert.equal(error.reason, reason);
    assert.match(error.message, new RegExp(`\\b${named}\\b`));
    return true;
  };
}
