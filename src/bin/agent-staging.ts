// The files of tasks on the nodes of one process: each node asks its own head, and all of them
// share a cache.

import { join } from 'node:path';
import { systemClock } from '../kernel/os/clock.ts';
import { diskSize } from '../kernel/os/detect.ts';
import { systemFiles } from '../kernel/os/files.ts';
import { urlOf } from '../kernel/os/head-stream.ts';
import type { Log } from '../kernel/ports/log.ts';
import type { Staging } from '../kernel/ports/staging.ts';
import { HeadLine } from '../kernel/staging/head-line.ts';
import { HeadStaging } from '../kernel/staging/head-staging.ts';
import { NodeCache } from '../kernel/staging/node-cache.ts';
import type { AgentOptions } from './agent-options.ts';

/** Share of the disk, where the site says nothing. */
const SHARE_OF_DISK = 0.1;

/** `first`: the node below whose state directory it lies, so that no other process has it. */
export function cacheOf(first: AgentOptions, of: { bootId: string; log: Log }): NodeCache {
  const { stateDir, cacheBytesMax } = first;
  return new NodeCache({
    directory: join(stateDir, 'cache'),
    clock: systemClock,
    ...of,
    bytesMax: cacheBytesMax ?? diskSize(stateDir) * SHARE_OF_DISK,
  });
}

export function stagingOf(options: AgentOptions, of: { cache: NodeCache; log: Log }): Staging {
  const { name, secret, head } = options;
  const address = () =>
    'socketPath' in head ? head : { url: urlOf(head), fingerprint: head.fingerprint };
  const line = new HeadLine({ address, name, secret, log: of.log });
  return new HeadStaging({ line, files: systemFiles, ...of });
}
