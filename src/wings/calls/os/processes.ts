// The processes of this machine, by /proc.

import { readdirSync } from 'node:fs';
import { environmentOf } from '../../../kernel/os/environment-of.ts';
import { readStat, type Seen, ticksNow } from '../../../kernel/os/launcher-fallback/members.ts';
import type { Processes } from '../ports/processes.ts';

export const processes: Processes = {
  list: () =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => readStat(Number(name)))
      .filter((seen): seen is Seen => seen?.isAlive === true && seen.pid !== process.pid),
  environmentOf,
  ticksNow,
  isStillThere: ({ pid, startTicks }) => readStat(pid)?.startTicks === startTicks,
  send: (pid, signal) => {
    try {
      return process.kill(pid, signal);
    } catch {
      return false;
    }
  },
};
