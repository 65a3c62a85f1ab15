// Whose processes are at the other ends of connections to unix sockets of this program: what asks
// the launcher for it, where there is one that was compiled.

import { join } from 'node:path';
import type { UidsOf } from '../kernel/listeners/peer-owners.ts';
import { ensureLauncher, type LauncherProgram } from '../kernel/os/launcher-build.ts';
import { uidsByLauncher } from '../kernel/os/unix-peers.ts';
import { ownHome } from '../kernel/os/users.ts';
import type { Log } from '../kernel/ports/log.ts';

/** Not a state directory: all programs of a user on one machine share what was compiled. */
export function launcherFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(ownHome(), '.cache'), 'weft');
}

/** For a node, which has a launcher anyway. */
export function uidsByOwn({ kind, command }: LauncherProgram): UidsOf | undefined {
  return kind === 'c' ? uidsByLauncher(Promise.resolve(command)) : undefined;
}

/** For a head, which compiles one beside its work and is ready without it. */
export function uidsByCompiled(log: Log): UidsOf {
  const words = 'local users who flood the socket with connections cannot be told from others';
  const launcher = ensureLauncher(launcherFolder()).then(
    ({ kind, command, problems }) => {
      if (kind === 'c') return command;
      log.info({ problems }, words);
      return null;
    },
    (error: unknown) => {
      log.info({ error }, words);
      return null;
    },
  );
  return uidsByLauncher(launcher);
}
