// Records of every earlier release must load for ever; and what does not load is refused in words.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { RECORD_VERSION, type StepRecord } from '../../src/core/controller/events.ts';
import { exportState, importState, type SnapshotData } from '../../src/core/controller/snapshot.ts';
import { decodeEntry, encodeEntry, rebuild } from '../../src/head/journal.ts';
import { type Recovered, StoreFailure } from '../../src/ports/store.ts';
import { decodeRecords, encodeRecords } from '../../src/wire/codec.ts';
import { readExpected, readRecovered, throughJson, number } from './files.ts';

const HERE = import.meta.dirname;

const VERSIONS = readdirSync(HERE, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'wire')
  .map((entry) => entry.name);

for (const version of VERSIONS) {
  test(`the records of release ${version} load as they did then`, () => {
    const folder = join(HERE, version);
    const expected = readExpected(folder);
    const { state, seq } = rebuild(readRecovered(folder));
    assert.equal(seq, expected.seq);
    assert.partialDeepStrictEqual(throughJson(exportState(state)), expected.state);
  });

  test(`the state of release ${version} survives a snapshot of this one`, () => {
    const { state } = rebuild(readRecovered(join(HERE, version)));
    const before = exportState(state);
    const bytes = decodeRecords(encodeRecords(before));
    assert.ok(bytes.ok);
    const after = exportState(importState(bytes.value as SnapshotData));
    assert.deepEqual(throughJson(after), throughJson(before));
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
  const recovered: Recovered = { snapshot: null, snapshotSeq: 7, records, room: 'enough', loss: null };
  assert.equal(rebuild(recovered).seq, 9);
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
