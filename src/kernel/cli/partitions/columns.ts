// Partitions in tables.

import type { PartitionView } from '../../api/partitions.ts';
import { formatDuration } from '../../base/duration.ts';
import type { Column } from '../output/table.ts';
import { accessWords, limitWords } from './describe.ts';

export function partitionColumns(): Column<PartitionView>[] {
  return [
    { title: 'PARTITION', value: ({ name }) => name },
    // A star: not as the config says.
    { title: 'STATE', value: ({ state, override }) => `${state}${override?.set.state ? '*' : ''}` },
    { title: 'NODES', value: ({ nodes, nodesUp }) => `${nodesUp}/${nodes.length}`, align: 'right' },
    { title: 'RUNNING', value: ({ tasksRunning }) => String(tasksRunning), align: 'right' },
    { title: 'WAITING', value: ({ tasksWaiting }) => String(tasksWaiting), align: 'right' },
    { title: 'TIME', value: ({ limits }) => timeWords(limits.walltimeMs), align: 'right' },
    { title: 'POLICY', value: ({ policy }) => policy },
    { title: 'TIER', value: ({ tier }) => String(tier), align: 'right' },
    { title: 'LIMITS', value: ({ limits }) => limitWords(limits).join(', '), wide: true },
    { title: 'FOR', value: accessWords, wide: true },
    { title: 'LABELS', value: ({ labels }) => labels.join(', '), wide: true },
  ];
}

function timeWords(ms: number | null): string {
  return ms === null ? '-' : formatDuration(ms);
}
