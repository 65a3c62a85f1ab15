// Every implementation of the Store port, for the contract.

import type { TestContext } from 'node:test';
import { MemoryDisk, MemoryStore } from '../../../../../sim/memory-store.ts';
import type { Store } from '../../../../../src/kernel/ports/store.ts';
import { newDirectory, openStore } from './directory.ts';

/** Opens a store on the same disk each time it is called. */
export type Open = () => Promise<Store>;

/** By name; each makes a disk of its own for a test. */
export const FLAVOURS: Record<string, (t: TestContext) => Open> = {
  sqlite(t) {
    const directory = newDirectory(t);
    return () => openStore(t, directory);
  },
  memory() {
    const disk = new MemoryDisk();
    return async () => new MemoryStore({ disk });
  },
};
