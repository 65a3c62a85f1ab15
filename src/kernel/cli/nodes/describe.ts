// One node in full, for people.

import { headNow } from '../../api/head-time.ts';
import type { NodeView } from '../../api/nodes.ts';
import { plural } from '../../base/plural.ts';
import { formatSize } from '../../base/size.ts';
import { labelsForPeople } from '../../model/own-labels.ts';
import { type Titled, titledLines } from '../output/one.ts';
import { colourOf, type Paint } from '../output/paint.ts';
import { formatInstant } from '../output/words.ts';
import { cardLines } from './card-words.ts';
import { clockWords } from './clock-words.ts';
import { nodeState, remark } from './columns.ts';
import { presenceLine } from './presence-words.ts';

/** Lines of titles and values. */
export function describeNode(node: NodeView, paint: Paint): string[] {
  const now = headNow();
  const lines: Titled[] = [
    ['Node', node.name],
    ['State', nodeState(node), colourOf(nodeState(node))],
    ['Why', remark(node, now)],
    ['Drained', node.drained === null ? '' : drainWords(node.drained, now)],
    ['Paused', node.paused === null ? '' : pausedLine(node.paused, now)],
    ...(node.presence ?? []).map((one): Titled => ['Owner', presenceLine(one, now)]),
    ['Total', amounts(node.total)],
    ['Free', amounts(node.free)],
    ...cardLines(node),
    ['Tasks', node.running.join(', ')],
    ['Labels', labelsForPeople(node.labels).join(', ')],
    ['Shared', node.sharedPaths.join(', ')],
    ['Clock', clockWords(node)],
    ...seenLines(node, now),
    ...Object.entries(node.facts ?? {}).map(([name, value]) => factLine(name, value)),
  ];
  return titledLines(lines, 16, paint);
}

/** A head that keeps no other time tells of a connected node since when it is. */
function seenLines({ state, lastSeenAt, connectedAt }: NodeView, now: number): Titled[] {
  const since = connectedAt ?? (state === 'up' ? lastSeenAt : null);
  const isKnown = state !== 'up' || connectedAt !== undefined;
  return [
    ...(since === null ? [] : [['Connected', `since ${formatInstant(since, now)}`] as const]),
    ...(isKnown ? [['Last seen', formatInstant(lastSeenAt, now)] as const] : []),
  ];
}

function drainWords(drained: NonNullable<NodeView['drained']>, now: number): string {
  return `by ${drained.by} at ${formatInstant(drained.at, now)}: ${drained.reason}`;
}

function pausedLine(paused: NonNullable<NodeView['paused']>, now: number): string {
  const tasks = paused.requeue ? 'tasks that may be requeued go elsewhere' : 'tasks are suspended';
  return `since ${formatInstant(paused.since, now)}; ${tasks}`;
}

function amounts(resources: NodeView['total']): string {
  const parts = [plural(resources.cpuCount, 'cpu'), `${formatSize(resources.memoryBytes)} memory`];
  if (resources.gpuCount > 0) parts.push(plural(resources.gpuCount, 'gpu'));
  for (const [name, count] of Object.entries(resources.counted)) parts.push(`${count} ${name}`);
  return parts.join(', ');
}

function factLine(name: string, value: string | number | boolean): [string, string] {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const title = words.replace(/ bytes$/, '').replace(/^./, (letter) => letter.toUpperCase());
  const size = name.endsWith('Bytes') && typeof value === 'number';
  return [title, size ? formatSize(value) : String(value)];
}
