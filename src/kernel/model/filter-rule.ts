// What a scheduler sees of nodes, jobs and queues, as the site's configuration says it.

export interface FilterRule {
  readonly name: string;
  readonly over: 'nodes' | 'jobs' | 'queues';
  /** Labels or expressions that it must meet, all of them; none: it is for everything. */
  readonly when: readonly string[];
  /** Not shown at all, and nothing may be done to it. */
  readonly hide: boolean;
  /** Labels more than it has. */
  readonly add: readonly string[];
  /** The queue that it is shown in; null: its own. */
  readonly queue: string | null;
  /** The partition that jobs are put into; absent: the default one. */
  readonly partition?: string;
  /** What a node or queue is called instead. */
  readonly rename?: Rename;
  /** The source whose labels of it, by its name, it has from then on. */
  readonly data?: string;
}

/** Names of this form get that one; a `*` in both is the same part of the name. */
export interface Rename {
  readonly from: string;
  readonly to: string;
}

/** Where labels for nodes, jobs or queues come from: JSON, `{"n1": ["rack=3", "gpu"]}`. */
export interface FilterSource {
  readonly name: string;
  readonly from:
    | { readonly kind: 'file'; readonly path: string }
    | { readonly kind: 'command'; readonly argv: readonly string[] }
    | { readonly kind: 'url'; readonly url: string };
  /** Between two readings. */
  readonly everyMs: number;
  readonly timeoutMs: number;
}

export interface SiteFilters {
  readonly rules: readonly FilterRule[];
  readonly sources: readonly FilterSource[];
}

export const NO_FILTERS: SiteFilters = { rules: [], sources: [] };

/** What the rules make of one node, job or queue. */
export interface Seen {
  /** The rule that hides it; null: it is shown. */
  readonly hiddenBy: string | null;
  readonly labels: readonly string[];
  readonly queue: string | null;
  readonly partition: string | null;
  /** A node's or queue's name here; null: its own. */
  readonly name: string | null;
  /** All rules that were for it. */
  readonly rules: readonly string[];
}

/** How rules and sources of a site fare. */
export interface FilterState {
  readonly rules: readonly RuleState[];
  readonly sources: readonly SourceState[];
  /** Why the rules cannot be read (those before hold), or which names clash; null: all is well. */
  readonly problem: string | null;
}

export interface RuleState {
  readonly name: string;
  readonly over: FilterRule['over'];
  readonly matched: number;
  readonly of: number;
}

export interface SourceState {
  readonly name: string;
  /** Age of what is in force; null: it was never read. */
  readonly ageMs: number | null;
  /** Why the last reading failed; null: it did not. */
  readonly problem: string | null;
}

/** What is suspicious about a rule, in words; null: nothing, or nothing is there for it yet. */
export function ruleWarning({ over, matched, of }: RuleState): string | null {
  if (of === 0) return null;
  if (matched === 0) return `matches none of ${of} ${over}`;
  return matched === of && of > 1 ? `matches all ${of} ${over}` : null;
}
