// A directory of its own for each test, gone afterwards; and stores that are closed before it goes.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Store } from '../../../../../src/kernel/ports/store.ts';
import { openSqliteStore } from '../../../../../src/kernel/store/sqlite/open.ts';

export function newDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'weft-store-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Closed when the test ends, if the test did not do it. */
export async function openStore(t: TestContext, directory: string): Promise<Store> {
  const store = await openSqliteStore({ directory });
  t.after(() => store.close());
  return store;
}
