// The launcher of an agent, which is a process of its own and outlives the agent.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine, parentOf } from './hosts.ts';

/**
 * The launcher's process id as this machine sees it; null when none runs. What it just starts has
 * its command line until the exec: that is its child.
 */
export function findLauncher(stateDir: string): number | null {
  const socket = join(stateDir, 'launcher.sock');
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found = pids.filter((pid) => commandLine(pid).split(' ').includes(socket));
  const own = found.find((pid) => !found.includes(parentOf(pid) ?? ''));
  return own === undefined ? null : Number(own);
}
