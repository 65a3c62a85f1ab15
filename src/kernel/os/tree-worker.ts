// The thread that removes directories: tree-thread.ts asks.

import { parentPort } from 'node:worker_threads';
import { present } from '../base/assert.ts';
import { removeTree } from './remove-tree.ts';
import type { Removal, Removed } from './tree-thread.ts';

const port = present(parentPort, 'the parent of the thread that removes');

port.on('message', ({ id, path }: Removal) => {
  removeTree(path).then(
    () => port.postMessage({ id, problem: null } satisfies Removed),
    (error: unknown) =>
      port.postMessage({ id, problem: (error as Error).message } satisfies Removed),
  );
});
