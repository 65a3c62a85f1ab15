// The launcher of an agent, which is a process of its own and outlives the agent.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine } from './hosts.ts';

/** Its process id as this machine sees it; null when none runs. */
export function findLauncher(stateDir: string): number | null {
  const socket = join(stateDir, 'launcher.sock');
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).find((one) => commandLine(one).split(' ').includes(socket)) ?? null;
}
