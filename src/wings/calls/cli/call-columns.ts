// Calls of pools, their programs and workers, for tables.

import { colourOf } from '../../../kernel/cli/output/paint.ts';
import type { Column } from '../../../kernel/cli/output/table.ts';
import { formatSpan } from '../../../kernel/cli/output/words.ts';
import type { CallsView, PoolView } from '../api/pools.ts';

export function callColumns(): Column<PoolView>[] {
  return [
    { title: 'POOL', value: ({ id }) => String(id), align: 'right' },
    { title: 'NAME', value: ({ name }) => name ?? '-', least: 8 },
    { title: 'USER', value: ({ owner }) => owner, least: 8 },
    { title: 'PROGRAMS', value: ({ calls }) => amount(calls?.clients), align: 'right' },
    { title: 'WAITING', value: ({ calls }) => amount(calls?.waiting), align: 'right' },
    { title: 'AT WORKERS', value: ({ calls }) => amount(calls?.running), align: 'right' },
    { title: 'DONE', value: ({ calls }) => amount(calls?.done), align: 'right' },
    { title: 'FAILED', value: ({ calls }) => amount(calls?.failed), align: 'right' },
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
    { title: 'FAILED', value: ({ failed }) => String(failed), align: 'right' },
    { title: 'PER SECOND', value: ({ speed }) => rate(speed), align: 'right' },
    { title: 'P50', value: ({ speed }) => shortSpan(speed?.p50Ms), align: 'right' },
    { title: 'P99', value: ({ speed }) => shortSpan(speed?.p99Ms), align: 'right' },
  ];
}

export function workerColumns(): Column<CallsView['workers'][number]>[] {
  return [
    { title: 'WORKER', value: ({ name }) => name, least: 12 },
    { title: 'STATE', value: ({ state }) => state, colour: colourOf },
    { title: 'CALLS', value: ({ calls }) => String(calls), align: 'right' },
    { title: 'DONE', value: ({ done }) => String(done), align: 'right' },
    { title: 'FAILED', value: ({ failed }) => String(failed), align: 'right' },
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

/** `70 calls done`, and how many of them failed. */
export function doneWords({ done, failed }: Pick<CallsView, 'done' | 'failed'>): string {
  return `${done} calls done${failed === 0 ? '' : `, ${failed} of them failed`}`;
}

/** Words for how fast calls have ended lately; empty when none has. */
export function speedWords({ speed }: Pick<CallsView, 'speed'>): string {
  if (speed === null) return '';
  const { p50Ms, p99Ms } = speed;
  const half = `half within ${shortSpan(p50Ms)}`;
  return `; ${rate(speed)} a second lately, ${half}, 99 of 100 within ${shortSpan(p99Ms)}`;
}

function rate(speed: CallsView['speed']): string {
  if (speed === null) return '-';
  const { perSecond } = speed;
  return perSecond < 10 ? perSecond.toFixed(1) : String(Math.round(perSecond));
}

/** `0.42 ms`, `17 ms`, `3.1 s`, `250 s`. */
function shortSpan(ms: number | undefined): string {
  if (ms === undefined) return '-';
  const [value, unit] = ms < 1000 ? [ms, 'ms'] : [ms / 1000, 's'];
  return `${value < 1 ? value.toFixed(2) : value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

function amount(count: number | undefined): string {
  return count === undefined ? '-' : String(count);
}
