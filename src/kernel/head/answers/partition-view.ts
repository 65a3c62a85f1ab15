// Partitions and qualities of service as the API shows them.

import type { PartitionView, QosView } from '../../api/partitions.ts';
import { waitingSize } from '../../machine/jobs/behind.ts';
import type { Job } from '../../machine/jobs/facts.ts';
import type { Node } from '../../machine/nodes/facts.ts';
import { labelsOf, mayGetWork } from '../../machine/nodes/view.ts';
import { schedulingOf } from '../../machine/partitions/settings.ts';
import type { State } from '../../machine/state.ts';
import { numbersIn } from '../../model/caps.ts';
import {
  DEFAULT_QOS,
  isMember,
  type Partition,
  type PartitionChange,
  partitionOf,
  qosOf,
} from '../../model/scheduling.ts';
import type { Settings } from '../../model/settings.ts';

interface Load {
  running: number;
  waiting: number;
}

export function viewPartitions(state: State, settings: Settings): PartitionView[] {
  const { partitions } = schedulingOf(state, settings);
  const loads = countBy(state, (job) => job.spec.partition);
  const nodes = [...state.nodes.values()].map((node) => {
    return { node, outline: { name: node.name, labels: labelsOf(node) } };
  });
  return Object.values(partitions).map((partition) => {
    const members = nodes.filter(({ outline }) => isMember(partition, outline));
    return {
      ...ownFields(partition),
      ...nodeFields(members.map(({ node }) => node)),
      nodesMissing: (partition.nodes ?? []).filter((name) => !state.nodes.has(name)),
      ...loadFields(loads.get(partition.name)),
      override: overrideOf(state, settings, partition.name),
    };
  });
}

/** `normal`, and those that the config names. */
export function viewQualities(state: State, { scheduling }: Settings): QosView[] {
  const names = new Set([DEFAULT_QOS, ...Object.keys(scheduling.qualities)]);
  const loads = countBy(state, (job) => job.entry.qos);
  return [...names].map((name) => {
    const { users, groups, gpusPerUser, ...qos } = qosOf(scheduling, name);
    const gpus = gpusPerUser === undefined ? {} : { gpusPerUser: numbersIn(gpusPerUser) };
    return { ...qos, ...gpus, ...accessFields({ users, groups }), ...loadFields(loads.get(name)) };
  });
}

function ownFields({ nodes: _, ...partition }: Partition) {
  const { labels, limits } = partition;
  return { ...partition, labels: [...labels], limits: { ...limits }, ...accessFields(partition) };
}

function accessFields({ users, groups }: Pick<Partition, 'users' | 'groups'>) {
  return {
    users: users === null ? null : [...users],
    groups: groups === null ? null : [...groups],
  };
}

function nodeFields(members: readonly Node[]) {
  return {
    nodes: members.map((node) => node.name),
    nodesUp: members.filter(mayGetWork).length,
  };
}

function loadFields(load: Load | undefined) {
  return { tasksRunning: load?.running ?? 0, tasksWaiting: load?.waiting ?? 0 };
}

function overrideOf(state: State, { scheduling }: Settings, name: string) {
  const override = state.partitions.get(name);
  const configured = partitionOf(scheduling, name);
  if (override === undefined || configured === null) return null;
  const { change, by, at } = override;
  const words = Object.keys(change) as (keyof PartitionChange)[];
  const said = Object.fromEntries(words.map((word) => [word, configured[word]]));
  return { set: change, configured: said as PartitionChange, by, at };
}

function countBy(state: State, groupOf: (job: Job) => string): Map<string, Load> {
  const loads = new Map<string, Load>();
  for (const job of state.jobs.values()) {
    if (job.outcome !== null) continue;
    const name = groupOf(job);
    const load = loads.get(name) ?? { running: 0, waiting: 0 };
    loads.set(name, load);
    load.running += job.entry.running;
    load.waiting += waitingSize(job);
  }
  return loads;
}
