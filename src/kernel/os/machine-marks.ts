// What tells this machine from a copy of its disk, and since when it has been up.

import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync, statfsSync, statSync } from 'node:fs';
import { statFields } from './environment-of.ts';

const MACHINE_ID = '/etc/machine-id';
/** Readable by root only. */
const BOARD = '/sys/class/dmi/id/product_uuid';
/** The first table of processes: another one is of a container, which moves between boards. */
const FIRST_PIDS = 'pid:[4026531836]';
/** tmpfs, ramfs, overlayfs (statfs(2)): a machine id there may be made anew at each start. */
const PASSING = new Set([0x0102_1994, 0x8584_58f6, 0x794c_7630]);
/** The tick in which proc(5) counts: USER_HZ is 100. */
const TICK_MS = 10;

/** Hashes, absent where they would not last; `folder`: the agent's own. */
export function readMachineMarks(folder: string): { folder: string; id?: string; board?: string } {
  const { ino, birthtimeMs } = statSync(folder);
  const id = lasts(MACHINE_ID) ? hashOf(MACHINE_ID) : null;
  const board = isFirstTable() ? hashOf(BOARD) : null;
  return {
    folder: `${ino}/${Math.round(birthtimeMs)}`,
    ...(id === null ? {} : { id }),
    ...(board === null ? {} : { board }),
  };
}

/**
 * When this boot began, by CLOCK_MONOTONIC; in a container, when that was started. Later than true
 * where the machine has slept before: its first process is dated by a clock that goes on meanwhile.
 * Null: that process is hidden, in a container.
 */
export function bootBeganAt(): number | null {
  const ticks = statFields(1)?.[19];
  if (ticks !== undefined) return Number(ticks) * TICK_MS;
  return isFirstTable() ? 0 : null;
}

function isFirstTable(): boolean {
  return readlinkSync('/proc/self/ns/pid') === FIRST_PIDS;
}

function lasts(path: string): boolean {
  try {
    return !PASSING.has(statfsSync(path).type);
  } catch {
    return false; // There is no such file: nothing that would last.
  }
}

/** Machine ids are not told (machine-id(5)). Null: this user cannot read it, or it is empty. */
function hashOf(path: string): string | null {
  try {
    const text = readFileSync(path, 'utf8').trim();
    if (!/[1-9a-f]/i.test(text)) return null;
    return createHash('sha256').update(`weft machine ${text}`).digest('hex').slice(0, 16);
  } catch {
    return null; // Not readable by this user, or there is none.
  }
}
