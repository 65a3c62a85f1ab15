// How OAR is steered: its queues are off, so that jobs are taken and wait, and a program that knows
// its database starts one on the nodes that we name (docs/sites/oar.md).

import { ok } from '../../core/base/result.ts';
import type { Steering } from '../adaptor.ts';
import { failure } from './failure.ts';
import { QUEUES_COMMAND, readQueues } from './nodes.ts';

/** @param startProgram called as `PROGRAM JOB NODE:CORES[,NODE:CORES]…` */
export function queuesOff(startProgram: string, coresPerNode: number): Steering {
  return {
    ...{ takeover: 'disabled_scheduler', needsHandle: false },
    requirements: [
      {
        what: 'all queues are off',
        query: {
          command: QUEUES_COMMAND,
          read(output) {
            const queues = readQueues(output);
            return queues.ok ? ok(queues.value.every(({ isStarted }) => !isStarted)) : queues;
          },
        },
        remedy: 'oarnotify -D',
      },
    ],
    start: ({ id }, nodes) => [
      { argv: [startProgram, id, nodes.map((node) => `${node}:${coresPerNode}`).join(',')] },
    ],
    read: (output) => (output.code === 0 ? ok(null) : failure('oar-start', output)),
    // A start either has all it asks for or changes nothing.
    takeBack: () => [],
  };
}
