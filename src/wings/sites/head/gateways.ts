// What is heard of gateways, and what they are told: which nodes to keep stopped, which jobs are
// cancelled or held here, and which of ours their listings lack.

import { present } from '../../../kernel/base/assert.ts';
import { type Link, sessionOf, tell } from '../../../kernel/head/agent-link.ts';
import type { Engine } from '../../../kernel/head/engine.ts';
import type { Gateways, GatewayWorld } from '../../../kernel/head/gateways.ts';
import type { Task } from '../../../kernel/machine/jobs/facts.ts';
import type { Unlooked } from '../../../kernel/machine/scratch.ts';
import type { State } from '../../../kernel/machine/state.ts';
import {
  type EpochId,
  formatEpochId,
  type NodeName,
  parseTaskId,
} from '../../../kernel/model/ids.ts';
import type {
  KnownSite,
  SiteHang,
  SiteHold,
  SiteJobPlace,
  SiteNews,
  SiteStart,
  SiteUndone,
} from '../../../kernel/model/site.ts';
import type { SiteStanding } from '../../../kernel/scheduler/room/brokerage.ts';
import { cancelledHere, unlistedHere } from '../machine/heard.ts';
import { heldHere } from '../machine/held-here.ts';
import { SITE_PART_MAX } from '../machine/look.ts';
import { stopsWanted } from '../machine/stops.ts';
import { Looks } from './looks.ts';
import { boundedLine, Sites } from './sites.ts';

/** What a gateway understands, and was told last on a connection. */
interface GatewayReports {
  /** Whether it can be asked for jobs of its site. */
  readonly isAsked: boolean;
  /** What it was told last to be held here, as text; null: it takes no such word. */
  holds: string | null;
  /** What it was told last to have stopped, as text; null: it stops nothing. */
  stops: string | null;
  /** How often it was told. */
  stopsTold: number;
  readonly looks: Looks;
}

class HeardSites implements Gateways {
  readonly #world: GatewayWorld;
  readonly #partMax: number;
  readonly #sites = new Sites();
  readonly #told = new WeakMap<Link, GatewayReports>();
  /** Tasks of which each gateway said last that its site does not do something. */
  readonly #undone = new Map<NodeName, readonly EpochId[]>();

  constructor(world: GatewayWorld, partMax: number) {
    this.#world = world;
    this.#partMax = partMax;
  }

  greeted(link: Link, features: readonly string[], site?: string): void {
    // A gateway stands for its site, and no job of a user is placed on it.
    if (site !== undefined && site !== link.node) this.#unlooked.set(link.node, { site });
    this.#told.set(link, {
      isAsked: features.includes('site_ask'),
      holds: features.includes('site_holds') ? '' : null,
      stops: null,
      stopsTold: 0,
      looks: this.#looksOf(link),
    });
  }

  get sites(): readonly KnownSite[] {
    const nodes = this.#world.engine()?.state.nodes;
    return this.#sites.all.filter(({ name }) => nodes?.has(name) === true);
  }

  startOf(task: Task): SiteStart | undefined {
    const epochId = formatEpochId(task.id, task.epoch);
    return this.#sites.startOf(epochId, this.#sitesOf(task), this.#world.clock.monotonic());
  }

  hangOf(task: Task): SiteHang | undefined {
    return this.#sites.hangOf(this.#sitesOf(task), this.#world.clock.monotonic());
  }

  /** Nodes of no site stand for themselves: no listing has their name. */
  #sitesOf({ parts }: Task): NodeName[] {
    const nodes = this.#world.engine()?.state.nodes;
    return [...parts.keys()].map((node) => (nodes?.get(node)?.facts?.site ?? node) as NodeName);
  }

  standings(): ReadonlyMap<NodeName, SiteStanding> {
    const { clock } = this.#world;
    return this.#sites.standings(clock.monotonic(), clock.now());
  }

  look(link: Link): void {
    const engine = this.#world.engine();
    const told = this.#told.get(link);
    if (engine === null || told === undefined) return;
    tellStops(engine, link, told);
    this.#forgetRemoved(engine);
  }

  /** Where the site is steered, its word is the truth of its jobs. */
  hear(link: Link, news: SiteNews): void {
    const { node } = link;
    const session = sessionOf(link);
    const engine = this.#world.engine();
    const told = this.#told.get(link);
    if (session === null || engine === null || told === undefined) return;
    // Any other node has none to speak of.
    if (engine.state.nodes.get(node)?.facts?.site === undefined) return;
    const site = this.#sites.hear(node, news, this.#world.clock.monotonic());
    this.#noteUndone(engine, node, news.undone ?? []);
    hearStops(engine, { link, session }, told, news);
    if (!news.isLast || news.mode !== 'steer' || news.problem !== null) return;
    const { mode, nodes, jobs } = site;
    // A copy: pieces of the next look may come before all parts of this one are decided.
    told.looks.hear(engine, { node, session, mode, nodes, jobs: new Map(jobs) });
  }

  /** A gateway speaks for tasks at its site only. */
  #noteUndone({ state }: Engine, gateway: NodeName, undone: readonly SiteUndone[]): void {
    const { taskNotices } = state.scratch;
    for (const epochId of this.#undone.get(gateway) ?? []) taskNotices.delete(epochId);
    const own = undone.filter(({ epochId }) => isAt(state, gateway, epochId));
    for (const { epochId, words } of own) taskNotices.set(epochId, boundedLine(words));
    if (own.length === 0) return void this.#undone.delete(gateway);
    this.#undone.set(
      gateway,
      own.map(({ epochId }) => epochId),
    );
  }

  /** Nobody speaks any more for the site of a gateway that was removed. */
  #forgetRemoved(engine: Engine): void {
    for (const name of this.#sites.names) {
      if (engine.state.nodes.has(name)) continue;
      this.#noteUndone(engine, name, []);
      this.#sites.forget(name);
    }
  }

  #looksOf(link: Link): Looks {
    const { node } = link;
    let looked: ReadonlyMap<NodeName, Unlooked> = new Map();
    return new Looks({
      partMax: this.#partMax,
      soon: (then) => this.#world.clock.soon(then),
      onBegin: () => {
        looked = this.#connectedOf(node);
      },
      onPart: ({ jobs }) => {
        const { state } = present(this.#world.engine(), 'it has decided');
        const cancelled = cancelledHere(state, node, jobs);
        if (cancelled.length > 0) this.#tellCancelled(node, cancelled);
      },
      onWhole: ({ jobs }) => {
        const { state } = present(this.#world.engine(), 'it has decided');
        const told = present(this.#told.get(link), 'it was greeted');
        const unlisted = told.isAsked ? unlistedHere(state, node, jobs) : [];
        if (unlisted.length > 0) tell(link, { kind: 'site_ask', jobs: unlisted });
        tellHolds(link, told, heldHere(state, node));
        this.#letIn(looked);
      },
    });
  }

  get #unlooked(): Map<NodeName, Unlooked> {
    return present(this.#world.engine(), 'nodes are greeted').state.scratch.unlooked;
  }

  /** Newcomers of this site on which a look can place what runs there. */
  #connectedOf(site: NodeName): ReadonlyMap<NodeName, Unlooked> {
    const { state } = present(this.#world.engine(), 'it decides');
    const there = [...state.scratch.unlooked].filter(([name, newcomer]) => {
      return newcomer.site === site && state.nodes.get(name)?.connected === true;
    });
    return new Map(there);
  }

  /** What runs on them is in our books now. Those that have come again meanwhile wait. */
  #letIn(looked: ReadonlyMap<NodeName, Unlooked>): void {
    const unlooked = this.#unlooked;
    const before = unlooked.size;
    for (const [name, newcomer] of looked) {
      if (unlooked.get(name) === newcomer) unlooked.delete(name);
    }
    if (unlooked.size < before) present(this.#world.engine(), 'it decides').planAnew();
  }

  #tellCancelled(node: NodeName, jobs: readonly SiteJobPlace[]): void {
    const link = this.#world.linkOf(node);
    if (link !== undefined) tell(link, { kind: 'site_cancel', jobs });
  }
}

/** The gateways of one head. @param partMax nodes and jobs of a look that one step decides */
export function gatewaysOf(world: GatewayWorld, partMax = SITE_PART_MAX): Gateways {
  return new HeardSites(world, partMax);
}

function hearStops(
  engine: Engine,
  { link, session }: { readonly link: Link; readonly session: number },
  told: GatewayReports,
  { isLast, stops, stopsHeard }: SiteNews,
): void {
  if (!isLast || stops === undefined) return;
  told.stops ??= '';
  // One that has heard nothing in this session may still have what it was told in the last one.
  const isUpToDate = stopsHeard === undefined || (stopsHeard > 0 && stopsHeard === told.stopsTold);
  const heard = { node: link.node, session, stops, isUpToDate };
  engine.perform({ kind: 'site_stops', heard }, (result) => {
    if (result.ok) tellStops(engine, link, told);
  });
}

/** Which nodes its site is to keep stopped, whenever that has changed. */
function tellStops(engine: Engine, link: Link, told: GatewayReports): void {
  if (told.stops === null) return;
  const stops = stopsWanted(engine.state, link.node);
  const text = JSON.stringify(stops);
  if (text === told.stops) return;
  told.stops = text;
  told.stopsTold += 1;
  const message = { kind: 'site_stops', stops, number: told.stopsTold } as const;
  const { lives } = engine;
  // After a crash nobody would know that it was told of what was not written down.
  void engine.settled().then(() => {
    if (link.stage.kind === 'closed' || engine.failure !== null || engine.lives !== lives) return;
    tell(link, message);
  });
}

/** Whenever it has changed; a gateway that has just come hears it in any case. */
function tellHolds(link: Link, told: GatewayReports, jobs: readonly SiteHold[]): void {
  const text = JSON.stringify(jobs);
  if (told.holds === null || told.holds === text) return;
  told.holds = text;
  tell(link, { kind: 'site_holds', jobs });
}

/** This start of a task is on a node of this gateway's site. */
function isAt({ jobs, nodes }: State, gateway: NodeName, epochId: EpochId): boolean {
  const [text = ''] = epochId.split('#');
  const place = parseTaskId(text);
  const task = place.ok
    ? jobs.get(place.value.jobId)?.active.get(place.value.index ?? 0)
    : undefined;
  if (task === undefined || formatEpochId(task.id, task.epoch) !== epochId) return false;
  return [...task.parts.keys()].some((node) => nodes.get(node)?.facts?.site === gateway);
}
