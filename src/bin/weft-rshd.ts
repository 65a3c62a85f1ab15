// The process of a task with `--mpi` on every node but its first: it waits for the steps of the
// task's other processes. The agent starts it, and ends it with the task.

import { readAllocation } from '../steps/allocation.ts';
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
try {
  const server = await serveSteps(allocation.value);
  process.once('SIGTERM', () => void server.stop().then(() => process.exit(0)));
} catch (error) {
  process.stderr.write(`weft-rshd: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
