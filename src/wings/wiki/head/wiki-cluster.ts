// The partitions that an external scheduler runs, as the wiki protocol asks for them.

import type { Engine } from '../../../kernel/head/engine.ts';
import type { Node } from '../../../kernel/machine/nodes/facts.ts';
import { schedulingOf } from '../../../kernel/machine/partitions/settings.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { FilterRule, Seen } from '../../../kernel/model/filter-rule.ts';
import { parseTaskId } from '../../../kernel/model/ids.ts';
import type { Partition } from '../../../kernel/model/scheduling.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { NodeLoad } from '../../../kernel/wire/messages.ts';
import type { WikiCluster } from '../fabric/cluster.ts';
import type { WikiRecord } from '../fabric/reply.ts';
import { filteredJob } from './filtered.ts';
import { actForWiki } from './wiki-actions.ts';
import { type ReportedTask, wikiJobs } from './wiki-jobs.ts';
import { wikiFeature, wikiNodes } from './wiki-nodes.ts';

export interface WikiWorld {
  readonly engine: Engine;
  readonly load: (name: Node['name']) => NodeLoad | null;
  readonly audit: Log;
  /** Only these of the external partitions; empty: all of them. */
  readonly partitions: readonly string[];
  /** What the site lets the scheduler see. */
  readonly rules: readonly FilterRule[];
}

export function wikiCluster(world: WikiWorld): WikiCluster {
  const { engine, load, audit, rules } = world;
  const told = new Map<string, ReportedTask>();
  const isMine = (name: string): boolean => isRunByWiki(world, name);
  return {
    nodes: () => wikiNodes(engine.state, partitionsOf(world), load, rules),
    jobs: () => {
      const names = new Set(partitionsOf(world).map(({ name }) => name));
      return annotated(engine.state, rules, wikiJobs(engine.state, names, told, engine.now()));
    },
    act: (action, user) => actForWiki({ engine, isMine, audit, rules }, action, user),
  };
}

/** Jobs as the filters have them. */
function* annotated(
  { jobs }: State,
  rules: readonly FilterRule[],
  records: Iterable<WikiRecord>,
): Generator<WikiRecord> {
  for (const record of records) {
    const place = parseTaskId(record.id);
    const job = place.ok ? jobs.get(place.value.jobId) : undefined;
    const seen = job === undefined ? null : filteredJob(rules, job);
    if (seen === null) yield record;
    else if (seen.hiddenBy === null) yield { ...record, fields: fieldsOf(record, seen) };
  }
}

function fieldsOf({ fields }: WikiRecord, { labels, queue }: Seen): WikiRecord['fields'] {
  const features = fields.find(([name]) => name === 'RFEATURES')?.[1] ?? [];
  const all = [...(Array.isArray(features) ? features : []), ...labels.map(wikiFeature)];
  const changed = fields.flatMap((field): WikiRecord['fields'] => {
    if (field[0] === 'RFEATURES') return [];
    if (field[0] !== 'RCLASS' || queue === null) return [field];
    return [['RCLASS', { counts: { [queue]: 1 } }]];
  });
  return all.length === 0 ? changed : [...changed, ['RFEATURES', all]];
}

/** Whether jobs of the partition are started by whoever asks at the listener. */
export function isRunByWiki(
  world: Pick<WikiWorld, 'engine' | 'partitions'>,
  name: string,
): boolean {
  return partitionsOf(world).some((one) => one.name === name);
}

function partitionsOf({
  engine,
  partitions,
}: Pick<WikiWorld, 'engine' | 'partitions'>): Partition[] {
  const all = Object.values(schedulingOf(engine.state, engine.settings).partitions);
  return all.filter(({ name, policy }) => {
    return policy === 'external' && (partitions.length === 0 || partitions.includes(name));
  });
}
