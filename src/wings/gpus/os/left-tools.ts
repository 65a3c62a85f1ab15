// Tools of drivers that an agent had started which is gone. Nobody reads what they say, and beside
// one that hangs no second may be started, whoever started the first.

import { environmentOf } from '../../../kernel/os/environment-of.ts';
import { listProcesses, readStat, type Seen, sendSignal } from '../../../kernel/os/process-list.ts';

const VARIABLE = 'WEFT_LOOK';

/** By which a tool is known for one, and its agent by the instant of its start. */
export function markOfTool(program: string): Readonly<Record<string, string>> {
  return { [VARIABLE]: `${readStat(process.pid)?.startTicks ?? 0}:${program}` };
}

export interface LeftTools {
  /** Whether one of this program is there that no signal has ended. */
  isThere(program: string): boolean;
}

interface Left {
  readonly seen: Seen;
  readonly program: string;
}

/** Ends them all; what hangs in the kernel stays. */
export function endLeftTools(): LeftTools {
  const all = listProcesses();
  // Each leads a session of its own.
  const left = all.filter(({ pid, session }) => pid === session).flatMap(leftTool);
  for (const { seen } of left) sendSignal(-seen.pid, 'SIGKILL');
  return {
    isThere: (program) => left.some((one) => one.program === program && isStill(one.seen)),
  };
}

/** The tool, unless it is a child of an agent that lives: its pid may differ where we look. */
function leftTool(seen: Seen): Left[] {
  const environment = environmentOf(seen.pid) ?? '';
  const [, ticks, program] =
    new RegExp(`(?:^|\0)${VARIABLE}=(\\d+):([^\0]*)`).exec(environment) ?? [];
  if (ticks === undefined || program === undefined) return [];
  return readStat(seen.parent)?.startTicks === Number(ticks) ? [] : [{ seen, program }];
}

function isStill({ pid, startTicks }: Seen): boolean {
  const now = readStat(pid);
  return now?.startTicks === startTicks && now.isAlive;
}
