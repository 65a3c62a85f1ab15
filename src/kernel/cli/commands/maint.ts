// `weft maint …`: takes nodes from all users for a time, runs a program on them, gives them back.

import { type Command, Option } from 'commander';
import { headNow } from '../../api/head-time.ts';
import { forEach } from '../jobs/each.ts';
import { formatMaintenance, maintenanceColumns } from '../maintenance/columns.ts';
import { makePlan, type PlanOptions } from '../maintenance/plan.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import { formatOne } from '../output/one.ts';
import { formatInstant } from '../output/words.ts';
import { collect, WINDOW_FORMS } from '../submit/read.ts';
import { defineVerb, type VerbGroup } from '../verb.ts';

const nodeOff = defineVerb<PlanOptions & ListingOptions>({
  define(command: Command) {
    command.argument('[node...]', 'names of nodes');
    command.addOption(
      new Option(
        '--needs <labels>',
        "nodes with this label now, or 'gpu & !old | big' (repeatable)",
      ).argParser(collect),
    );
    command.option('--at <time>', 'when: +2h, 22:00, 2026-01-31T18:30');
    command.option('--within <window>', `as early as there is room: ${WINDOW_FORMS}`);
    command.option('--now', 'at once');
    command.requiredOption('-d, --duration <duration>', 'for how long');
    command.option(
      '--running <policy>',
      'what happens to tasks that still run then: wait, requeue, suspend or kill',
      'wait',
    );
    command.option('--warn <duration>', 'send these tasks a signal this long before');
    command.option('--signal <signal>', 'the signal of --warn (default: TERM)');
    command.option('--program <line>', 'run this program on each node meanwhile (admins)');
    command.option('--script <file>', 'run this script on each node meanwhile (admins)');
    command.option('--as <user>', "account of the program (default: the agent's own)");
    command.option('--restarts', 'the program restarts the node, which is done when it is back');
    command.option(
      '-r, --reason <text>',
      'shown to everybody who waits for the nodes',
      'maintenance',
    );
    command.option('-o, --output <format>', 'json, name or template=TEXT with {{fields}}');
  },
  async run({ context, args, options }) {
    const now = headNow();
    const body = makePlan(args, options, { now, cwd: context.cwd });
    const api = await context.api();
    const planned = await api.call('planMaintenance', { body });
    const inWords = ({ id, from, until, nodes }: typeof planned) => {
      const span = [from, until].map((at) => formatInstant(at, now)).join(' to ');
      return [`Maintenance ${id} of ${nodes.map(({ node }) => node).join(', ')}: ${span}.`];
    };
    const lines = formatOne(planned, options.output, planned.id, inWords);
    for (const line of lines) context.print(line);
    return 0;
  },
});

const nodeOn = defineVerb({
  define: (command) => void command.argument('<node...>', 'names of nodes'),
  async run({ context, args }) {
    const api = await context.api();
    await api.call('nodeOn', { body: { nodes: [...args] } });
    context.print(`${args.join(', ')}: back in service, or on the way there.`);
    return 0;
  },
});

const cancel = defineVerb({
  define: (command) => void command.argument('<maintenance...>', 'ids: m3'),
  async run({ context, args }) {
    const api = await context.api();
    return forEach(context, args, async (id) => {
      await api.call('cancelMaintenance', { params: { id } });
      context.print(`Maintenance ${id} is cancelled.`);
    });
  },
});

const list = defineVerb<ListingOptions & { all?: boolean; why?: boolean }>({
  define(command) {
    command.option('-a, --all', 'also those that are done');
    command.option('--why', 'show the reason and the result of each');
    defineListing(command);
  },
  async run({ context, options }) {
    const api = await context.api();
    const query = options.all === true ? { all: true } : {};
    const { maintenance } = await api.call('listMaintenance', { query });
    const columns = maintenanceColumns(headNow(), { why: options.why === true });
    const listing = { rows: maintenance, columns, name: idOf, empty: 'No maintenance.' };
    await context.list(listing, options.output);
    return 0;
  },
});

const show = defineVerb<ListingOptions>({
  define(command) {
    command.argument('<maintenance>', 'its id: m3');
    defineListing(command);
  },
  async run({ context, args: [id = ''], options }) {
    const api = await context.api();
    const one = await api.call('getMaintenance', { params: { id } });
    for (const line of formatMaintenance(one, options.output)) context.print(line);
    return 0;
  },
});

const idOf = ({ id }: { readonly id: string }): string => id;

export const verb: VerbGroup = {
  verbs: {
    'node-off': { summary: 'take nodes out of service for a time', verb: nodeOff },
    'node-on': {
      summary: 'put nodes back into service before its end, or after a failure',
      verb: nodeOn,
    },
    cancel: { summary: 'cancel a maintenance, or end it early', verb: cancel },
    list: { summary: 'list maintenance', verb: list },
    show: { summary: 'show one maintenance', verb: show },
  },
};
