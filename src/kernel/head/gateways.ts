// Gateways: agents that speak for a site, another cluster. What is known of sites, and said to
// their gateways, a wing has; without one nothing is known of any.

import type { Task } from '../machine/jobs/facts.ts';
import type { NodeName } from '../model/ids.ts';
import type { KnownSite, SiteHang, SiteNews, SiteStart } from '../model/site.ts';
import type { Clock } from '../ports/clock.ts';
import type { SiteStanding } from '../scheduler/room/brokerage.ts';
import type { Link } from './agent-link.ts';
import type { Engine } from './engine.ts';

export interface Gateways {
  /** With each hello: what the agent on this connection understands, and the site of its node. */
  greeted(link: Link, features: readonly string[], site?: string): void;
  hear(link: Link, news: SiteNews): void;
  /** With each look at the nodes. */
  look(link: Link): void;
  /** What gateways said of their sites; of nodes that are still there. */
  readonly sites: readonly KnownSite[];
  /** The job of a site that is this start of a task; undefined: none is known. */
  startOf(task: Task): SiteStart | undefined;
  /** The site of this task that does not answer; undefined: all do that it has. */
  hangOf(task: Task): SiteHang | undefined;
  /** Queues of the sites whose own schedulers decide. */
  standings(): ReadonlyMap<NodeName, SiteStanding>;
}

export interface GatewayWorld {
  readonly clock: Clock;
  /** Null until it has begun. */
  readonly engine: () => Engine | null;
  /** The connection of a node now. */
  readonly linkOf: (node: NodeName) => Link | undefined;
}

const NOTHING: ReadonlyMap<NodeName, SiteStanding> = new Map();

/** Nothing is known of any site. */
export const NO_GATEWAYS: Gateways = {
  greeted: () => undefined,
  hear: () => undefined,
  look: () => undefined,
  sites: [],
  startOf: () => undefined,
  hangOf: () => undefined,
  standings: () => NOTHING,
};
