// A worker of a pool, started by the agent as a task: takes calls of the head and has a process of
// its own run them.

import { NearMemory } from '../functions/near-memory.ts';
import { readSettings } from '../functions/supervisor/settings.ts';
import { WorkerSupervisor } from '../functions/supervisor/worker-supervisor.ts';
import { callDialer } from '../os/call-dialer.ts';
import { processes } from '../os/processes.ts';

const settings = readSettings(process.env);
if (!settings.ok) {
  process.stderr.write(`weft-worker: ${settings.error}\n`);
  process.exit(2);
}
const { pool, head, epochId, key } = settings.value;
const near = new NearMemory();
const dial = callDialer({
  head,
  path: `/v1/pools/${pool}/work`,
  authorization: `Worker ${epochId}:${key}`,
  headers: () => near.headers,
});
const supervisor = new WorkerSupervisor(settings.value, {
  dial,
  near,
  processes,
  env: process.env,
  tell: (line) => process.stderr.write(`weft-worker: ${line}\n`),
  onStderr: (chunk) => process.stderr.write(chunk),
  exit: (code) => process.exit(code),
});

// `weft kill --signal` is for functions that want it; only the end of the task is for both.
for (const name of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGALRM'] as const) {
  process.on(name, () => undefined);
}
process.once('SIGTERM', () => void supervisor.stop());
