// The schedule as a table: a line for each task.

import type { ScheduleBar } from '../../api/schedule.ts';
import { colourOf } from '../output/paint.ts';
import type { Column } from '../output/table.ts';
import { instantColumn } from '../output/times.ts';

export function scheduleColumns(now: number): Column<ScheduleBar>[] {
  return [
    { title: 'TASK', value: ({ id }) => id },
    { title: 'NAME', value: ({ name }) => name || '-', least: 8 },
    { title: 'USER', value: ({ owner }) => owner || '-', least: 8 },
    { title: 'STATE', value: stateWord, colour: (words) => colourOf(words) ?? 'yellow' },
    instantColumn('FROM', ({ from }) => from, { now }),
    instantColumn('UNTIL', ({ until }) => until, { now, none: 'no limit' }),
    { title: 'NODES', value: ({ nodes }) => nodes.join(',') || '-', least: 6 },
  ];
}

function stateWord({ kind, word, guess }: ScheduleBar): string {
  if (kind !== 'planned') return word;
  return guess === undefined ? 'planned' : 'guessed';
}
