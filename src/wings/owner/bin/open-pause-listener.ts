// The listener of an agent's node for the users of its machine, and the word of where it is.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentInside } from '../../../kernel/agent/part.ts';
import { Accounts } from '../../../kernel/head/auth/accounts.ts';
import { LocalLogin } from '../../../kernel/head/auth/local-login.ts';
import { systemChance } from '../../../kernel/os/chance.ts';
import { systemClock } from '../../../kernel/os/clock.ts';
import { systemCommands } from '../../../kernel/os/commands.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { HostedNode } from '../../../kernel/wing.ts';
import { announce } from '../agent/listener/announce.ts';
import {
  type Link,
  openPauseListener,
  type PauseListener,
} from '../agent/listener/pause-listener.ts';
import type { YieldWatch } from '../agent/yield-watch.ts';
import { atConsole } from '../os/console-users.ts';

/** Without one the node works all the same; only its owner cannot ask it. */
export async function openPauseListenerOf(
  { options, log, uidsOf }: Pick<HostedNode, 'options' | 'log' | 'uidsOf'>,
  { state, pausing, atSocket }: AgentInside,
  { watch, link }: { readonly watch: YieldWatch; readonly link: Link },
): Promise<PauseListener[]> {
  const { pause, name } = options;
  if (pause === undefined) return [];
  const uid = process.getuid?.() ?? 0;
  const directory = join(tmpdir(), `weft-agent-login-${uid}`);
  const accounts = new Accounts();
  try {
    const door = await openPauseListener(pause.door, {
      node: name,
      state,
      pausing,
      atSocket,
      watch,
      link,
      pauseMaxMs: pause.maxMs,
      clock: systemClock,
      log,
      uidsOf,
      rights: { owners: pause.owners, uid, isAtConsole: atConsole(systemCommands) },
      proofs: new LocalLogin({ directory, chance: systemChance, accounts, whose: 'agent' }),
    });
    return pause.isAnnounced ? [door, ...(await announced(pause.door, log))] : [door];
  } catch (error) {
    log.warn({ error, path: pause.door }, 'no `weft pause` on this machine: no socket for it');
    return [];
  }
}

/** Without it the listener is found by whoever names the directory. */
async function announced(door: string, log: Log): Promise<PauseListener[]> {
  try {
    const made = await announce(door);
    if (made !== null) return [made];
    log.info({ path: door }, 'its path is long: `weft pause` needs --dir to find it');
  } catch (error) {
    log.warn({ error, path: door }, '`weft pause` needs --dir to find this node');
  }
  return [];
}
