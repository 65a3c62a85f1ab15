// Who belongs to a process we started, found in /proc: its session, its descendants, and whoever
// carries its WEFT_LAUNCH value. Unlike the C launcher we are no subreaper, so all are looked at.

import { readFileSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { PASSES_SIGNALS } from '../../base/passes-signals.ts';
import { SCOPE } from '../../ports/launcher-frames.ts';
import { environmentOf } from '../environment-of.ts';
import { addDescendants, listProcesses, readStat, type Seen, sendSignal } from '../process-list.ts';

/** What membership is judged by. */
export interface Root {
  readonly pid: number;
  readonly uid: number;
  readonly startTicks: number | bigint;
  readonly isLive: boolean;
  /** Ticks since boot; a session of the same number begun later is a stranger's. */
  readonly endedTicks: number;
  /** `WEFT_LAUNCH=value`, when its environment had one. */
  readonly mark: string | undefined;
  /** Whether the process is in the session of another root. */
  readonly isOthers: (seen: Seen) => boolean;
}

export interface Members {
  readonly certain: readonly Seen[];
  /** In the middle of an exec that lasts, so that no mark is to be seen: may be members. */
  readonly possible: readonly Seen[];
}

export function membersOf(root: Root): Members {
  const all = listProcesses();
  const mine = new Set(all.filter((seen) => inSession(seen, root)).map((seen) => seen.pid));
  addDescendants(all, mine);
  const possible = new Set<Seen>();
  for (const seen of all) {
    if (mine.has(seen.pid) || root.mark === undefined) continue;
    const environment = environmentOf(seen.pid);
    if (environment === undefined) {
      if (mayBelong(seen, root)) possible.add(seen);
    } else if (`\0${environment ?? ''}`.includes(`\0${root.mark}\0`)) mine.add(seen.pid);
  }
  addDescendants(all, mine);
  const certain = all.filter((seen) => mine.has(seen.pid) && seen.isAlive);
  return { certain, possible: [...possible].filter((seen) => seen.isAlive && !mine.has(seen.pid)) };
}

/** How many there are, with those that may be. */
export function countMembers(root: Root): number {
  const { certain, possible } = membersOf(root);
  return certain.length + possible.length;
}

/** Signals after which no child goes on that was forked while they were sent. */
const UNTIL_NONE_IS_NEW: readonly number[] = [constants.signals.SIGKILL, constants.signals.SIGSTOP];
const ROUNDS_MAX = 64;
const PAUSES_MAX = 30;
const PAUSE_MS = 5;
/** Stopped, over, or held in the kernel, as in vfork(2) until the child goes on. */
const CANNOT_FORK = 'TtZXD';

/** Signals each that is certain. Returns their number. */
export function signalMembers(root: Root, signal: number, scope: number = SCOPE.all): number {
  const reached = new Set<string>();
  const rounds = UNTIL_NONE_IS_NEW.includes(signal) ? ROUNDS_MAX : 1;
  let pauses = 0;
  let wasAtRest = false;
  for (let again = true, round = 0; again && round < rounds; round++) {
    let fresh = false;
    let mayFork = false;
    for (const { pid, startTicks, state } of membersOf(root).certain) {
      if (!isMeant(pid, root, scope)) continue;
      const key = `${pid} ${startTicks}`;
      if (reached.has(key)) mayFork ||= !CANNOT_FORK.includes(state);
      else if (readStat(pid)?.startTicks === startTicks && sendSignal(pid, signal)) {
        reached.add(key);
        fresh = true;
      }
    }
    again = fresh || looksAgain(signal, { mayFork, wasAtRest, pauses });
    if (mayFork) pauses += 1;
    wasAtRest = !fresh && !mayFork;
  }
  return reached.size;
}

/** Processes that got the signal in earlier rounds, as one round finds them. */
interface Round {
  readonly mayFork: boolean;
  /** The round before this one found nobody new, and nobody who may fork. */
  readonly wasAtRest: boolean;
  /** Pauses so far, in which such processes could stop. */
  readonly pauses: number;
}

/**
 * Whether another round follows one that found nobody new. A process that got SIGSTOP but has no
 * cpu in the middle of a fork has not stopped, and its child is not listed yet: the child would go
 * on. And a process may stop between the listing and the look at it, so that the listing lacks its
 * child. So two rounds in a row must find all at rest. After SIGKILL the end of the record has its
 * own look for what is left.
 */
function looksAgain(signal: number, { mayFork, wasAtRest, pauses }: Round): boolean {
  if (signal !== constants.signals.SIGSTOP) return false;
  if (!mayFork) return !wasAtRest;
  if (pauses >= PAUSES_MAX) return false;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  return true;
}

function isMeant(pid: number, root: Root, scope: number): boolean {
  if (scope === SCOPE.main) return pid === root.pid;
  return scope !== SCOPE.others || (pid !== root.pid && nameOf(pid) !== PASSES_SIGNALS);
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}

/** Whether it may belong to the task, as far as can be told without its mark. */
function mayBelong(seen: Seen, root: Root): boolean {
  if (seen.startTicks < root.startTicks || root.isOthers(seen)) return false;
  return ownerOf(seen.pid) === root.uid;
}

function ownerOf(pid: number): number | undefined {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid;
}

/** Also after the root's own process has ended. */
export function inSession(seen: Seen, root: Pick<Root, 'pid' | 'isLive' | 'endedTicks'>): boolean {
  return seen.session === root.pid && (root.isLive || seen.startTicks <= root.endedTicks);
}
