// `weft info`: the cluster, its nodes and its active jobs on one screen.

import type { InfoReply } from '../../api/cluster.ts';
import type { JobView } from '../../api/jobs.ts';
import type { NodeView } from '../../api/nodes.ts';
import type { PartitionView } from '../../api/partitions.ts';
import { formatDuration } from '../../base/duration.ts';
import { asSentence } from '../../base/sentence.ts';
import { formatBytes, formatSize } from '../../base/size.ts';
import { describeCaps } from '../../model/caps.ts';
import { daemonNotes } from '../daemons/daemon-notes.ts';
import { glanceOf } from '../glance.ts';
import { jobColumns } from '../jobs/columns.ts';
import { maintenanceColumns } from '../maintenance/columns.ts';
import { nodeColumns } from '../nodes/columns.ts';
import { clockSetWords } from '../output/clock-set.ts';
import { copiedWords } from '../output/copied-words.ts';
import {
  type Format,
  formatListing,
  type ListingOptions,
  noTable,
  parseFormat,
} from '../output/listing.ts';
import { lossWords } from '../output/loss-words.ts';
import type { Look } from '../output/table.ts';
import { fillTemplate } from '../output/template.ts';
import { formatSpan } from '../output/words.ts';
import { partitionColumns } from '../partitions/columns.ts';
import { defineVerb } from '../verb.ts';

/** More are a matter for `weft jobs`. */
const JOBS_SHOWN = 20;

export const verb = defineVerb<ListingOptions>({
  define(command) {
    command.option('-o, --output <format>', 'json, wide or template=TEXT with {{fields}}');
  },
  async run({ context, options }) {
    const api = await context.api();
    const [info, { nodes }, { jobs }, { maintenance }, { partitions }, glance] = await Promise.all([
      api.call('info'),
      api.call('listNodes'),
      api.call('listJobs', { query: { state: 'active', limit: JOBS_SHOWN } }),
      api.call('listMaintenance'),
      api.call('listPartitions'),
      glanceOf(context),
    ]);
    const format = parseFormat(options.output);
    if (format.kind === 'csv') throw noTable();
    const everything = { ...info, ...glance.fields, nodes, partitions, jobs, maintenance };
    if (format.kind === 'json') context.print(JSON.stringify(everything, null, 2));
    else if (format.kind === 'template') context.print(fillTemplate(format.template, info));
    else if (format.kind === 'name') context.print(info.clusterName);
    else {
      const now = info.head.now;
      context.print(headline(info, api.address));
      context.print(summary(info));
      if (info.archive.bytes > 0) context.print(archiveLine(info));
      for (const line of ruleLines(info)) context.print(line);
      for (const line of glance.lines) context.print(line);
      const { fingerprint } = info.head;
      if (fingerprint) context.print(`Fingerprint: ${fingerprint}`);
      for (const { text } of daemonNotes(context, api.address)) context.print(text);
      const loss = info.losses.at(-1);
      if (typeof info.obstacle === 'string') context.print(asSentence(`Stuck: ${info.obstacle}`));
      if (typeof info.behind === 'string') context.print(asSentence(`Behind: ${info.behind}`));
      for (const words of clockSetWords(info)) context.print(`Clock: ${words}.`);
      const copied = copiedWords(info);
      if (copied !== null) context.print(`Copied: ${copied}.`);
      if (loss !== undefined) context.print(`Lost: ${lossWords(loss, info.head.now)}.`);
      context.print('');
      const nodeName = (node: NodeView) => node.name;
      const nodeRows = {
        rows: nodes,
        columns: nodeColumns(now),
        name: nodeName,
        empty: 'No nodes.',
      };
      for (const line of formatListing(nodeRows, format, context.look)) context.print(line);
      context.print('');
      if (maintenance.length > 0) {
        const columns = maintenanceColumns(now);
        const listing = { rows: maintenance, columns, name: idOf, empty: '' };
        for (const line of formatListing(listing, format, context.look)) context.print(line);
        context.print('');
      }
      for (const line of partitionLines(partitions, format, context.look)) context.print(line);
      const jobName = (job: JobView) => String(job.id);
      const empty = 'No active jobs.';
      const jobRows = { rows: jobs, columns: jobColumns(now), name: jobName, empty };
      for (const line of formatListing(jobRows, format, context.look)) context.print(line);
      if (jobs.length === JOBS_SHOWN)
        context.print(`… only the newest ${JOBS_SHOWN} are shown; \`weft jobs\` lists all`);
    }
    return 0;
  },
});

const idOf = ({ id }: { readonly id: string }): string => id;
/** One that is as ever says nothing: most clusters have no other. */
function partitionLines(
  partitions: readonly PartitionView[],
  format: Format,
  look: Look,
): string[] {
  if (partitions.length === 1 && partitions[0]?.state === 'up') return [];
  const name = (partition: PartitionView) => partition.name;
  const listing = { rows: partitions, columns: partitionColumns(), name, empty: '' };
  return [...formatListing(listing, format, look), ''];
}

function headline(info: InfoReply, address: string): string {
  const since = formatSpan(info.head.now - info.head.startedAt);
  return `Cluster ${info.clusterName}: head on ${info.head.hostname} (${address}), up ${since}, Weft ${info.version}`;
}

/** What the site has set, for whoever asks; what it has not is as everywhere. */
export function ruleLines({
  onNodeLoss,
  ownCaps = {},
}: Pick<InfoReply, 'onNodeLoss' | 'ownCaps'>): string[] {
  const caps = describeCaps(ownCaps);
  return [
    ...(onNodeLoss == null
      ? []
      : [`Tasks of lost nodes: ${lossRule(onNodeLoss)}, unless a job says otherwise.`]),
    ...(caps === '' ? [] : [`You may hold at once: ${caps}.`]),
  ];
}

function lossRule(rule: NonNullable<InfoReply['onNodeLoss']>): string {
  if (rule.kind === 'requeue') return 'they start elsewhere';
  if (rule.kind === 'wait') return 'they wait for their node';
  return `they start elsewhere after ${formatDuration(rule.leaseMs)}`;
}

/** What goes is said before it goes. */
function archiveLine({ archive, head }: InfoReply): string {
  const { bytes, bytesMax, next } = archive;
  const used = `Output files kept: ${formatBytes(bytes)} of ${formatSize(bytesMax)}`;
  if (next === null) return `${used}.`;
  const left = next.goesAt - head.now;
  const when =
    left > 0 ? `in ${formatSpan(left)}, or earlier when room is short` : 'within the hour';
  return `${used}. Those of job ${next.jobId} (${formatBytes(next.bytes)}) are removed ${when}.`;
}

function summary(info: InfoReply): string {
  const { total, free } = info;
  const cpus = `${total.cpuCount - free.cpuCount} of ${total.cpuCount} cpus`;
  const memory = `${formatSize(total.memoryBytes - free.memoryBytes)} of ${formatSize(total.memoryBytes)} memory`;
  const nodes = counts(info.nodes);
  const counted = (info.resources ?? []).map(
    ({ name, total, used }) => `${used} of ${total} ${name}`,
  );
  const amounts = [cpus, memory, ...counted].join(', ');
  return `In use: ${amounts}. Nodes: ${nodes || 'none'}. Waiting tasks: ${info.queueLength}.`;
}

function counts(of: Readonly<Record<string, number>>): string {
  const some = Object.entries(of).filter(([, count]) => count > 0);
  return some.map(([state, count]) => `${count} ${state.replace('_', ' ')}`).join(', ');
}
