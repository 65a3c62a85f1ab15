// `weft reserve …`: time on nodes, set aside ahead for some users and jobs.

import { headNow } from '../../api/head-time.ts';
import type { MadeReservation, ReservationView } from '../../api/reservations.ts';
import { formatDuration } from '../../base/duration.ts';
import { plural } from '../../base/plural.ts';
import { formatSize } from '../../base/size.ts';
import { usage } from '../../model/failure.ts';
import type { Context } from '../context.ts';
import { forEach } from '../jobs/each.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import { formatOne, type Titled, titledLines } from '../output/one.ts';
import { byOwnClock } from '../output/prose.ts';
import type { Column } from '../output/table.ts';
import { instantColumn } from '../output/times.ts';
import { formatInstant } from '../output/words.ts';
import {
  defineRequest,
  type RequestOptions,
  readRequest,
} from '../reservations/request-options.ts';
import { listed } from '../submit/read.ts';
import { defineVerb, type VerbGroup } from '../verb.ts';

const create = defineVerb<RequestOptions & ListingOptions>({
  define(command) {
    defineRequest(command);
    defineListing(command);
  },
  async run({ context, options }) {
    if (options.duration === undefined)
      throw usage('--duration: say how long the reservation lasts');
    refuseNobody(options);
    const { durationMs = 0, recurrence, ...wish } = readRequest(options);
    if (recurrence !== undefined && (options.at ?? options.within) !== undefined) {
      throw usage('--cron says when it starts; leave --at and --within out');
    }
    const body = { ...wish, durationMs, ...(recurrence === undefined ? {} : { recurrence }) };
    const api = await context.api();
    const made = await api.call('createReservation', { body });
    for (const line of formatOne(made, options.output, made.name, madeWords)) context.print(line);
    const lack = lackWords(made);
    if (lack !== null) context.note(lack);
    noteUnknown(context, made);
    return 0;
  },
});

const change = defineVerb<RequestOptions & { once?: boolean }>({
  define(command) {
    command.argument('<reservation>', 'id or name');
    defineRequest(command);
    command.option('--once', 'stop its recurrence');
  },
  async run({ context, args: [name = ''], options }) {
    const wish = readRequest(options);
    const body = options.once === true ? { ...wish, recurrence: null } : wish;
    if (Object.keys(body).length === 0) throw usage('there is nothing to change');
    const api = await context.api();
    const changed = await api.call('changeReservation', { params: { name }, body });
    context.print(`Reservation ${changed.name} is changed.`);
    noteUnknown(context, changed);
    for (const line of skippedWords(changed)) context.print(line);
    return 0;
  },
});

const list = defineVerb<ListingOptions>({
  define: defineListing,
  async run({ context, options }) {
    const api = await context.api();
    const { reservations } = await api.call('listReservations');
    const name = (one: ReservationView) => one.name;
    const listing = { rows: reservations, columns: reservationColumns(headNow()), name };
    await context.list({ ...listing, empty: 'No reservations.' }, options.output);
    return 0;
  },
});

const show = defineVerb<ListingOptions>({
  define(command) {
    command.argument('<reservation>', 'id or name');
    defineListing(command);
  },
  async run({ context, args: [name = ''], options }) {
    const api = await context.api();
    const one = await api.call('getReservation', { params: { name } });
    for (const line of formatReservation(one, options.output)) context.print(line);
    return 0;
  },
});

const cancel = defineVerb({
  define: (command) => void command.argument('<reservation...>', 'ids or names'),
  async run({ context, args }) {
    const api = await context.api();
    return forEach(context, args, async (name) => {
      await api.call('cancelReservation', { params: { name } });
      context.print(`Reservation ${name} is cancelled; its running tasks go on.`);
    });
  },
});

export const verb: VerbGroup = {
  verbs: {
    create: { summary: 'reserve nodes for a time', verb: create },
    list: { summary: 'list reservations and maintenance', verb: list },
    show: { summary: 'show one reservation', verb: show },
    change: { summary: 'change a reservation', verb: change },
    cancel: { summary: 'cancel reservations', verb: cancel },
  },
};

function madeWords(made: ReservationView): string[] {
  const { name, slots, durationMs } = made;
  const [slot] = slots;
  if (slot === undefined) return [];
  const when = `from ${formatInstant(slot.from, headNow())} for ${formatDuration(durationMs)}`;
  const again = slots.length > 1 ? `, and ${slots.length - 1} times after that` : '';
  return [`Reservation ${name}: ${slot.nodes.join(', ')} ${when}${again}.`, ...skippedWords(made)];
}

function noteUnknown(context: Context, made: MadeReservation): void {
  const { name, unknownUsers = [], unknownGroups = [] } = made;
  const note = (names: readonly string[], what: string, by: string): void => {
    if (names.length === 0) return;
    const as =
      names.length === 1 ? `is not known here as a ${what}` : `are not known here as ${what}s`;
    const way = `\`weft reserve change ${name} --${what}s …\` puts a name right`;
    context.note(`${names.join(', ')} ${as}${by}; ${way}`);
  };
  note(unknownUsers, 'user', ', by account or token');
  note(unknownGroups, 'group', '');
}

/** A list of nobody, as of a variable that is empty, does not mean whoever gives it. */
function refuseNobody(options: RequestOptions): void {
  for (const flag of ['users', 'groups', 'jobs'] as const) {
    if (listed(options[flag])?.length !== 0) continue;
    throw usage(`--${flag}: no name is given; leave it out for a reservation of your own`);
  }
}

/** Warning that a share has no cpus or no memory, of which usual jobs ask for some; null: none. */
function lackWords({ name, slots: [slot] }: ReservationView): string | null {
  if (slot === undefined || slot.share === 'whole') return null;
  const { cpuCount, memoryBytes } = slot.share;
  if (cpuCount > 0 && memoryBytes > 0) return null;
  const lack = [cpuCount > 0 ? [] : ['cpus'], memoryBytes > 0 ? [] : ['memory']].flat();
  const give = lack.map((one) => `--${one}`).join(' and ');
  const who = lack.length > 1 ? 'no job' : `only a job with --${lack[0]} 0`;
  return `Reservation ${name} has no ${lack.join(' and no ')}: ${who} can run in it. Give ${give}, too.`;
}

/** Occurrences that are not set aside yet, and why. */
function skippedWords({ skipped }: ReservationView): string[] {
  const now = headNow();
  const waiting = skipped.filter(({ triedUntil }) => triedUntil !== undefined);
  return waiting.map(({ from, because }) => {
    return `There is no room yet at ${formatInstant(from, now)}: ${byOwnClock(because, now)}`;
  });
}

/** Columns of `weft reserve list`. */
function reservationColumns(now: number): Column<ReservationView>[] {
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
function formatReservation(one: ReservationView, output: string | undefined) {
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
      return ['Skipped', `${formatInstant(from, now)}: ${byOwnClock(because, now)}${again}`];
    }),
    ['Tasks', `${one.runningTasks} running, ${one.waitingTasks} waiting`],
    ['Made', `by ${one.createdBy} at ${formatInstant(one.createdAt, now)}`],
  ]);
}
