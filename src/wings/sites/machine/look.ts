// A look at a steered site, heard whole, cut into parts: each is decided in a step and in a turn of
// the head of its own, so that nobody else waits for a large site.

import { IntervalSet } from '../../../kernel/base/interval-set.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import {
  type ListedJob,
  type SiteMode,
  type SiteNode,
  shownName,
} from '../../../kernel/model/site.ts';
import { arraysOf, elementOf } from '../model/site-elements.ts';

export interface SiteLook {
  /** The gateway. */
  readonly node: NodeName;
  readonly session: number;
  readonly mode: SiteMode;
  readonly nodes: readonly SiteNode[];
  readonly jobs: Iterable<ListedJob>;
}

/** What each part has to know of the whole look. */
export interface SiteWhole {
  /** All that the gateway has told of: the same list as long as none of them has changed. */
  readonly told: readonly SiteNode[];
  /** Those of them that the site does not hide. */
  readonly nodes: readonly SiteNode[];
  /** What these are called here, by the site's own names of them. */
  readonly shown: ReadonlyMap<string, string>;
  /** Ids of its jobs whose state it tells and which are not over. */
  readonly listed: ReadonlySet<string>;
  /** Ids of arrays of which an element is listed by itself and may start. */
  readonly going: ReadonlySet<string>;
  /** Elements that are listed by themselves, in whatever state, by the ids of their arrays. */
  readonly alone: ReadonlyMap<string, IntervalSet>;
  /** The longest time limit in an array, by its id, of what is not over; null: none. */
  readonly limits: ReadonlyMap<string, number | null>;
}

export interface SitePart extends Pick<SiteLook, 'node' | 'session'> {
  readonly whole: SiteWhole;
  readonly nodes: readonly SiteNode[];
  readonly jobs: readonly ListedJob[];
}

/** Nodes and jobs of a part, each: 500 new jobs are some 15 ms of a head. */
export const SITE_PART_MAX = 500;

/**
 * All nodes come before all jobs, and the jobs in an order in which each part alone does no harm.
 * Nothing follows from a site whose own scheduler decides.
 */
export function partsOf(look: SiteLook, sizeMax = SITE_PART_MAX): SitePart[] {
  const { node, session, mode, nodes: told } = look;
  if (mode !== 'steer') return [];
  const all = [...look.jobs];
  // The name that a hidden node would have may be that of another one.
  const visible = told.filter(({ seen }) => (seen?.hiddenBy ?? null) === null);
  const shown = new Map(visible.map((one) => [one.name, shownName(one)]));
  const there = all.filter(({ state }) => state !== 'unknown' && state !== 'ended');
  const listed = new Set(there.map(({ id }) => id));
  const going = arraysOf(all.filter(({ state }) => state === 'waiting'));
  const whole = {
    told,
    nodes: visible,
    shown,
    listed,
    going,
    alone: elementsOf(all),
    limits: limitsOf(there),
  };
  const nodes = slices(visible, sizeMax);
  const jobs = slices(inOrder(all.filter(({ isOurs }) => !isOurs)), sizeMax);
  const parts: SitePart[] = nodes.slice(0, -1).map((some) => {
    return { node, session, whole, nodes: some, jobs: [] };
  });
  for (const [at, some] of jobs.entries()) {
    parts.push({ node, session, whole, nodes: at === 0 ? (nodes.at(-1) ?? []) : [], jobs: some });
  }
  return parts;
}

function elementsOf(jobs: readonly ListedJob[]): Map<string, IntervalSet> {
  const indices = new Map<string, number[]>();
  for (const { id } of jobs) {
    const element = elementOf(id);
    if (element === null) continue;
    const known = indices.get(element.array);
    if (known === undefined) indices.set(element.array, [element.index]);
    else known.push(element.index);
  }
  // Made in their order, which costs least.
  const sets = [...indices].map(([array, all]) => {
    const inOrder = all.sort((a, b) => a - b).map((index) => [index, index] as const);
    return [array, IntervalSet.of(inOrder)] as const;
  });
  return new Map(sets);
}

/** What has been changed is often only what waits, or only what runs. */
function limitsOf(jobs: readonly ListedJob[]): Map<string, number | null> {
  const limits = new Map<string, number | null>();
  for (const { id, elements, walltimeMs } of jobs) {
    const array = elementOf(id)?.array ?? (elements === null ? null : id);
    if (array === null) continue;
    const known = limits.get(array) ?? 0;
    const isLonger = walltimeMs === null || walltimeMs > known;
    if (limits.get(array) !== null && isLonger) limits.set(array, walltimeMs);
  }
  return limits;
}

/** At least one, which may be empty. */
function slices<T>(all: readonly T[], sizeMax: number): T[][] {
  const count = Math.max(1, Math.ceil(all.length / sizeMax));
  return Array.from({ length: count }, (_, at) => all.slice(at * sizeMax, (at + 1) * sizeMax));
}

/**
 * What runs comes first, so that nothing that waits is started where it is; its array comes with
 * it, or an element of that would be taken for a job of its own. What is over as a whole comes
 * last: an array ends what has not begun of it, and what has its elements tell.
 */
function inOrder(jobs: readonly ListedJob[]): ListedJob[] {
  const running = jobs.filter(({ state }) => isThere(state));
  const busy = arraysOf(running);
  for (const { id } of running) busy.add(id);
  const first: ListedJob[] = [];
  const next: ListedJob[] = [];
  const last: ListedJob[] = [];
  for (const job of jobs) {
    const element = elementOf(job.id);
    if (job.state === 'ended' && element === null) last.push(job);
    else if (busy.has(element?.array ?? job.id) || busy.has(job.id)) first.push(job);
    else next.push(job);
  }
  return [...first, ...next, ...last];
}

function isThere(state: ListedJob['state']): boolean {
  return state !== 'held' && state !== 'waiting' && state !== 'ended' && state !== 'unknown';
}
