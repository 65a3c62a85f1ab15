// Tools of drivers that an agent had started which is gone. Nobody reads what they say, and beside
// one that hangs no second may be started, whoever started the first.

import { environmentOf } from '../../../kernel/os/environment-of.ts';
import { listProcesses, readStat, type Seen, sendSignal } from '../../../kernel/os/process-list.ts';
import { readOrNull } from '../../owner/os/detector.ts';

const VARIABLE = 'WEFT_LOOK';

/**
 * Starts what follows it with a mark: by which a tool is known for one, which process it is, as
 * what it sets free has the mark, too, and its agent by the instant of its start. The pid stays the
 * same whatever program the tool becomes.
 */
const MARKED = `export ${VARIABLE}="$$:$0"; exec "$@"`;

export function markedTool(program: string, args: readonly string[]): readonly string[] {
  const mark = `${readStat(process.pid)?.startTicks ?? 0}:${program}`;
  return ['/bin/sh', '-c', MARKED, mark, program, ...args];
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
  const [, pid, ticks, program] =
    new RegExp(`(?:^|\0)${VARIABLE}=(\\d+):(\\d+):([^\0]*)`).exec(environment) ?? [];
  if (pid === undefined || ticks === undefined || program === undefined) return [];
  if (ownPidOf(seen.pid) !== pid) return [];
  return readStat(seen.parent)?.startTicks === Number(ticks) ? [] : [{ seen, program }];
}

/** The pid as the process itself knows it, in whichever namespace it is; null: it is gone. */
function ownPidOf(pid: number): string | null {
  const status = readOrNull(`/proc/${pid}/status`) ?? '';
  return /^NSpid:.*?(\d+)$/m.exec(status)?.[1] ?? null;
}

function isStill({ pid, startTicks }: Seen): boolean {
  const now = readStat(pid);
  return now?.startTicks === startTicks && now.isAlive;
}
