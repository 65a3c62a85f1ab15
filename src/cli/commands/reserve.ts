// `weft reserve …`: time on nodes, set aside ahead for some users and jobs.

import type { Command } from 'commander';
import type { ReservationView } from '../../api/reservations.ts';
import { DURATION_FORMS, formatDuration } from '../../core/base/duration.ts';
import { formatSize } from '../../core/base/size.ts';
import { parseNodeName } from '../../core/model/ids.ts';
import {
  CPUS_PER_NODE_MAX,
  GPUS_PER_NODE_MAX,
  NODES_PER_TASK_MAX,
} from '../../core/model/limits.ts';
import { usage } from '../failure.ts';
import { forEach } from '../jobs/each.ts';
import { defineListing, type ListingOptions, parseFormat } from '../output/listing.ts';
import { type Column, printable } from '../output/table.ts';
import { fillTemplate } from '../output/template.ts';
import { formatInstant } from '../output/words.ts';
import {
  dropUndefined,
  listed,
  read,
  readAll,
  readInstant,
  readLength,
  readWindow,
  WINDOW_FORMS,
} from '../submit/read.ts';
import { parseCount, parseCounted, parseMemory, parseNeed } from '../submit/values.ts';
import { defineVerb, type VerbGroup } from '../verb.ts';

interface WishOptions {
  readonly name?: string;
  readonly users?: string;
  readonly groups?: string;
  readonly jobs?: string;
  readonly at?: string;
  readonly within?: string;
  readonly duration?: string;
  readonly nodes?: string;
  readonly nodesNamed?: string;
  readonly cpus?: string;
  readonly memory?: string;
  readonly gpus?: string;
  readonly resource?: string[];
  readonly needs?: string[];
  readonly force?: boolean;
  readonly cron?: string;
  readonly zone?: string;
}

function defineWish(command: Command): void {
  command.option('--name <name>', 'what jobs call it (default: its id)');
  command.option('--users <names>', 'who may use it, separated by commas (default: you)');
  command.option('--groups <names>', 'groups that may use it, separated by commas');
  command.option('--jobs <ids>', 'waiting jobs to put into it, separated by commas');
  command.option('--at <time>', 'when it begins: +2h, 18:30, 2026-01-31T18:30 (default: now)');
  command.option('--within <times>', `as early as there is room: ${WINDOW_FORMS}`);
  command.option('-t, --duration <time>', `how long: ${DURATION_FORMS}`);
  command.option('-n, --nodes <count>', 'how many nodes (default: 1)');
  command.option(
    '--nodes-named <names>',
    'of these nodes, separated by commas (default: all of them)',
  );
  command.option('--cpus <count>', 'cpus of each node (default: whole nodes)');
  command.option('--memory <size>', 'memory of each node');
  command.option('--gpus <count>', 'gpus of each node');
  command.option('--resource <name=count...>', 'other counted resources of each node');
  command.option('--needs <labels...>', "only nodes with this label, or 'gpu & !old | big'");
  command.option('--force', 'also where tasks may run into it: they stay until they end');
  command.option('--cron <pattern>', "again and again, by five fields of cron: '0 9 * * 1-5'");
  command.option(
    '--zone <name>',
    'time zone of --cron, such as Europe/Berlin (default: the one here)',
  );
}

const create = defineVerb<WishOptions & ListingOptions>({
  define(command) {
    defineWish(command);
    defineListing(command);
  },
  async run({ context, options }) {
    if (options.duration === undefined) throw usage('--duration: how long shall it last?');
    const { durationMs = 0, recurrence, ...wish } = readWish(options);
    if (recurrence !== undefined && (options.at ?? options.within) !== undefined) {
      throw usage('--cron says when it begins; leave --at and --within out');
    }
    const body = { ...wish, durationMs, ...(recurrence === undefined ? {} : { recurrence }) };
    const api = await context.api();
    const made = await api.call('createReservation', { body });
    if (parseFormat(options.output).kind !== 'table') {
      for (const line of formatReservation(made, options.output)) context.print(line);
      return 0;
    }
    const [slot] = made.slots;
    if (slot === undefined) return 0;
    const when = `from ${formatInstant(slot.from, Date.now())} for ${formatDuration(made.durationMs)}`;
    const again = made.slots.length > 1 ? `, and ${made.slots.length - 1} times after that` : '';
    context.print(`Reservation ${made.name}: ${slot.nodes.join(', ')} ${when}${again}.`);
    return 0;
  },
});

const change = defineVerb<WishOptions & { once?: boolean }>({
  define(command) {
    command.argument('<reservation>', 'id or name');
    defineWish(command);
    command.option('--once', 'let it recur no more');
  },
  async run({ context, args: [name = ''], options }) {
    const wish = readWish(options);
    const body = options.once === true ? { ...wish, recurrence: null } : wish;
    if (Object.keys(body).length === 0) throw usage('there is nothing to change');
    const api = await context.api();
    const changed = await api.call('changeReservation', { params: { name }, body });
    context.print(`Reservation ${changed.name} is changed.`);
    return 0;
  },
});

const list = defineVerb<ListingOptions>({
  define: defineListing,
  async run({ context, options }) {
    const api = await context.api();
    const { reservations } = await api.call('listReservations');
    const name = (one: ReservationView) => one.name;
    const listing = { rows: reservations, columns: columns(Date.now()), name };
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
      context.print(`Reservation ${name} is cancelled; what runs in it goes on.`);
    });
  },
});

export const verb: VerbGroup = {
  verbs: {
    create: { summary: 'set time on nodes aside', verb: create },
    list: { summary: 'list reservations, maintenance too', verb: list },
    show: { summary: 'show one reservation', verb: show },
    change: { summary: 'change a reservation', verb: change },
    cancel: { summary: 'give back what is set aside', verb: cancel },
  },
};

function readWish(options: WishOptions) {
  const now = Date.now();
  const { name, force, nodes } = options;
  const { at, within, duration, cron } = options;
  if (options.zone === '') throw usage('--zone: name a time zone, such as Europe/Berlin');
  if (options.zone !== undefined && cron === undefined) {
    throw usage('--zone is that of --cron: which pattern?');
  }
  if (at !== undefined && within !== undefined) {
    throw usage('--at and --within exclude each other: a time, or a choice of times');
  }
  const zone = options.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  return dropUndefined({
    ...{ name, force },
    labels: readAll('--needs', options.needs, parseNeed),
    users: listed(options.users),
    groups: listed(options.groups),
    jobs: readAll('--jobs', listed(options.jobs), (text) => parseCount(text, 1, 1e15)),
    nodeNames: readAll('--nodes-named', listed(options.nodesNamed), parseNodeName),
    at: at === undefined || at === 'now' ? undefined : readInstant('--at', at, now),
    within: within === undefined ? undefined : readWindow('--within', within, now),
    durationMs: duration === undefined ? undefined : readLength('--duration', duration),
    nodeCount: read('--nodes', nodes, (text) => parseCount(text, 1, NODES_PER_TASK_MAX)),
    share: readShare(options),
    recurrence: cron === undefined ? undefined : { cron, zone },
  });
}

function readShare({ cpus, memory, gpus, resource }: WishOptions) {
  if ([cpus, memory, gpus, resource].every((one) => one === undefined)) return undefined;
  return {
    cpuCount: read('--cpus', cpus, (text) => parseCount(text, 0, CPUS_PER_NODE_MAX)) ?? 0,
    memoryBytes: read('--memory', memory, parseMemory) ?? 0,
    gpuCount: read('--gpus', gpus, (text) => parseCount(text, 0, GPUS_PER_NODE_MAX)) ?? 0,
    counted: Object.fromEntries(readAll('--resource', resource, parseCounted) ?? []),
  };
}

function columns(now: number): Column<ReservationView>[] {
  const first = (one: ReservationView) => one.slots[0];
  return [
    { title: 'NAME', value: (one) => one.name },
    { title: 'ID', value: (one) => one.id, wide: true },
    { title: 'FOR', value: forWords },
    { title: 'STATE', value: stateWords },
    { title: 'FROM', value: (one) => formatInstant(first(one)?.from, now) },
    { title: 'UNTIL', value: (one) => formatInstant(first(one)?.until, now) },
    { title: 'AGAIN', value: (one) => one.recurrence?.cron ?? '' },
    { title: 'SHARE', value: shareWords },
    { title: 'NODES', value: (one) => first(one)?.nodes.join(',') ?? '' },
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
  const parts = [`${share.cpuCount} cpus`];
  if (share.memoryBytes > 0) parts.push(formatSize(share.memoryBytes));
  if (share.gpuCount > 0) parts.push(`${share.gpuCount} gpus`);
  for (const [name, amount] of Object.entries(share.counted)) parts.push(`${amount} ${name}`);
  return parts.join(' ');
}

function formatReservation(one: ReservationView, output: string | undefined): string[] {
  const format = parseFormat(output);
  if (format.kind === 'json') return [JSON.stringify(one, null, 2)];
  if (format.kind === 'name') return [one.name];
  if (format.kind === 'template') return [fillTemplate(format.template, one)];
  const now = Date.now();
  const { recurrence, missing, skipped, slots } = one;
  const when = ({ from, until, nodes }: ReservationView['slots'][number]): string =>
    `${formatInstant(from, now)} - ${formatInstant(until, now)} on ${nodes.join(', ')}`;
  const lines: [string, string][] = [
    ['Reservation', one.name === one.id ? one.id : `${one.name} (${one.id})`],
    ['For', forWords(one)],
    ['State', stateWords(one)],
    ['Share', shareWords(one)],
    ['Recurs', recurrence === null ? '' : `${recurrence.cron} (${recurrence.zone})`],
    ...slots.map((slot, at): [string, string] => [at === 0 ? 'Time' : 'Then', when(slot)]),
    ...missing.map(({ node, because }): [string, string] => ['Missing', `${node} is ${because}`]),
    ...skipped.map(({ from, because, triedUntil }): [string, string] => {
      const again =
        triedUntil === undefined
          ? ''
          : ` It is tried again until ${formatInstant(triedUntil, now)}.`;
      return ['Skipped', `${formatInstant(from, now)}: ${because}${again}`];
    }),
    ['Tasks', `${one.runningTasks} running, ${one.waitingTasks} waiting`],
    ['Made', `by ${one.createdBy} at ${formatInstant(one.createdAt, now)}`],
  ];
  const shown = lines.filter(([, value]) => value !== '');
  return shown.map(([title, value]) => `${`${title}:`.padEnd(16)} ${printable(value)}`);
}
