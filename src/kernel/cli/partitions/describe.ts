// A partition in words.

import type { PartitionView } from '../../api/partitions.ts';
import { formatDuration } from '../../base/duration.ts';
import { formatSize } from '../../base/size.ts';
import { titledLines } from '../output/one.ts';
import { formatInstant } from '../output/words.ts';

export function formatPartition(partition: PartitionView, now: number): string[] {
  const { name, nodes, nodesUp, nodesMissing, tasksRunning, tasksWaiting } = partition;
  return titledLines([
    ['Partition', name],
    ['State', partition.state],
    ['Policy', `${partition.policy}, placement ${partition.placement}`],
    ['Tier', `${partition.tier}, preempt ${partition.preempt}`],
    ['Priority', String(partition.priority)],
    ['Set', overrideWords(partition, now)],
    ['Limits', limitWords(partition.limits).join(', ')],
    ['For', accessWords(partition)],
    ['Labels', partition.labels.join(', ')],
    ['Nodes', `${nodesUp} of ${nodes.length} up${nodes.length > 0 ? `: ${nodes.join(', ')}` : ''}`],
    ['Not joined', nodesMissing.join(', ')],
    ['Tasks', `${tasksRunning} running, ${tasksWaiting} waiting`],
  ]);
}

/** `the config says state up, set to down by olga at …`. */
function overrideWords({ override }: PartitionView, now: number): string {
  if (override === null) return '';
  const { set, configured, by, at } = override;
  const words = Object.entries(set).map(([word, value]) => {
    const before = (configured as Record<string, unknown>)[word];
    return `the config says ${word} ${before}, set to ${value}`;
  });
  return `${words.join('; ')} by ${by} at ${formatInstant(at, now)}`;
}

export function limitWords(limits: PartitionView['limits']): string[] {
  const { walltimeMs, walltimeDefaultMs, nodesPerTask, tasksPerUser, memoryPerNodeBytes } = limits;
  const words = [];
  if (walltimeMs !== null) words.push(`time ${formatDuration(walltimeMs)}`);
  if (walltimeDefaultMs !== null) words.push(`default time ${formatDuration(walltimeDefaultMs)}`);
  if (nodesPerTask !== null) words.push(`${nodesPerTask} nodes to a task`);
  if (tasksPerUser !== null) words.push(`${tasksPerUser} running tasks of a user`);
  if (memoryPerNodeBytes !== null) words.push(`${formatSize(memoryPerNodeBytes)} memory on a node`);
  return words;
}

/** Words for the users who may use a partition. */
export function accessWords({ users, groups }: Pick<PartitionView, 'users' | 'groups'>): string {
  if (users === null && groups === null) return 'everybody';
  const words = [...(users ?? []), ...(groups ?? []).map((group) => `group ${group}`)];
  return words.length === 0 ? 'nobody' : words.join(', ');
}
