// A site as its filters have it: its nodes, jobs and queues with what rules make of each. The
// listings themselves stay as the site has made them, so that both sides can be shown.

import {
  type FilterRule,
  type FilterState,
  NO_FILTERS,
  type RuleState,
  type Seen,
  type SiteFilters,
} from '../../../../kernel/model/filter-rule.ts';
import type { SiteJob, SiteNode, SiteQueue } from '../../../../kernel/model/site.ts';
import type { Clock } from '../../../../kernel/ports/clock.ts';
import type { DataReader } from '../../../../kernel/ports/data-source.ts';
import { filtered } from './filter.ts';
import { NodeNames } from './node-names.ts';
import { DataSources } from './sources.ts';

export interface FiltersWorld {
  readonly clock: Clock;
  readonly reader: DataReader;
  /** What the site's file of filters says now; throws words when it cannot be read. */
  readonly load: () => SiteFilters;
}

interface Listed {
  readonly nodes: readonly SiteNode[];
  readonly jobs: Iterable<SiteJob>;
  readonly queues: readonly SiteQueue[];
}

export class Filters {
  readonly #world: FiltersWorld;
  readonly #sources: DataSources;
  /** Names of the nodes that were listed last. */
  readonly names = new NodeNames();
  #filters: SiteFilters = NO_FILTERS;
  #isKnown = false;
  #problem: string | null = null;

  constructor(world: FiltersWorld) {
    this.#world = world;
    this.#sources = new DataSources(world.reader, world.clock);
  }

  /** Reads what has changed: the file of rules itself, and sources that are due. */
  async look(): Promise<void> {
    try {
      this.#filters = this.#world.load();
      this.#isKnown = true;
      this.#problem = null;
      this.#sources.set(this.#filters.sources);
    } catch (error) {
      // Those before stay in force: half a file must not show what was hidden.
      this.#problem = error instanceof Error ? error.message : String(error);
    }
    await this.#sources.look();
  }

  /** Why it is not known yet what the rules hide, in words; null: it is. */
  get unread(): string | null {
    if (!this.#isKnown) return `its filters cannot be read: ${this.#problem ?? 'not yet'}`;
    const needed = sourcesOfHiding(this.#filters.rules);
    const unread = this.#sources.states.find(({ name, ageMs }) => {
      return ageMs === null && needed.has(name);
    });
    if (unread === undefined) return null;
    const why = unread.problem ?? 'it has not answered yet';
    return `source ${unread.name}, by which its filters hide, was never read: ${why}`;
  }

  /** A listing as it is to be seen: each node as rules make it, and by a name of its own. */
  nodes(listed: readonly SiteNode[]): readonly SiteNode[] {
    const all = listed.map((node) => {
      const seen = this.node(node);
      return seen === null ? node : { ...node, seen };
    });
    const renaming = this.#filters.rules.filter(({ over, rename }) => over === 'nodes' && rename);
    return this.names.look(all, new Set(renaming.map(({ name }) => name)));
  }

  /** Returns null when no rule is for it. */
  node(node: SiteNode): Seen | null {
    return this.#seen('nodes', node.name, nodeLabels(node));
  }

  job(job: SiteJob): Seen | null {
    return this.#seen('jobs', job.id, jobLabels(job));
  }

  queue({ name }: Pick<SiteQueue, 'name'>): Seen | null {
    return this.#seen('queues', name, [`queue=${name}`]);
  }

  /** What it is called here; null: it is hidden. */
  queueName(name: string): string | null {
    const seen = this.queue({ name });
    return seen === null ? name : seen.hiddenBy === null ? (seen.name ?? name) : null;
  }

  state(listed: Listed): FilterState {
    const counts = new Map<string, number>();
    const totals = { nodes: 0, jobs: 0, queues: 0 };
    const count = (over: FilterRule['over'], seen: Seen | null): void => {
      totals[over] += 1;
      for (const rule of seen?.rules ?? []) counts.set(rule, (counts.get(rule) ?? 0) + 1);
    };
    for (const node of listed.nodes) count('nodes', this.node(node));
    for (const job of listed.jobs) count('jobs', this.job(job));
    for (const queue of listed.queues) count('queues', this.queue(queue));
    const rules = this.#filters.rules.map(({ name, over }): RuleState => {
      return { name, over, matched: counts.get(name) ?? 0, of: totals[over] };
    });
    const problem = this.#problem ?? this.names.problem;
    return { rules, sources: this.#sources.states, problem };
  }

  #seen(over: FilterRule['over'], name: string, labels: readonly string[]): Seen | null {
    const { rules } = this.#filters;
    if (rules.length === 0) return null;
    const source = (one: string) => this.#sources.labelsOf(one, name);
    const seen = filtered(rules, { over, name, labels, source });
    return seen.rules.length === 0 ? null : seen;
  }
}

/** A rule that hides sees what it brings itself, and what those before it have brought. */
function sourcesOfHiding(rules: readonly FilterRule[]): Set<string> {
  const needed = rules.flatMap(({ data, over }, at) => {
    const isNeeded = rules.slice(at).some((later) => later.hide && later.over === over);
    return data !== undefined && isNeeded ? [data] : [];
  });
  return new Set(needed);
}

/** Features and queues as labels, `node=n1` and its state. */
function nodeLabels({ name, state, features, queues }: SiteNode): string[] {
  return [`node=${name}`, `state=${state}`, ...features, ...queues.map((one) => `queue=${one}`)];
}

/** By `user=`, `name=`, `queue=` and `state=`. */
function jobLabels({ owner, name, queue, state }: SiteJob): string[] {
  const own = [`user=${owner}`, `name=${name}`, `state=${state}`];
  return queue === null ? own : [...own, `queue=${queue}`];
}
