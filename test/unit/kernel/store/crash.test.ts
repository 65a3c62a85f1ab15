// kill -9 in the middle of appends and snapshots: what was acknowledged is there, without a gap.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killHard, scriptPath, startUntil } from './support/child.ts';
import { newDirectory, openStore } from './support/directory.ts';
import { bytesOf, commitOf } from './support/rows.ts';

// Different moments: in the first commits, around the first snapshot, and after several.
for (const killAfter of [1, 99, 205, 640]) {
  test(`[S1] a kill -9 after record ${killAfter} loses no acknowledged record`, async (t) => {
    const directory = newDirectory(t);
    const args = [scriptPath('./appender.ts'), directory];
    const wanted = `acknowledged ${killAfter}`;
    const { child, lines } = await startUntil(args, (line) => line === wanted);
    await killHard(child);
    const acknowledged = lines
      .filter((line) => line.startsWith('acknowledged '))
      .map((line) => Number(line.slice('acknowledged '.length)));
    const newest = Math.max(...acknowledged);

    const store = await openStore(t, directory);
    const recovered = await store.recover();
    let seq = recovered.snapshotSeq;
    if (recovered.snapshot !== null) {
      assert.deepEqual(Buffer.from(recovered.snapshot), bytesOf(seq, 3_000_000));
    }
    for (const record of recovered.records) {
      seq += 1;
      assert.equal(record.seq, seq);
      assert.deepEqual(Buffer.from(record.bytes), bytesOf(seq));
    }
    assert.ok(seq >= newest, `record ${newest} was acknowledged, ${seq} is the last there`);

    // The history was committed with its records: neither lags behind nor runs ahead.
    assert.equal((await store.jobs({ limit: seq + 1000 })).length, seq);
    assert.equal((await store.tasks({ limit: seq + 1000 })).length, seq);
    await store.append(commitOf(seq + 1));
  });
}
