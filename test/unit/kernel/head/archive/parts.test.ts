// Parts of tasks that are not done, on the disk.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { ArchivePlaces } from '../../../../../src/kernel/head/archive/archive-places.ts';
import { Parts, type StoredPart } from '../../../../../src/kernel/head/archive/parts.ts';

test('of two that write a part at once one is there, whole, and neither fails', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-parts-'));
  t.after(async () => {
    await parts.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const places = new ArchivePlaces(folder);
  mkdirSync(places.parts);
  const parts = new Parts(places);
  await parts.prepare();
  const name = { epochId: '1.0.1', shelf: { jobId: 1, index: 0, isArray: false }, nodeRank: 0 };
  const made = ['a', 'b'].map((sign) => {
    const common = { version: 1, epoch: 1, node: 'n', owner: 'alice', storedAt: 0 } as const;
    const jobName = sign.repeat(1_000_000);
    return { ...common, ...name, jobName, entries: [], leftOut: [] } as StoredPart;
  });
  const writing = made.map((part) => parts.write(part));
  parts.remove([made[0] as StoredPart]);
  await Promise.all([...writing, ...made.map((part) => parts.write(part))]);
  assert.deepEqual(parts.read(made[0] as StoredPart), made[1]);
  assert.deepEqual(readdirSync(places.parts), ['log']);
});
