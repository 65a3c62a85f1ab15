// The evidence sorted by task, and questions about what was broken when.

import type { HistoryJob, HistoryTask } from '../../src/api/history.ts';
import type { Evidence, Life, Outage, Rule, Span, Violation, Work } from './evidence.ts';

/** Between an instant and the receipt or the note of it. */
const TICK_MS = 200;

/** One task: what it was to do, what the books say of each of its epochs, and what ran. */
export interface TaskCase {
  readonly id: string;
  readonly work: Work;
  /** By epoch. */
  readonly rows: readonly HistoryTask[];
  readonly epochs: ReadonlyMap<number, readonly Life[]>;
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
  readonly violations: Violation[] = [];
  readonly counted: Record<string, number> = {};

  constructor(evidence: Evidence) {
    this.evidence = evidence;
    for (const job of evidence.jobs) gather(this.jobs, job.name, job);
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
    const wanted = new Set(hosts);
    return this.evidence.outages.filter(
      (one) => wanted.has(one.host) && one.from <= until && one.until >= from,
    );
  }

  /** In that time a launcher was killed or its host lost power, and with it what it had seen. */
  lostLauncher(hosts: Iterable<string>, span: Span): boolean {
    return this.outages(hosts, span).some(
      ({ how, parts, from }) =>
        (how === 'kill' || how === 'off') &&
        parts.includes('launcher') &&
        from >= span.from - TICK_MS,
    );
  }

  /** Its launcher could not say when a process ended. */
  launcherOut(hosts: Iterable<string>, span: Span): boolean {
    return this.outages(hosts, span).some(({ parts }) => parts.includes('launcher'));
  }

  #sorted(): TaskCase[] {
    const works = new Map<number, Work>();
    for (const { work, jobIds } of this.evidence.accepted) {
      for (const id of jobIds) works.set(id, work);
    }
    const rows = new Map<string, HistoryTask[]>();
    for (const row of this.evidence.tasks) gather(rows, row.id, row);
    const lives = new Map<string, Life[]>();
    for (const life of this.evidence.lives) gather(lives, life.task, life);
    const cases: TaskCase[] = [];
    for (const id of new Set([...rows.keys(), ...lives.keys()])) {
      const work = works.get(Number.parseInt(id, 10));
      if (work === undefined) {
        this.violate('nobody asked', `task ${id} belongs to no job that was submitted`);
        continue;
      }
      const epochs = new Map<number, Life[]>();
      for (const life of lives.get(id) ?? []) gather(epochs, life.epoch, life);
      const sorted = (rows.get(id) ?? []).sort((a, b) => a.epoch - b.epoch);
      cases.push({ id, work, rows: sorted, epochs });
    }
    return cases;
  }
}

function gather<K, V>(into: Map<K, V[]>, key: K, value: V): void {
  const known = into.get(key);
  if (known === undefined) into.set(key, [value]);
  else known.push(value);
}
