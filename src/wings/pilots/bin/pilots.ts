// The head's keeper of pilots on real ports: Slurm and Grid Engine by their commands, run as
// whoever asked where the head is root, and otherwise as the head's own user.

import { fileURLToPath } from 'node:url';
import { encodeTicket } from '../../../kernel/cli/join-string.ts';
import type { Engine } from '../../../kernel/head/engine.ts';
import type { HttpSide } from '../../../kernel/head/http/server.ts';
import { systemChance } from '../../../kernel/os/chance.ts';
import { systemUsers } from '../../../kernel/os/users.ts';
import type { Clock } from '../../../kernel/ports/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { Adaptor } from '../../sites/adaptors/adaptor.ts';
import { sge } from '../../sites/adaptors/sge/sge.ts';
import { slurm } from '../../sites/adaptors/slurm/slurm.ts';
import { siteCommands } from '../../sites/bin/site-commands.ts';
import { PilotHost } from '../fabric/pilot-host.ts';
import { PilotKeeper } from '../head/keeper.ts';
import type { PilotWorld } from '../head/world.ts';

/** A batch system that hangs says nothing for 20 s. */
const TIMEOUT_MS = 30_000;
const TICK_MS = 100;

const WEFT = fileURLToPath(new URL('../../../../bin/weft.mjs', import.meta.url));

export function keepPilots(of: {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Log;
  readonly door: Pick<HttpSide, 'fingerprint' | 'joinAddresses'>;
}): { close(): Promise<void> } {
  const { engine, clock, log, door } = of;
  const hostOf = (adaptor: Adaptor): PilotHost => {
    // Where pilots run, node and Weft are under the same paths as here.
    const program = [process.execPath, WEFT];
    const commands = siteCommands(adaptor, []);
    return new PilotHost({ adaptor, commands, program, timeoutMs: TIMEOUT_MS });
  };
  const words = { oneSlotPerHost: [], ticket: 'ticket' };
  const keeper = new PilotKeeper({
    engine,
    clock,
    log,
    chance: systemChance,
    accountOf: accountOf(clock),
    hosts: {
      slurm: hostOf(slurm(null)),
      sge: hostOf(sge({ ...words, queue: 'all.q', environment: null }, null)),
    },
    ticketOf(token) {
      const { fingerprint } = door;
      const addresses = door.joinAddresses();
      if (fingerprint === null || addresses.length === 0) return null;
      return encodeTicket({ addresses, fingerprint, token });
    },
  });
  // Only while there are pilots to keep: an idle head should sleep.
  let timer: NodeJS.Timeout | null = null;
  const isNeeded = (): boolean => engine.state.fleets.size > 0;
  const stop = (): void => {
    if (timer !== null) clearInterval(timer);
    timer = null;
  };
  const tick = (): void => {
    keeper.tick();
    if (!isNeeded()) stop();
  };
  const begin = (): void => {
    if (isNeeded()) timer ??= setInterval(tick, TICK_MS);
  };
  begin();
  const unsubscribe = engine.onCommitted(begin);
  return {
    close() {
      unsubscribe();
      stop();
      return keeper.close();
    },
  };
}

function accountOf(clock: Clock): PilotWorld['accountOf'] {
  const users = systemUsers(() => clock.monotonic());
  const isRoot = process.getuid?.() === 0;
  return async (name) => {
    if (!isRoot) return { name: users.self().name, user: null };
    const account = users.cached(name) ?? (await users.find(name));
    if (account === null) return null;
    return { name: account.name, user: { uid: account.uid, gid: account.gid } };
  };
}
