// The processes of this machine, each either of some node's tasks or another's: what its launcher
// has started is, by descent, cgroup or mark, and with it what that has started.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { statFields } from '../../../kernel/os/environment-of.ts';
import { namesIn, readOrNull } from './detector.ts';

export interface OneProcess {
  readonly pid: number;
  readonly parent: number;
  /** Device of its terminal; 0: none. */
  readonly terminal: number;
  readonly startTicks: string;
  /** Ticks of itself and of those of its children that it has waited for. */
  readonly cpuTicks: number;
  readonly isOurs: boolean;
}

/** Cgroups of agents are named after the first letters of a random UUID. */
const GROUP = /\/weft-[0-9a-f]{8}-[0-9a-f]{4}(\/|$)/m;
/** With which `weft up` starts them; nobody else has a reason to set it. */
const DAEMON_FLAG = '--heap-growing-percent=50';
const DAEMON = /(^|\/)(head|agent)\.[cm]?[jt]s$/;
const MARK = '\0WEFT_LAUNCH=';
/** Pid of kthreadd, whose children are all the kernel's own. */
const KERNEL = 2;

/** What a process is does not change: it is found out once. */
export class ProcessTable {
  #known = new Map<string, boolean>();

  /** All but the kernel's own, by pid. */
  read(): Map<number, OneProcess> {
    const found = new Map<number, Omit<OneProcess, 'isOurs'>>();
    for (const name of namesIn('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      const one = statOf(Number(name));
      if (one !== null && one.pid !== KERNEL && one.parent !== KERNEL) found.set(one.pid, one);
    }
    const before = this.#known;
    this.#known = new Map();
    const all = new Map<number, OneProcess>();
    for (const one of found.values()) {
      all.set(one.pid, { ...one, isOurs: this.#isOurs(one, found, before) });
    }
    return all;
  }

  #isOurs(
    one: Omit<OneProcess, 'isOurs'>,
    all: ReadonlyMap<number, Omit<OneProcess, 'isOurs'>>,
    before: ReadonlyMap<string, boolean>,
  ): boolean {
    const key = `${one.pid}@${one.startTicks}`;
    const known = this.#known.get(key) ?? before.get(key);
    if (known !== undefined) {
      this.#known.set(key, known);
      return known;
    }
    // Until it is decided, so that no circle of wrong answers goes on for ever.
    this.#known.set(key, false);
    const parent = all.get(one.parent);
    const isOurs =
      one.pid === process.pid ||
      (parent !== undefined && this.#isOurs(parent, all, before)) ||
      isTask(one.pid) ||
      isDaemon((readOrNull(`/proc/${one.pid}/cmdline`) ?? '').split('\0'));
    this.#known.set(key, isOurs);
    return isOurs;
  }
}

function isTask(pid: number): boolean {
  if (GROUP.test(readOrNull(`/proc/${pid}/cgroup`) ?? '')) return true;
  return `\0${readOrNull(`/proc/${pid}/environ`) ?? ''}`.includes(MARK);
}

/**
 * Whether this starts one of our own daemons: what a busy head uses is no use of the machine, and a
 * launcher outlives the agent that started it.
 */
export function isDaemon(argv: readonly string[]): boolean {
  if (argv.includes(DAEMON_FLAG)) return argv.some((word) => DAEMON.test(word));
  const socket = argv[argv.indexOf('--socket') + 1] ?? '';
  return argv.includes('--socket') && path.basename(socket) === 'launcher.sock';
}

function statOf(pid: number): Omit<OneProcess, 'isOurs'> | null {
  const fields = statFields(pid);
  if (fields === null) return null;
  const field = (number: number): number => Number(fields[number - 3] ?? 0);
  return {
    pid,
    parent: field(4),
    terminal: field(7),
    startTicks: fields[19] ?? '',
    cpuTicks: field(14) + field(15) + field(16) + field(17),
  };
}

/** Why not all processes can be seen; null: they can. */
export function whyHidden(): string | null {
  try {
    readFileSync('/proc/1/stat');
    return null;
  } catch {
    return 'processes of other users are hidden here (hidepid of /proc)';
  }
}
