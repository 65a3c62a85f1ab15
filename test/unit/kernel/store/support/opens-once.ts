// Opens a store in the given directory and prints `opened`, or the reason and words of the failure
// as JSON; with a second argument `hold` it stays open until it is killed.

import { writeSync } from 'node:fs';
import { StoreFailure } from '../../../../../src/kernel/ports/store.ts';
import { openSqliteStore } from '../../../../../src/kernel/store/sqlite/open.ts';

try {
  const store = await openSqliteStore({ directory: process.argv[2] ?? '' });
  writeSync(1, 'opened\n');
  if (process.argv[3] !== 'hold') await store.close();
} catch (failure) {
  if (!(failure instanceof StoreFailure)) throw failure;
  writeSync(1, `${JSON.stringify({ reason: failure.reason, message: failure.message })}\n`);
}
