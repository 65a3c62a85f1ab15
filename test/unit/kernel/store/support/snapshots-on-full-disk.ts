// Run on a small file system of its own: a snapshot finds no room there, then records fill it.
// Prints what became of the reserve as one line of JSON for the test to judge.

import { statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreFailure } from '../../../../../src/kernel/ports/store.ts';
import { openSqliteStore } from '../../../../../src/kernel/store/sqlite/open.ts';
import { commitOf } from './rows.ts';

const MIB = 1_048_576;
const RECORD_BYTES = 500_000;
const top = process.argv[2] ?? '';
const directory = join(top, 'state');
const reserve = (): number => statSync(join(directory, 'weft.reserve')).size / MIB;

const store = await openSqliteStore({ directory });
await store.append(commitOf(1));
const made = reserve();
const { bavail, bsize } = statfsSync(top);
writeFileSync(join(top, 'ballast'), new Uint8Array(bavail * bsize - 8 * MIB));
const snapshot = await reasonOf(store.saveSnapshot(1, new Uint8Array(32 * MIB)));
const afterSnapshot = reserve();
let seq = 1;
let record: string | null = null;
while (record === null && seq < 1000) {
  record = await reasonOf(store.append(commitOf(seq + 1, [], RECORD_BYTES)));
  if (record === null) seq += 1;
}
const afterRecord = reserve();
const room = await store.probe();
await store.recover();
await store.append(commitOf(seq + 1));
await store.close();
console.log(JSON.stringify({ made, snapshot, afterSnapshot, record, afterRecord, room }));

async function reasonOf(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (failure) {
    if (failure instanceof StoreFailure) return failure.reason;
    throw failure;
  }
}
