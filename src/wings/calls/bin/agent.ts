// How workers of pools start on the nodes of an agents' program.

import { resolve } from 'node:path';
import type { AgentMaker } from '../../../kernel/wing.ts';
import { workersPart } from '../agent/part.ts';
import type { WorkerSettings } from '../agent/worker-container.ts';
import { workerElsewhere, workerProgram } from '../os/worker-program.ts';

export const workersOnNode: AgentMaker = ({ options: { stateDir, head } }) =>
  workersPart({
    program: workerProgram(resolve(stateDir)),
    elsewhere: workerElsewhere(),
    head: absolute(head),
  });

/** Workers run in directories of their own. */
function absolute(head: WorkerSettings['head']): WorkerSettings['head'] {
  return 'socketPath' in head ? { socketPath: resolve(head.socketPath) } : head;
}
