// `weft reserve …`: time on nodes, set aside ahead for some users and jobs.

import { headNow } from '../../api/head-time.ts';
import type { ReservationView } from '../../api/reservations.ts';
import { formatDuration } from '../../base/duration.ts';
import { usage } from '../../model/failure.ts';
import { forEach } from '../jobs/each.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import { formatOne } from '../output/one.ts';
import { formatInstant } from '../output/words.ts';
import { formatReservation, reservationColumns } from '../reservations/columns.ts';
import {
  defineRequest,
  type RequestOptions,
  readRequest,
} from '../reservations/request-options.ts';
import { defineVerb, type VerbGroup } from '../verb.ts';

const create = defineVerb<RequestOptions & ListingOptions>({
  define(command) {
    defineRequest(command);
    defineListing(command);
  },
  async run({ context, options }) {
    if (options.duration === undefined)
      throw usage('--duration: say how long the reservation lasts');
    const { durationMs = 0, recurrence, ...wish } = readRequest(options);
    if (recurrence !== undefined && (options.at ?? options.within) !== undefined) {
      throw usage('--cron says when it starts; leave --at and --within out');
    }
    const body = { ...wish, durationMs, ...(recurrence === undefined ? {} : { recurrence }) };
    const api = await context.api();
    const made = await api.call('createReservation', { body });
    for (const line of formatOne(made, options.output, made.name, madeWords)) context.print(line);
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

/** Occurrences that are not set aside yet, and why. */
function skippedWords({ skipped }: ReservationView): string[] {
  const waiting = skipped.filter(({ triedUntil }) => triedUntil !== undefined);
  return waiting.map(({ from, because }) => {
    return `There is no room yet at ${formatInstant(from, headNow())}: ${because}`;
  });
}
