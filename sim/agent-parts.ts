// What wings do in simulated agents: everything but what looks at a real machine.

import type { AgentPart } from '../src/kernel/agent/part.ts';
import { batchesPart } from '../src/wings/batches/agent/part.ts';
import { workersPart } from '../src/wings/calls/agent/part.ts';
import { mpiPart } from '../src/wings/mpi/agent/part.ts';

/** `server`: what waits for steps of tasks with `--mpi`. */
export function agentParts(server: readonly string[]): AgentPart[] {
  return [
    batchesPart(),
    workersPart({
      program: '/bin/weft-worker',
      elsewhere: { argv: ['/weft/worker.cjs'], folder: '/weft' },
      head: { socketPath: '/head.sock' },
    }),
    mpiPart({ server, client: '/bin/weft-rsh' }),
  ];
}
