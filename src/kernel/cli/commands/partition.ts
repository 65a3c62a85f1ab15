// `weft partition …`: named sets of nodes with their limits, and what operators set of them.

import { headNow } from '../../api/head-time.ts';
import type { PartitionView } from '../../api/partitions.ts';
import { usage } from '../../model/failure.ts';
import type { PartitionChange } from '../../model/scheduling.ts';
import { forEach } from '../jobs/each.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import { formatOne } from '../output/one.ts';
import { parseChange } from '../partitions/change.ts';
import { partitionColumns } from '../partitions/columns.ts';
import { formatPartition } from '../partitions/describe.ts';
import { defineVerb, type VerbGroup } from '../verb.ts';

const list = defineVerb<ListingOptions>({
  define: defineListing,
  async run({ context, options }) {
    const { partitions } = await (await context.api()).call('listPartitions');
    const name = (partition: PartitionView) => partition.name;
    const listing = { rows: partitions, columns: partitionColumns(), name, empty: '' };
    await context.list(listing, options.output);
    return 0;
  },
});

const show = defineVerb<ListingOptions>({
  define(command) {
    command.argument('<partition>', 'name of a partition');
    defineListing(command);
  },
  async run({ context, args: [name = ''], options }) {
    const partition = await (await context.api()).call('getPartition', { params: { name } });
    const inWords = (one: typeof partition) => formatPartition(one, headNow());
    for (const line of formatOne(partition, options.output, name, inWords)) context.print(line);
    return 0;
  },
});

const set = defineVerb({
  define(command) {
    command.argument('<partition>', 'name of a partition');
    command.argument(
      '<settings...>',
      'state=down, policy=easy, placement=, tier=, preempt=, priority=',
    );
  },
  async run({ context, args: [name = '', ...settings] }) {
    const body = readChange(settings);
    await (await context.api()).call('changePartition', { params: { name }, body });
    const words = Object.entries(body).map(([word, value]) => `${word} ${value}`);
    const back = `weft partition reset ${name}`;
    context.print(
      `Partition ${name} has ${words.join(', ')}; this overrides the config until \`${back}\`.`,
    );
    return 0;
  },
});

const reset = defineVerb({
  define: (command) => void command.argument('<partition...>', 'names of partitions'),
  async run({ context, args }) {
    const api = await context.api();
    return forEach(context, args, async (name) => {
      await api.call('resetPartition', { params: { name } });
      context.print(`Partition ${name} follows the config again.`);
    });
  },
});

export const verb: VerbGroup = {
  verbs: {
    list: { summary: 'list partitions', verb: list },
    show: { summary: 'show one partition', verb: show },
    set: { summary: 'set values that override the config', verb: set },
    reset: { summary: 'return to the values of the config', verb: reset },
  },
};

function readChange(settings: readonly string[]): PartitionChange {
  const change = parseChange(settings);
  if (!change.ok) throw usage(change.error);
  return change.value;
}
