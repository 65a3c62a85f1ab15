// Columns of node listings.

import { gpusInUse } from '../../api/gpus-in-use.ts';
import type { NodeView } from '../../api/nodes.ts';
import { formatSize } from '../../base/size.ts';
import { labelsForPeople } from '../../model/own-labels.ts';
import { colourOf } from '../output/paint.ts';
import { byOwnClock } from '../output/prose.ts';
import type { Column } from '../output/table.ts';
import { formatInstant, formatSpan } from '../output/words.ts';
import { cardRemark } from './card-words.ts';
import { newestOf, presenceText } from './presence-words.ts';

/** The one word that says most: maintenance, then `drained`, then `up`, as `in_use` or `idle`. */
export function nodeState(node: NodeView): string {
  // A node may come and go in its maintenance.
  if (node.maintenance?.begun === true) return 'maintenance';
  if (node.state !== 'up') {
    const away = node.state.replace('_', ' ');
    return node.drained === null ? away : `${away}, drained`;
  }
  if (node.drained !== null) return node.running.length > 0 ? 'draining' : 'drained';
  if (node.fault !== null) return node.fault;
  if (node.paused !== null) return 'paused';
  return node.running.length > 0 ? 'in use' : 'idle';
}

/** Which directories the node shares is said elsewhere. */
function ownLabels(node: NodeView): string {
  return labelsForPeople(node.labels)
    .filter((label) => !label.startsWith('shared='))
    .join(',');
}

export function nodeColumns(now: number): Column<NodeView>[] {
  return [
    { title: 'NODE', value: (node) => node.name },
    { title: 'STATE', value: nodeState, colour: colourOf },
    { title: 'TASKS', value: (node) => String(node.running.length), align: 'right' },
    usedColumn('CPUS', 'cpuCount', String),
    usedColumn('MEMORY', 'memoryBytes', formatSize),
    usedColumn('GPUS', 'gpuCount', String),
    {
      title: 'LOAD',
      value: (node) => node.load?.load1.toFixed(2) ?? '-',
      raw: (node) => node.load?.load1 ?? null,
      align: 'right',
      wide: true,
    },
    {
      title: 'SEEN',
      value: (node) => seen(node, now),
      raw: (node) => seenAt(node, now),
      align: 'right',
      wide: true,
    },
    { title: 'LABELS', value: (node) => ownLabels(node) || '-', least: 8 },
    { title: 'SHARED', value: (node) => node.sharedPaths.join(',') || '-', wide: true },
    { title: 'LIMITS', value: (node) => String(node.facts?.['limits'] ?? '-'), wide: true },
    { title: 'VERSION', value: (node) => String(node.facts?.['agentVersion'] ?? '-'), wide: true },
    { title: 'REMARK', value: (node) => remark(node, now), least: 12 },
  ];
}

/** What a listing remarks of a node, with times as the reader's own clock has them. */
export function remark(node: NodeView, now: number): string {
  if (node.paused === null || nodeState(node) !== 'paused') {
    return node.reason === null ? cardRemark(node) : byOwnClock(node.reason, now);
  }
  return pauseText(node.paused, node.presence ?? [], now);
}

/** `paused by alice until 15:04:00`. */
function pauseText(
  paused: NonNullable<NodeView['paused']>,
  presence: NonNullable<NodeView['presence']>,
  now: number,
): string {
  if (paused.kind === 'owner') {
    return `paused by ${paused.by} until ${formatInstant(paused.until, now)}`;
  }
  const seen = newestOf(presence);
  if (seen === null) {
    return `paused: owner active since ${formatInstant(paused.since, now)} (${paused.why})`;
  }
  const words = seen.state === 'in_use' ? 'owner active' : 'owner was active';
  return `paused: ${words} (${presenceText(seen, now)})`;
}

/** `1/2`: what is taken of what is there; two columns where programs read it. */
function usedColumn(
  title: string,
  what: 'cpuCount' | 'memoryBytes' | 'gpuCount',
  format: (amount: number) => string,
): Column<NodeView> {
  const used = (node: NodeView) =>
    what === 'gpuCount' ? gpusInUse(node) : node.total[what] - node.free[what];
  return {
    title,
    align: 'right',
    value: (node) => {
      const total = node.total[what];
      return total === 0 ? '-' : `${format(used(node))}/${format(total)}`;
    },
    facts: [
      { title, raw: ({ total }) => total[what] },
      { title: `${title} USED`, raw: used },
    ],
  };
}

function seenAt({ state, lastSeenAt }: NodeView, now: number): Date | null {
  if (state === 'up') return new Date(now);
  return lastSeenAt === null ? null : new Date(lastSeenAt);
}

function seen(node: NodeView, now: number): string {
  if (node.state === 'up') return 'now';
  return node.lastSeenAt === null ? 'never' : `${formatSpan(now - node.lastSeenAt)} ago`;
}
