// The process of a task with `--mpi` on every node but its first: it waits for the steps of the
// task's other processes. The agent starts it, and ends it with the task.

import { readAllocation } from '../steps/allocation.ts';
import { type OwnMemory, takeOwnMemory } from '../steps/own-memory.ts';
import { serveSteps } from '../steps/serve.ts';

// `weft kill --signal` is for the programs of the task, who get it as well.
for (const name of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGALRM'] as const) {
  process.on(name, () => undefined);
}

const allocation = readAllocation(process.env);
if (!allocation.ok) {
  process.stderr.write(`weft-rshd: ${allocation.error}\n`);
  process.exit(2);
}
const memory = ownMemory();
process.once('exit', () => memory?.remove());
try {
  const server = await serveSteps(allocation.value);
  process.once('SIGTERM', () => void server.stop().then(() => process.exit(0)));
} catch (error) {
  process.stderr.write(`weft-rshd: ${errorTextOf(error)}\n`);
  process.exit(1);
}

/** Null on a machine that has no such memory: its MPI has another place for it, and says so. */
function ownMemory(): OwnMemory | null {
  try {
    return takeOwnMemory(process.env);
  } catch (error) {
    process.stderr.write(`weft-rshd: no memory of its own for steps: ${errorTextOf(error)}\n`);
    return null;
  }
}

function errorTextOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
