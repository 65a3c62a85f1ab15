// Which of several sites gets a task. A site is a node with a queue of its own: that there is room
// in our books does not say that it starts at once.

import type { NodeName } from '../../model/ids.ts';
import type { SiteRule } from '../../model/scheduling.ts';
import type { Ask } from './ask.ts';
import type { NodeView } from './pool.ts';

/** What a site's own listings say of its queue; what we have given to it is not in it. */
export interface SiteStanding {
  /** Cpus of its nodes that take work. */
  readonly cpuCount: number;
  /** Held by jobs of others. */
  readonly cpusHeld: number;
  /** Cpu time that jobs of others may still take: those that run, and those that wait. */
  readonly runningCpuMs: number;
  readonly waitingCpuMs: number;
  /** When it was listed, in ms since 1970; null: it never was. */
  readonly listedAt: number | null;
  /** The site does not answer, or has not for long; absent: it does. */
  readonly isSilent?: true;
}

/** What sites are compared by. */
export interface Brokerage {
  /** Queues of sites that decide themselves; on other nodes a task with room starts at once. */
  readonly standings: ReadonlyMap<NodeName, SiteStanding>;
  /** Price of a cpu hour by the site's name, or the node's; absent: 0. */
  readonly prices: Readonly<Record<string, number>>;
  /** Nodes that have had these inputs, by the hash of their list. */
  readonly data: ReadonlyMap<string, ReadonlySet<NodeName>>;
}

export const NO_BROKERAGE: Brokerage = { standings: new Map(), prices: {}, data: new Map() };

/** One site in a choice, with what spoke for it or against it. */
export interface Offer {
  readonly node: NodeName;
  /** Infinite: it takes no work, as far as it says; or it is not known, as `unknown` has it. */
  readonly waitMs: number;
  /** `unread`: its gateway has not told of its queue yet; `silent`: its site does not answer. */
  readonly unknown?: 'unread' | 'silent';
  readonly price: number;
  readonly hasData: boolean;
}

/** The choice of a node for a task that was given to a site. */
export interface Choice {
  readonly rule: SiteRule;
  /** The best first; the task is on as many of them as it has nodes. */
  readonly offers: readonly Offer[];
}

/** Time that is assumed for a job without a time limit. */
export const UNLIMITED_MS = 3_600_000;

export function offerOf(view: NodeView, ask: Ask, brokerage: Brokerage): Offer {
  const waitMs = waitAt(view, ask, brokerage) ?? 0;
  const unknown = isHopeless({ waitMs }) ? unknownOf(brokerage.standings.get(view.name)) : null;
  return {
    node: view.name,
    waitMs,
    ...(unknown === null ? {} : { unknown }),
    price: priceOf(view, brokerage),
    hasData: ask.inputs !== undefined && brokerage.data.get(ask.inputs)?.has(view.name) === true,
  };
}

/** Returns null when it says that it takes no work. */
function unknownOf(standing: SiteStanding | undefined): 'unread' | 'silent' | null {
  if (standing === undefined) return 'unread';
  return standing.isSilent === true ? 'silent' : null;
}

/** How long the site would make it wait; null: the node has no queue, and starts it at once. */
export function waitAt(
  view: Pick<NodeView, 'name' | 'labels' | 'total' | 'free'>,
  ask: Ask,
  { standings }: Brokerage,
): number | null {
  const standing = standings.get(view.name);
  if (standing !== undefined) return waitOf(standing, view, ask);
  // A gateway has the label of its own site; its nodes, where it steers them, have other names.
  return view.labels.has(`site=${view.name}`) ? Number.POSITIVE_INFINITY : null;
}

/**
 * How long it would wait there: not at all where nobody waits and cpus are idle, else until its
 * share of all that is before it is done. What we have given to the site counts as long as this
 * task may take.
 */
function waitOf(
  standing: SiteStanding,
  { total, free }: Pick<NodeView, 'total' | 'free'>,
  ask: Ask,
): number {
  const { cpuCount, cpusHeld, runningCpuMs, waitingCpuMs } = standing;
  if (cpuCount === 0) return Number.POSITIVE_INFINITY;
  const ours = total.cpuCount - free.cpuCount;
  const idle = cpuCount - cpusHeld - ours;
  if (waitingCpuMs === 0 && idle >= ask.request.perNode.cpuCount) return 0;
  const oursMs = ours * (ask.walltimeMs ?? UNLIMITED_MS);
  return (runningCpuMs + waitingCpuMs + oursMs) / cpuCount;
}

function priceOf({ name, labels }: NodeView, { prices }: Brokerage): number {
  if (Object.hasOwn(prices, name)) return prices[name] as number;
  // Nodes of a site that is steered: `n1.hpc`.
  for (const label of labels) {
    const site = label.startsWith('site=') ? label.slice('site='.length) : '';
    if (Object.hasOwn(prices, site)) return prices[site] as number;
  }
  return 0;
}

/** Negative: `a` is better. A site that may never start the task is last, cheap or near. */
export function compareOffers(rule: SiteRule, a: Offer, b: Offer): number {
  const byHope = Number(isHopeless(a)) - Number(isHopeless(b));
  return byHope || compareByRule(rule, a, b);
}

function isHopeless({ waitMs }: Pick<Offer, 'waitMs'>): boolean {
  return waitMs === Number.POSITIVE_INFINITY;
}

function compareByRule(rule: SiteRule, a: Offer, b: Offer): number {
  const byWait = ascending(a.waitMs, b.waitMs);
  const byPrice = ascending(a.price, b.price);
  switch (rule) {
    case 'least_wait':
      return byWait || byPrice;
    case 'cheapest':
      return byPrice || byWait;
    case 'near_data':
      return Number(b.hasData) - Number(a.hasData) || byWait || byPrice;
  }
}

/** Two that never end are equal. */
function ascending(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
