// Keys of gpus that tasks hold and do not use: a rule for each partition that has one.

import { key } from '../../../kernel/config/key.ts';
import type { KeysPart } from '../../../kernel/config/schema.ts';
import type { Entries, EntryProblem, PlacedTable } from '../../../kernel/config/table.ts';

export const BELOW_DEFAULT = 5;
export const FOR_DEFAULT_MS = 1_800_000;

const RULES: PlacedTable = {
  section: 'gpu_idle',
  before: 'partitions',
  entry: 'a rule for the gpus of a partition',
  fields: [
    key(
      'below',
      'number',
      String(BELOW_DEFAULT),
      'Percent of its time that a gpu works; with less it is idle.',
      { min: 0, max: 100 },
    ),
    key('for', 'duration', '30m', 'A task whose gpus have all been idle for so long is named.', {
      min: 10_000,
    }),
    key(
      'hold_after',
      'duration',
      null,
      'And put back to the queue, held, after so long; default: never.',
      { min: 10_000 },
    ),
    key('end_after', 'duration', null, 'And ended after so long; default: never.', {
      min: 10_000,
    }),
  ],
  check: checkTimes,
};

/** Nobody is held or ended before it was said. */
function* checkTimes(rules: Entries): Generator<EntryProblem> {
  for (const [name, fields] of rules) {
    const ways = (['hold_after', 'end_after'] as const).filter((way) => fields.has(way));
    if (ways.length > 1) yield { name, what: 'hold_after and end_after exclude each other' };
    for (const way of ways) {
      const after = fields.get(way);
      if (typeof after === 'number' && after < forMsOf(fields))
        yield { name, what: `${way} is shorter than for` };
    }
  }
}

export function forMsOf(fields: ReadonlyMap<string, unknown>): number {
  return (fields.get('for') as number | undefined) ?? FOR_DEFAULT_MS;
}

/** What the wing adds to the configuration. */
export const keys: KeysPart = { place: { before: 'up.nodes' }, tables: [RULES], keys: [] };
