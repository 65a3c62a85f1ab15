// What a scheduler from outside sees of nodes and jobs, as the site's configuration says it.

export interface FilterRule {
  readonly name: string;
  readonly over: 'nodes' | 'jobs';
  /** Labels or expressions that it must meet, all of them; none: it is for everything. */
  readonly when: readonly string[];
  /** Not shown at all, and nothing may be done to it. */
  readonly hide: boolean;
  /** Labels more than it has. */
  readonly add: readonly string[];
  /** The queue that it is shown in; null: its own. */
  readonly queue: string | null;
}
