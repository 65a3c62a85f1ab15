// A child process that appends for ever, several at a time, with a snapshot now and then, and
// prints `acknowledged N` for each record that the store said is durable.

import { writeSync } from 'node:fs';
import { openSqliteStore } from '../../../../../src/kernel/store/sqlite/open.ts';
import { bytesOf, commitOf, job, task } from './rows.ts';

const IN_FLIGHT = 20;
const SNAPSHOT_EVERY = 100;

const directory = process.argv[2] ?? '';
const store = await openSqliteStore({ directory });
await store.recover();
writeSync(1, 'opened\n');

for (let first = 1; ; first += IN_FLIGHT) {
  const group = Array.from({ length: IN_FLIGHT }, async (_, index) => {
    const seq = first + index;
    await store.append(commitOf(seq, [job(seq), task(seq)]));
    // Synchronous: what was read from the pipe was really acknowledged before the kill.
    writeSync(1, `acknowledged ${seq}\n`);
  });
  await Promise.all(group);
  const last = first + IN_FLIGHT - 1;
  // Not waited for, so that kills come in the middle of it as well.
  if (last % SNAPSHOT_EVERY === 0) store.saveSnapshot(last, bytesOf(last, 3_000_000));
}
