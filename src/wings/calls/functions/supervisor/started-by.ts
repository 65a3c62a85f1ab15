// What a call has started and its process left behind when it died with the call: ended as well. A
// call that returned may leave something running; that has the mark of another call.

import { randomUUID } from 'node:crypto';
import type { Processes, SeenProcess as Seen } from '../../ports/processes.ts';
import { CALL_VARIABLE, callMark, NO_CALL } from '../child/stdio.ts';

/** What is started while others are ended is ended in the next round. */
const ROUNDS_MAX = 64;
const TICK_MS = 10;

type Mark = 'of the call' | 'of the process' | 'of others' | 'none' | 'not known yet';

/** Start ticks from which on a process may be the call's. */
interface Bounds {
  /** With its mark: marks come again, after many calls. */
  readonly given: number;
  /** Without one: then no earlier call ran for certain, and what that one left must go on. */
  readonly alone: number;
}

export class StartedBy {
  /** Value of the variable before the first call. A copy that tells no call has it: a fork in C. */
  readonly mark = `${randomUUID()}.${NO_CALL}`;
  readonly #processes: Processes;
  readonly #launch: string | undefined;
  /** When each call was given to the process, by run. */
  readonly #given = new Map<number, number>();
  #running: number | null = null;
  /** When the last call ended: several are given to the process before they begin. */
  #freeSince: number | null = null;
  #kin: readonly Seen[] = [];

  /** `launch`: WEFT_LAUNCH of this worker; what its calls submit as jobs has another. */
  constructor(processes: Processes, launch: string | undefined) {
    this.#processes = processes;
    this.#launch = launch;
  }

  given(run: number): void {
    this.#given.set(run, performance.now());
  }

  starting(run: number): void {
    this.#running = run;
  }

  over(run: number): void {
    this.#given.delete(run);
    if (this.#running !== run) return;
    this.#running = null;
    this.#freeSince = performance.now();
  }

  /**
   * Before the process is killed: those below it have lost their mark when they were given an
   * environment of their own, and afterwards nobody knows whose they were.
   */
  stop(pid: number): void {
    if (this.#running === null) return;
    this.#processes.send(pid, 'SIGSTOP');
    const { alone } = this.#bounds(this.#running);
    const all = this.#processes.list().filter(({ startTicks }) => startTicks >= alone);
    this.#kin = below(all, new Set([pid]));
  }

  /** The process is gone, and has written no more: the call that ran has died with it. */
  end(): void {
    const run = this.#running;
    if (run === null) return;
    this.#running = null;
    const bounds = this.#bounds(run);
    const ended = new Set<string>();
    for (let round = 0, fresh = true; fresh && round < ROUNDS_MAX; round += 1) {
      const { found, isWhole } = this.#found(run, bounds);
      fresh = !isWhole;
      for (const seen of found) {
        const key = nameOf(seen);
        if (ended.has(key) || !this.#processes.isStillThere(seen)) continue;
        ended.add(key);
        if (this.#processes.send(seen.pid, 'SIGKILL')) fresh = true;
      }
    }
  }

  #bounds(run: number): Bounds {
    const now = performance.now();
    const ticksNow = this.#processes.ticksNow();
    const given = ticksNow - Math.ceil((now - (this.#given.get(run) ?? 0)) / TICK_MS) - 1;
    if (this.#freeSince === null) return { given, alone: given };
    const alone = ticksNow - Math.floor((now - this.#freeSince) / TICK_MS) + 1;
    return { given, alone: Math.max(given, alone) };
  }

  /** Not whole: of some in the middle of an exec it is not known yet. */
  #found(run: number, { given, alone }: Bounds): { found: Seen[]; isWhole: boolean } {
    const all = this.#processes.list().filter((seen) => seen.startTicks >= given);
    const kin = new Set(this.#kin.map(nameOf));
    const marks = new Map(all.map((seen) => [seen.pid, this.#markOf(seen.pid, run)]));
    const roots = all.filter((seen) => {
      const mark = marks.get(seen.pid);
      if (mark === 'of the call') return true;
      if (seen.startTicks < alone) return false;
      return mark === 'of the process' || (mark === 'none' && kin.has(nameOf(seen)));
    });
    const whole = below(all, new Set(roots.map(({ pid }) => pid)));
    const found = [...roots, ...whole.filter(({ pid }) => marks.get(pid) !== 'of others')];
    return { found, isWhole: ![...marks.values()].includes('not known yet') };
  }

  #markOf(pid: number, run: number): Mark {
    const environment = this.#processes.environmentOf(pid);
    if (environment === undefined) return 'not known yet';
    const entries = (environment ?? '').split('\0');
    const launch = entries.find((entry) => entry.startsWith('WEFT_LAUNCH='));
    if (this.#launch !== undefined && launch !== undefined)
      if (launch !== `WEFT_LAUNCH=${this.#launch}`) return 'of others';
    const own = entries.find((entry) => entry.startsWith(`${CALL_VARIABLE}=`));
    const value = own?.slice(CALL_VARIABLE.length + 1);
    if (value === undefined) return 'none';
    if (value === this.mark) return 'of the process';
    return value === callMark(this.mark, run) ? 'of the call' : 'of others';
  }
}

/** All below these, without them. */
function below(all: readonly Seen[], roots: ReadonlySet<number>): Seen[] {
  const found = new Map<number, Seen>();
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const seen of all) {
      const isBelow = roots.has(seen.parent) || found.has(seen.parent);
      if (isBelow && !roots.has(seen.pid)) found.set(seen.pid, seen);
    }
  }
  return [...found.values()];
}

function nameOf({ pid, startTicks }: Seen): string {
  return `${pid} ${startTicks}`;
}
