// The evidence sorted by task, and questions about what was broken when.

import type { HistoryJob, HistoryTask } from '../../src/kernel/api/history.ts';
import type {
  Accepted,
  Evidence,
  Life,
  Outage,
  Restore,
  Rule,
  SetAside,
  Span,
  Violation,
  Work,
} from './evidence.ts';
import { siteOf } from './site/evidence.ts';

/** Between an instant and the receipt or the note of it. */
const TICK_MS = 200;

/** From the end of a task to all that it left being kept: on a crowded machine, five seconds. */
const HEARD_MS = 5000;

/** Until nodes dial again that had cut off a head, on a busy machine. */
const COMING_MS = 10_000;

/** The head's store is put back, or else it hears of nothing. */
function isPassing({ how }: Outage): boolean {
  return how !== 'restore';
}

/** One task: what it was to do, what the books say of each of its epochs, and what ran. */
export interface TaskCase {
  readonly id: string;
  readonly work: Work;
  /** By epoch. */
  readonly rows: readonly HistoryTask[];
  readonly epochs: ReadonlyMap<number, readonly Life[]>;
  /** Nobody but its own processes knows of it: the head accepted it in records that are lost. */
  readonly isLost: boolean;
}

/** All processes that the task has in one epoch. */
export function processCount({ nodeCount, processesPerNode }: Work): number {
  return nodeCount * processesPerNode;
}

/** Whether all of them came to their end by themselves. */
export function isWhole(work: Work, lives: readonly Life[]): boolean {
  const ended = lives.filter((life) => life.ended).map((life) => `${life.nodeRank}.${life.rank}`);
  return new Set(ended).size === processCount(work);
}

export function spanOf(spans: readonly Span[]): Span {
  return {
    from: Math.min(...spans.map((span) => span.from)),
    until: Math.max(...spans.map((span) => span.until)),
  };
}

export function overlapMs(a: Span, b: Span): number {
  return Math.min(a.until, b.until) - Math.max(a.from, b.from);
}

export class Case {
  readonly evidence: Evidence;
  readonly tasks: readonly TaskCase[];
  /** By name. */
  readonly jobs = new Map<string, HistoryJob[]>();
  /** Those that the head knows: without what was lost with a store. */
  readonly setAside: readonly SetAside[];
  readonly #ids: ReadonlySet<number>;
  readonly violations: Violation[] = [];
  readonly counted: Record<string, number> = {};

  constructor(evidence: Evidence) {
    this.evidence = evidence;
    this.#ids = new Set(evidence.jobs.map(({ id }) => id));
    for (const job of evidence.jobs) gather(this.jobs, job.name, job);
    this.setAside = evidence.setAside.filter(({ madeAt }) => this.lossAt(madeAt) === null);
    this.tasks = this.#sorted();
  }

  violate(rule: Rule, words: string): void {
    this.violations.push({ rule, words });
  }

  count(what: string): void {
    this.counted[what] = (this.counted[what] ?? 0) + 1;
  }

  /** What was out on one of these hosts in that time. */
  outages(hosts: Iterable<string>, { from, until }: Span): Outage[] {
    // A gateway that is out keeps its site from us.
    const wanted = new Set([...hosts].flatMap((host) => [host, siteOf(host) ?? host]));
    return this.evidence.outages.filter(
      (one) => wanted.has(one.host) && one.from <= until && one.until >= from,
    );
  }

  /** In that time a launcher was killed or its host lost power, and with it what it had seen. */
  lostLauncher(hosts: Iterable<string>, span: Span): boolean {
    return this.outages(hosts, span).some(
      ({ how, parts, from }) =>
        // A host that had no power at its start never began its part.
        how === 'off' ||
        (how === 'kill' && parts.includes('launcher') && from >= span.from - TICK_MS),
    );
  }

  /** The node that a host was while it had that one's folder to itself; else its own name. */
  nodeOf(host: string): string {
    return this.evidence.clones.find((one) => one.host === host && one.isAlone)?.node ?? host;
  }

  /** When the head's folder was put back so that what was accepted at that time may be lost. */
  lossAt(at: number): Restore | null {
    const isIn = ({ copiedAt, putBackAt }: Restore): boolean => copiedAt <= at && at <= putBackAt;
    return this.evidence.restores.find(isIn) ?? null;
  }

  /** The record of an epoch's start may be lost: its processes began when what was written is. */
  lossOf(lives: readonly Life[]): Restore | null {
    for (const { from } of lives) {
      // What was ordered before the head was killed may begin after it, where a node was out.
      const isIn = (one: Restore): boolean =>
        one.copiedAt - TICK_MS <= from && from <= one.endedAt + TICK_MS;
      const restore = this.evidence.restores.find(isIn);
      if (restore !== undefined) return restore;
    }
    return null;
  }

  /**
   * Whether the head may have heard of an end, and lost that: it hears of it late where something
   * of these nodes, or the head, is out.
   */
  lostEnd({ nodes, endedAt }: HistoryTask): boolean {
    let until = endedAt;
    for (;;) {
      const out = this.outages([...nodes, 'head'], { from: endedAt, until });
      const back = Math.max(until, ...out.filter(isPassing).map((one) => one.until));
      if (back === until) break;
      until = back;
    }
    return this.evidence.restores.some(
      ({ copiedAt, putBackAt }) => copiedAt <= until + HEARD_MS && endedAt <= putBackAt,
    );
  }

  /** Ids of the job that the head may not have lost. */
  keptIds({ work, jobIds, answeredAt }: Accepted): number[] {
    const own = new Set(this.jobs.get(work.key)?.map(({ id }) => id));
    return jobIds.filter((id, at) => {
      return own.has(id) || this.lossAt(answeredAt[at] as number) === null;
    });
  }

  /** The launcher, or gateway, of one could not say when a process ended. */
  launcherOut(hosts: Iterable<string>, span: Span): boolean {
    return this.outages(hosts, span).some(({ parts }) => {
      return parts.includes('launcher') || parts.includes('gateway');
    });
  }

  #works(): Map<number, Work> {
    const works = new Map<number, Work>();
    const note = (id: number, work: Work): void => {
      const other = works.get(id)?.key ?? work.key;
      if (other !== work.key) {
        if (this.#wasUnheard(id)) this.count('ids given again that no node had heard of');
        else this.violate('one id for two jobs', `job ${id} is of ${other} and of ${work.key}`);
      }
      works.set(id, work);
    };
    const byKey = new Map(this.evidence.accepted.map(({ work }) => [work.key, work]));
    for (const { work, jobIds } of this.evidence.accepted) {
      for (const id of jobIds) note(id, work);
    }
    for (const { id, name } of this.evidence.jobs) {
      const work = byKey.get(name);
      if (work !== undefined) note(id, work);
    }
    for (const { task, key, from } of this.evidence.lives) {
      const work = byKey.get(key);
      // Its answer may never have come: whoever submitted it did so again.
      const isKnown = works.has(idOf(task)) || this.lossAt(from) !== null;
      if (work !== undefined && isKnown) note(idOf(task), work);
    }
    return works;
  }

  /**
   * The job was lost with a store, and accepted when the nodes were not back yet after something of
   * the head's: nobody but its client knew of it.
   */
  #wasUnheard(id: number): boolean {
    return this.evidence.accepted.some(({ jobIds, answeredAt }) =>
      jobIds.some((one, which) => {
        const at = answeredAt[which] as number;
        const loss = one === id ? this.lossAt(at) : null;
        if (loss === null) return false;
        const out = this.outages(['head'], { from: at - COMING_MS, until: at });
        return out.some(({ from }) => from !== loss.copiedAt);
      }),
    );
  }

  /**
   * True for a task whose job is not in the history, and of which nothing ran but what may be lost.
   */
  #isLost(task: string, epochs: ReadonlyMap<number, readonly Life[]>): boolean {
    const isLost = [...epochs.values()].every((lives) => this.lossOf(lives) !== null);
    return isLost && !this.#ids.has(idOf(task));
  }

  #sorted(): TaskCase[] {
    const works = this.#works();
    const rows = new Map<string, HistoryTask[]>();
    for (const row of this.evidence.tasks) gather(rows, row.id, row);
    const lives = new Map<string, Life[]>();
    for (const life of this.evidence.lives) gather(lives, life.task, life);
    const cases: TaskCase[] = [];
    for (const id of new Set([...rows.keys(), ...lives.keys()])) {
      const work = works.get(idOf(id));
      if (work === undefined) {
        this.violate('nobody asked', `task ${id} belongs to no job that was submitted`);
        continue;
      }
      const epochs = new Map<number, Life[]>();
      for (const life of lives.get(id) ?? []) gather(epochs, life.epoch, life);
      const sorted = (rows.get(id) ?? []).sort((a, b) => a.epoch - b.epoch);
      cases.push({ id, work, rows: sorted, epochs, isLost: this.#isLost(id, epochs) });
    }
    return cases;
  }
}

function idOf(task: string): number {
  return Number.parseInt(task, 10);
}

/** Adds one more to what is known of a key. */
export function gather<K, V>(into: Map<K, V[]>, key: K, value: V): void {
  const known = into.get(key);
  if (known === undefined) into.set(key, [value]);
  else known.push(value);
}
