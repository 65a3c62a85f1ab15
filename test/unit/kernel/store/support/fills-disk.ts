// Run on a small file system of its own: fills it, goes on writing until the store refuses, frees
// space and goes on. Prints what it saw as one line of JSON for the test to judge.

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Store, StoreFailure } from '../../../../../src/kernel/ports/store.ts';
import { openSqliteStore } from '../../../../../src/kernel/store/sqlite/open.ts';
import { commitOf, job } from './rows.ts';

const BALLAST_BYTES = 4_000_000;
const RECORD_BYTES = 20_000;
/** More than the file system holds; reached only if nothing is ever refused. */
const RECORDS_MAX = 2000;

const directory = join(process.argv[2] ?? '', 'state');
const ballast = join(process.argv[2] ?? '', 'ballast');
writeFileSync(ballast, new Uint8Array(BALLAST_BYTES));

const store = await openSqliteStore({ directory });
const acknowledged = await appendUntilRefused(store, 1);
const behind = await failureOf(store.append(commitOf(acknowledged.last + 2)));
const couldWriteFull = await store.probe();
const afterFailure = await seqsOf(store);

rmSync(ballast);
const couldWriteFreed = await store.probe();
const next = acknowledged.last + 1;
await store.append(commitOf(next, [job(next)]));
await store.close();

const again = await openSqliteStore({ directory });
const afterRestart = await seqsOf(again);
const jobs = await again.jobs({ limit: RECORDS_MAX });
await again.close();

console.log(
  JSON.stringify({
    last: acknowledged.last,
    reason: acknowledged.failure.reason,
    message: acknowledged.failure.message,
    behind: behind.reason,
    couldWriteFull,
    couldWriteFreed,
    afterFailure,
    afterRestart,
    jobs: jobs.map((row) => row.jobId).reverse(),
  }),
);

async function appendUntilRefused(
  into: Store,
  first: number,
): Promise<{ last: number; failure: StoreFailure }> {
  for (let seq = first; seq <= RECORDS_MAX; seq += 1) {
    try {
      await into.append(commitOf(seq, [job(seq)], RECORD_BYTES));
    } catch (failure) {
      if (failure instanceof StoreFailure) return { last: seq - 1, failure };
      throw failure;
    }
  }
  throw new Error('the file system never became full');
}

async function failureOf(promise: Promise<unknown>): Promise<StoreFailure> {
  try {
    await promise;
  } catch (failure) {
    if (failure instanceof StoreFailure) return failure;
    throw failure;
  }
  throw new Error('it was not refused');
}

async function seqsOf(from: Store): Promise<number[]> {
  return Array.from((await from.recover()).records, (record) => record.seq);
}
