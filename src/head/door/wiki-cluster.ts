// The partitions that an external scheduler runs, as the wiki protocol asks for them.

import type { Node } from '../../core/controller/nodes/facts.ts';
import { schedulingOf } from '../../core/controller/partitions/settings.ts';
import type { Partition } from '../../core/model/scheduling.ts';
import type { WikiCluster } from '../../fabric/wiki/cluster.ts';
import type { Log } from '../../ports/log.ts';
import type { NodeLoad } from '../../wire/messages.ts';
import type { Engine } from '../engine.ts';
import { actForWiki } from './wiki-actions.ts';
import { type Told, wikiJobs } from './wiki-jobs.ts';
import { wikiNodes } from './wiki-nodes.ts';

export interface WikiWorld {
  readonly engine: Engine;
  readonly load: (name: Node['name']) => NodeLoad | null;
  readonly audit: Log;
  /** Only these of the external partitions; empty: all of them. */
  readonly partitions: readonly string[];
}

export function wikiCluster(world: WikiWorld): WikiCluster {
  const { engine, load, audit } = world;
  const told = new Map<string, Told>();
  const isMine = (name: string): boolean => isRunByWiki(world, name);
  return {
    nodes: () => wikiNodes(engine.state, partitionsOf(world), load),
    jobs: () => {
      const names = new Set(partitionsOf(world).map(({ name }) => name));
      return wikiJobs(engine.state, names, told, engine.now());
    },
    act: (action, user) => actForWiki({ engine, isMine, audit }, action, user),
  };
}

/** Whether jobs of the partition are started by whoever asks at the door. */
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
