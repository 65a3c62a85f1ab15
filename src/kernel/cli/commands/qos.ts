// `weft qos …`: what a quality of service promises and allows.

import type { QosView } from '../../api/partitions.ts';
import { didYouMean } from '../../base/nearest-word.ts';
import { type CapKind, capUnit } from '../../model/caps.ts';
import { refuse } from '../../model/errors.ts';
import { failure } from '../../model/failure.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import type { Column } from '../output/table.ts';
import { accessWords } from '../partitions/describe.ts';
import { defineVerb, type VerbGroup } from '../verb.ts';

const COLUMNS: Column<QosView>[] = [
  { title: 'QOS', value: ({ name }) => name },
  { title: 'PRIORITY', value: ({ priority }) => String(priority), align: 'right' },
  { title: 'TIER', value: ({ tier }) => String(tier), align: 'right' },
  { title: 'RUNNING', value: ({ tasksRunning }) => String(tasksRunning), align: 'right' },
  { title: 'WAITING', value: ({ tasksWaiting }) => String(tasksWaiting), align: 'right' },
  { title: 'LIMITS OF A USER', value: limitWords },
  { title: 'FOR', value: accessWords },
  { title: 'PREEMPT', value: ({ preempt }) => preempt, wide: true },
];

const list = defineVerb<ListingOptions>({
  define: defineListing,
  async run({ context, options }) {
    const { qualities } = await (await context.api()).call('listQos');
    await context.list({ ...LISTING, rows: qualities }, options.output);
    return 0;
  },
});

const show = defineVerb<ListingOptions>({
  define(command) {
    command.argument('<qos>', 'name of a QoS');
    defineListing(command);
  },
  async run({ context, args: [name = ''], options }) {
    const { qualities } = await (await context.api()).call('listQos');
    const rows = qualities.filter((qos) => qos.name === name);
    if (rows.length === 0) {
      const hint = didYouMean(
        name,
        qualities.map((qos) => qos.name),
      ).trim();
      throw failure(refuse('qos.unknown', { qos: name }, hint || undefined));
    }
    await context.list({ ...LISTING, rows }, options.output ?? 'wide');
    return 0;
  },
});

const LISTING = { columns: COLUMNS, name: (qos: QosView) => qos.name, empty: '' };

export const verb: VerbGroup = {
  verbs: {
    list: { summary: 'list qualities of service', verb: list },
    show: { summary: 'show one QoS', verb: show },
  },
};

function limitWords(qos: QosView): string {
  const { runningTasksPerUser: tasks, runningCpusPerUser: cpus, waitingJobsPerUser: jobs } = qos;
  const words = [];
  if (tasks !== null) words.push(`${tasks} running tasks`);
  if (cpus !== null) words.push(`${cpus} running cpus`);
  for (const [kind, max] of Object.entries(qos.gpusPerUser ?? {}))
    words.push(`${max} running ${capUnit(kind as CapKind)}s`);
  if (jobs !== null) words.push(`${jobs} waiting jobs`);
  return words.join(', ') || 'none';
}
