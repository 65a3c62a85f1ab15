// The processes of this machine, by /proc.

import { environmentOf } from '../../../kernel/os/environment-of.ts';
import { listProcesses, readStat, sendSignal, ticksNow } from '../../../kernel/os/process-list.ts';
import type { Processes } from '../ports/processes.ts';

export const processes: Processes = {
  list: () => listProcesses().filter(({ isAlive }) => isAlive),
  environmentOf,
  ticksNow,
  isStillThere: ({ pid, startTicks }) => readStat(pid)?.startTicks === startTicks,
  send: sendSignal,
};
