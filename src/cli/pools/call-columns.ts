// Calls of pools, their programs and workers, for tables.

import type { CallsView, PoolView } from '../../api/pools.ts';
import { colourOf } from '../output/paint.ts';
import type { Column } from '../output/table.ts';
import { formatSpan } from '../output/words.ts';

export function callColumns(): Column<PoolView>[] {
  return [
    { title: 'POOL', value: ({ id }) => String(id), align: 'right' },
    { title: 'NAME', value: ({ name }) => name ?? '-', least: 8 },
    { title: 'USER', value: ({ owner }) => owner, least: 8 },
    { title: 'PROGRAMS', value: ({ calls }) => amount(calls?.clients), align: 'right' },
    { title: 'WAITING', value: ({ calls }) => amount(calls?.waiting), align: 'right' },
    { title: 'AT WORKERS', value: ({ calls }) => amount(calls?.running), align: 'right' },
    { title: 'DONE', value: ({ calls }) => amount(calls?.done), align: 'right' },
    { title: 'WORKERS', value: ({ calls }) => amount(calls?.workers), align: 'right' },
  ];
}

export function clientColumns(): Column<CallsView['clients'][number]>[] {
  return [
    { title: 'PROGRAM', value: ({ label }) => label, least: 12 },
    { title: 'SESSION', value: ({ session }) => session },
    { title: 'STATE', value: ({ isAway }) => (isAway ? 'away' : 'connected'), colour: colourOf },
    { title: 'WAITING', value: ({ waiting }) => String(waiting), align: 'right' },
    { title: 'OPEN', value: ({ open }) => String(open), align: 'right' },
    { title: 'DONE', value: ({ done }) => String(done), align: 'right' },
  ];
}

export function workerColumns(): Column<CallsView['workers'][number]>[] {
  return [
    { title: 'WORKER', value: ({ name }) => name, least: 12 },
    { title: 'STATE', value: ({ state }) => state, colour: colourOf },
    { title: 'CALLS', value: ({ calls }) => String(calls), align: 'right' },
    { title: 'DONE', value: ({ done }) => String(done), align: 'right' },
    { title: 'RUNS', value: runningWords },
  ];
}

/** `call 7 of sum.ts for 2s`. */
function runningWords({ running }: CallsView['workers'][number]): string {
  if (running === null) return '-';
  const { client, call, attempt, forMs } = running;
  const again = attempt > 1 ? `, attempt ${attempt}` : '';
  return `call ${call} of ${client} for ${formatSpan(forMs)}${again}`;
}

function amount(count: number | undefined): string {
  return count === undefined ? '-' : String(count);
}
