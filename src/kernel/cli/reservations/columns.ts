// Reservations in listings, and one in full.

import { headNow } from '../../api/head-time.ts';
import type { ReservationView } from '../../api/reservations.ts';
import { plural } from '../../base/plural.ts';
import { formatSize } from '../../base/size.ts';
import { formatOne, type Titled, titledLines } from '../output/one.ts';
import type { Column } from '../output/table.ts';
import { instantColumn } from '../output/times.ts';
import { formatInstant } from '../output/words.ts';

/** Columns of `weft reserve list`. */
export function reservationColumns(now: number): Column<ReservationView>[] {
  const first = (one: ReservationView) => one.slots[0];
  return [
    { title: 'NAME', value: (one) => one.name, least: 8 },
    { title: 'ID', value: (one) => one.id, wide: true },
    { title: 'FOR', value: forWords, least: 8 },
    { title: 'STATE', value: stateWords },
    instantColumn('FROM', (one) => first(one)?.from, { now }),
    instantColumn('UNTIL', (one) => first(one)?.until, { now }),
    { title: 'AGAIN', value: (one) => one.recurrence?.cron ?? '' },
    { title: 'SHARE', value: shareWords, least: 8 },
    { title: 'NODES', value: (one) => first(one)?.nodes.join(',') ?? '', least: 6 },
    { title: 'BY', value: (one) => one.createdBy, wide: true },
  ];
}

function forWords({ purpose, users, groups, jobs }: ReservationView): string {
  if (purpose === 'maintenance') return 'maintenance';
  const named = [...users, ...groups.map((name) => `@${name}`), ...jobs.map((id) => `job ${id}`)];
  return named.join(',');
}

/** Occurrences that wait for room are told where the next one is. */
function stateWords({ state, skipped }: ReservationView): string {
  const waiting = skipped.filter(({ triedUntil }) => triedUntil !== undefined).length;
  return waiting === 0 ? state : `${state}, ${waiting} without room`;
}

function shareWords({ slots: [slot] }: ReservationView): string {
  if (slot === undefined) return '';
  const { share } = slot;
  if (share === 'whole') return 'whole nodes';
  const parts = [plural(share.cpuCount, 'cpu')];
  if (share.memoryBytes > 0) parts.push(formatSize(share.memoryBytes));
  if (share.gpuCount > 0) parts.push(plural(share.gpuCount, 'gpu'));
  for (const [name, amount] of Object.entries(share.counted)) parts.push(`${amount} ${name}`);
  return parts.join(' ');
}

/** One reservation in full, as `-o` says. */
export function formatReservation(one: ReservationView, output: string | undefined) {
  return formatOne(one, output, one.name, describe);
}

function describe(one: ReservationView): string[] {
  const now = headNow();
  const { recurrence, missing, skipped, slots } = one;
  const when = ({ from, until, nodes }: ReservationView['slots'][number]): string =>
    `${formatInstant(from, now)} - ${formatInstant(until, now)} on ${nodes.join(', ')}`;
  return titledLines([
    ['Reservation', one.name === one.id ? one.id : `${one.name} (${one.id})`],
    ['For', forWords(one)],
    ['State', stateWords(one)],
    ['Share', shareWords(one)],
    ['Recurs', recurrence === null ? '' : `${recurrence.cron} (${recurrence.zone})`],
    ...slots.map((slot, at): Titled => [at === 0 ? 'Time' : 'Then', when(slot)]),
    ...missing.map(({ node, because }): Titled => ['Missing', `${node} is ${because}`]),
    ...skipped.map(({ from, because, triedUntil }): Titled => {
      const again =
        triedUntil === undefined
          ? ''
          : ` It is tried again until ${formatInstant(triedUntil, now)}.`;
      return ['Skipped', `${formatInstant(from, now)}: ${because}${again}`];
    }),
    ['Tasks', `${one.runningTasks} running, ${one.waitingTasks} waiting`],
    ['Made', `by ${one.createdBy} at ${formatInstant(one.createdAt, now)}`],
  ]);
}
