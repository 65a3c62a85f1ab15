// What every store must do with journal and snapshot, run against SQLite and the one in memory.
// Questions about the history: store-history.test.ts.

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Store, StoreFailure } from '../../src/kernel/ports/store.ts';
import { SNAPSHOT_PART_BYTES, TRIM_RECORDS } from '../../src/kernel/store/sqlite/bounds.ts';
import { newDirectory, openStore } from '../unit/kernel/store/support/directory.ts';
import { FLAVOURS, type Open } from '../unit/kernel/store/support/flavours.ts';
import { bytesOf, commitOf, job } from '../unit/kernel/store/support/rows.ts';

for (const [flavour, make] of Object.entries(FLAVOURS)) {
  contract(flavour, make);
}

function contract(flavour: string, make: (t: TestContext) => Open): void {
  const promise = (title: string, body: (open: Open) => Promise<void>) => {
    test(`${title} (${flavour})`, (t) => body(make(t)));
  };

  promise('a new store is empty', async (open) => {
    const store = await open();
    assert.deepEqual(await contents(store), { snapshot: null, snapshotSeq: 0, records: [] });
    assert.equal(await store.probe(), 'enough');
  });

  promise('what was appended is read back in order, again and after a restart', async (open) => {
    const store = await open();
    await Promise.all([1, 2, 3, 4].map((seq) => store.append(commitOf(seq))));
    const expected = { snapshot: null, snapshotSeq: 0, records: [1, 2, 3, 4].map(recordOf) };
    assert.deepEqual(await contents(store), expected);
    assert.deepEqual(await contents(store), expected);
    await store.close();
    assert.deepEqual(await contents(await open()), expected);
  });

  promise('bytes may be reused once append has returned its promise', async (open) => {
    const store = await open();
    const pool = Buffer.from('....record one....');
    const appended = store.append({ ...commitOf(1), bytes: pool.subarray(4, 14) });
    pool.fill(0);
    await appended;
    assert.equal(pool.length, 18);
    const [record] = (await store.recover()).records;
    assert.equal(Buffer.from(record?.bytes ?? []).toString(), 'record one');
  });

  promise('empty and large records come back as they were', async (open) => {
    const store = await open();
    const large = bytesOf(2, 9_000_000);
    await store.append({ ...commitOf(1), bytes: new Uint8Array(0) });
    await store.append({ ...commitOf(2), bytes: large });
    const records = [...(await store.recover()).records];
    assert.deepEqual(
      records.map((record) => record.bytes.length),
      [0, large.length],
    );
    assert.deepEqual(records[1]?.bytes, new Uint8Array(large));
  });

  promise('a record that leaves a gap or repeats one is refused whole', async (open) => {
    const store = await open();
    await store.append(commitOf(1, [job(1)]));
    await assert.rejects(store.append(commitOf(3, [job(3)])), StoreFailure);
    await assert.rejects(store.append(commitOf(1, [job(9)])), StoreFailure);
    assert.deepEqual(
      (await store.jobs({ limit: 9 })).map((row) => row.jobId),
      [1],
    );
    await store.append(commitOf(2));
    assert.deepEqual((await contents(store)).records, [1, 2].map(recordOf));
  });

  promise('a snapshot replaces the records it contains', async (open) => {
    const store = await open();
    for (const seq of [1, 2, 3, 4, 5]) await store.append(commitOf(seq));
    await store.saveSnapshot(2, bytesOf(2, 100));
    await store.saveSnapshot(4, bytesOf(4, 100));
    const expected = { snapshot: text(bytesOf(4, 100)), snapshotSeq: 4, records: [recordOf(5)] };
    assert.deepEqual(await contents(store), expected);
    await store.append(commitOf(6));
    await store.close();
    const again = await open();
    assert.deepEqual(await contents(again), { ...expected, records: [5, 6].map(recordOf) });
  });

  promise('with all records in the snapshot, numbers go on from it', async (open) => {
    const store = await open();
    await store.append(commitOf(1));
    await store.saveSnapshot(1, bytesOf(1));
    await store.close();
    const again = await open();
    await assert.rejects(again.append(commitOf(1)), StoreFailure);
    await again.append(commitOf(2));
    assert.deepEqual((await contents(again)).records, [recordOf(2)]);
  });

  promise('a snapshot of the future or of before the last one is refused', async (open) => {
    const store = await open();
    for (const seq of [1, 2, 3]) await store.append(commitOf(seq));
    await store.saveSnapshot(2, bytesOf(2));
    await assert.rejects(store.saveSnapshot(4, bytesOf(4)), StoreFailure);
    await assert.rejects(store.saveSnapshot(1, bytesOf(1)), StoreFailure);
    assert.equal((await contents(store)).snapshotSeq, 2);
  });

  promise('a snapshot of several parts and a long journal are replaced whole', async (open) => {
    const store = await open();
    const count = TRIM_RECORDS + 10;
    const appends = Array.from({ length: count }, (_, index) => store.append(commitOf(index + 1)));
    await Promise.all(appends);
    for (const length of [0, SNAPSHOT_PART_BYTES, 2 * SNAPSHOT_PART_BYTES + 1]) {
      const saved = store.saveSnapshot(count - 1, new Uint8Array(length).fill(7));
      await Promise.all([saved, store.jobs({ limit: 1 })]);
      const { snapshot, records } = await store.recover();
      assert.deepEqual(snapshot, new Uint8Array(length).fill(7));
      assert.deepEqual(
        Array.from(records, (record) => record.seq),
        [count],
      );
    }
  });

  promise('commits go on while a snapshot is written', async (open) => {
    const store = await open();
    await store.append(commitOf(1));
    const saved = store.saveSnapshot(1, new Uint8Array(5 * SNAPSHOT_PART_BYTES));
    for (const seq of [2, 3, 4]) await store.append(commitOf(seq));
    await saved;
    assert.deepEqual((await contents(store)).records, [2, 3, 4].map(recordOf));
  });

  promise('close finishes what was asked before and refuses what comes after', async (open) => {
    const store = await open();
    const asked = [store.append(commitOf(1)), store.append(commitOf(2, [job(2)]))];
    const closed = store.close();
    await Promise.all([...asked, closed]);
    await assert.rejects(store.append(commitOf(3)), StoreFailure);
    await assert.rejects(store.jobs({ limit: 1 }), StoreFailure);
    await store.close();
    assert.deepEqual((await contents(await open())).records, [1, 2].map(recordOf));
  });
}

test('the file does not grow with the number of snapshots (sqlite)', async (t) => {
  const directory = newDirectory(t);
  const store = await openStore(t, directory);
  const sizes: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    const seqs = Array.from({ length: 50 }, (_, index) => round * 50 + index + 1);
    await Promise.all(seqs.map((seq) => store.append(commitOf(seq, [], 20_000))));
    await store.saveSnapshot(seqs.at(-1) ?? 0, new Uint8Array(2_000_000));
    sizes.push(statSync(join(directory, 'weft.db')).size);
  }
  // Two snapshots and one round of records at a time; pages that came free are used again.
  const [, , third = 0] = sizes;
  assert.ok((sizes.at(-1) ?? 0) <= third * 1.25, sizes.join(' '));
});

async function contents(store: Store) {
  const { snapshot, snapshotSeq, records } = await store.recover();
  return {
    snapshot: snapshot === null ? null : text(snapshot),
    snapshotSeq,
    records: Array.from(records, ({ seq, bytes }) => ({ seq, text: text(bytes) })),
  };
}

function recordOf(seq: number) {
  return { seq, text: text(bytesOf(seq)) };
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
