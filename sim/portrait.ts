// The indexes of a state as plain values, so that those kept step by step can be compared with
// those built from the facts.

import type { State } from '../src/kernel/machine/state.ts';

export function portraitOfIndexes({ indexes, nodes, environments }: State): object {
  const { queue, pool, held, waiting, dependents, beginning, preempted, environmentIds, foreign } =
    indexes;
  return {
    queue: [...queue.groups.values()]
      .flatMap(({ key, entries }) => [...entries].map((entry) => `${key} ${entry.jobId}`))
      .sort(),
    pool: [...nodes.keys()].map((name) => {
      const view = pool.get(name);
      return [name, view === undefined ? null : { ...view, running: [...view.running] }];
    }),
    held: [...held].sort(byKey),
    waiting: [...waiting].sort(byKey),
    dependents: [...dependents]
      .map(([on, jobs]) => `${on} < ${[...jobs].sort((a, b) => a - b)}`)
      .sort(),
    beginning: [...beginning].sort((a, b) => a - b),
    foreign: [...foreign].sort(byKey),
    preempted: [...preempted].map(({ id }) => id).sort(),
    environments: [...environments].map(([id, { text, users }]) => {
      return [id, users, environmentIds.get(text) ?? null];
    }),
  };
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
