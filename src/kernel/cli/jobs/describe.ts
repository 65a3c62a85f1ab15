// One job in full, for people.

import type { JobDetail } from '../../api/jobs.ts';
import { formatDuration } from '../../base/duration.ts';
import { plural } from '../../base/plural.ts';
import { formatSize } from '../../base/size.ts';
import { ATTACHED_STDIN, CLIENT_STDIN } from '../../model/job.ts';
import { keptTitles } from '../../model/options/kept.ts';
import { labelsForPeople } from '../../model/own-labels.ts';
import { gpuWords } from '../../model/request-words.ts';
import { DEFAULT_QOS } from '../../model/scheduling.ts';
import { jobStretches, timeLine } from '../output/bars.ts';
import { keptWords } from '../output/kept.ts';
import type { Titled } from '../output/one.ts';
import { colourOf } from '../output/paint.ts';
import { byOwnClock } from '../output/prose.ts';
import { elapsed } from '../output/times.ts';
import { formatInstant, formatSpan, signalName } from '../output/words.ts';
import { endCounts } from '../progress/end-counts.ts';
import { stateWords } from './columns.ts';
import { outcomeWords } from './outcome.ts';

/** Titles and values; what says nothing is empty. `more`: what wings say of what it used. */
export function describeJob(job: JobDetail, now: number, more: readonly Titled[] = []): Titled[] {
  const { request } = job;
  const why = job.state === 'pending' ? (job.reason?.words ?? '') : '';
  const lines: Titled[] = [
    ['Job', `${job.id} ${job.name}`],
    ['User', job.owner],
    [
      'State',
      job.state === 'done' ? outcomeWords(job, job) : stateWords(job),
      colourOf(stateWords(job)),
    ],
    ['Why', byOwnClock(why, now)],
    ['Notice', byOwnClock(job.notice ?? '', now)],
    ['Partition', job.partition],
    ['QoS', job.qos === DEFAULT_QOS ? '' : job.qos],
    ['Tasks', job.array === null ? '' : taskWords(job)],
    ['Command', job.command],
    ['Directory', job.directory ?? 'private'],
    ['Needs', needs(job)],
    ['Labels', labelsForPeople(request.labels).join(', ')],
    ['Only nodes', request.nodeNames.join(', ')],
    ['Nodes', job.nodesUnknown ? NODES_UNKNOWN : job.nodes.join(', ')],
    ['Time limit', job.walltimeMs === null ? 'none' : formatDuration(job.walltimeMs)],
    ['Signal', warningWords(job)],
    ['Submitted', formatInstant(job.submittedAt, now)],
    ['Begins', formatInstant(job.beginAt, now)],
    ['Started', formatInstant(job.startedAt, now)],
    ['Ended', formatInstant(job.endedAt, now)],
    ['Timeline', timeWords(job, now)],
    ['Elapsed', elapsed({ from: job.runStartedAt, until: job.endedAt }, now)],
    ['Retry of', job.retryOf == null ? '' : `job ${job.retryOf}`],
    ['After', job.dependencies.map(dependencyWords).join(', ')],
    ['Waits for', job.waitsFor.join(', ')],
    ['Input', inputWords(job)],
    ['Output', outputWords(job)],
    ['Notify', (job.notifications ?? []).map(({ words }) => byOwnClock(words, now)).join('; ')],
    ['Node loss', nodeLoss(job)],
    ...keptTitles(job),
    ['MPI', job.ranksPerNode == null ? '' : `${plural(job.ranksPerNode, 'rank')} per node`],
  ];
  const { usage } = job;
  if (usage.userUs + usage.systemUs > 0) {
    const cpu = formatDuration((usage.userUs + usage.systemUs) / 1000);
    const peak = `${formatSize(usage.memoryPeakBytes)} memory at most`;
    lines.push(['Used', `${cpu} cpu time, ${peak}${ofOne(job)}`]);
  }
  const { memoryNow } = job;
  if (memoryNow != null) {
    const { memoryBytes } = request.perNode;
    const limit = memoryBytes === 0 ? 'no limit' : `limit ${formatSize(memoryBytes)} per node`;
    const now = `${formatSize(memoryNow.bytes)} now${ofOne(job) === '' ? '' : ' in all'}`;
    const peak = `${formatSize(memoryNow.peakBytes)} at most${ofOne(job)}`;
    lines.push(['Memory', `${now}, ${peak}, ${limit}`]);
  }
  lines.push(...more);
  if (job.outputs !== null)
    lines.push(['Kept', keptWords(`pull ${job.id}`, { ...job.outputs, of: 'task' })]);
  return lines;
}

/** Where there are several: a peak is that of one, as the limit is. */
function ofOne({ array, request }: JobDetail): string {
  const task = array === null ? '' : ' in one task';
  return request.nodeCount > 1 ? `${task} on one node` : task;
}

const NODES_UNKNOWN = 'not known: nobody saw it run, and its site has not recorded them';
const TIMELINE_WIDTH = 40;

/**
 * `░░███████  waited 12s, ran 42s`, the words alone of what did only one of them; nothing of a job
 * that was submitted just now.
 */
function timeWords(job: JobDetail, now: number): string {
  const stretches = jobStretches(job, now);
  const until = job.endedAt ?? now;
  if (stretches.length === 0 || until - job.submittedAt < 1000) return '';
  const waitedMs = (job.startedAt ?? until) - job.submittedAt;
  const verbs = job.endedAt === null ? ['waits', 'has run'] : ['waited', 'ran'];
  const waited = `${job.startedAt === null ? verbs[0] : 'waited'} ${formatSpan(waitedMs)}`;
  const ran = job.startedAt === null ? '' : `, ${verbs[1]} ${formatSpan(until - job.startedAt)}`;
  // A line of equal blocks says nothing.
  if (stretches.length === 1) return `${waited}${ran}`;
  const line = timeLine(stretches, { from: job.submittedAt, until }, TIMELINE_WIDTH);
  return `${line}  ${waited}${ran}`;
}

function warningWords({ warning }: JobDetail): string {
  if (warning == null) return '';
  return `${signalName(warning.signal)} ${formatDuration(warning.leadMs)} before the time limit`;
}

function taskWords(job: JobDetail): string {
  const { done = 0, ...live } = job.taskCounts;
  const { completed, cancelled } = endCounts(done, job.outcomeCounts);
  const states = Object.entries({ ...live, completed, cancelled }).filter(([, count]) => count > 0);
  const words = [
    ...states.map(([state, count]) => `${count} ${state}`),
    ...failedWords(job.outcomeCounts),
  ].join(', ');
  const atOnce = job.runningMax === null ? '' : `, ${job.runningMax} at once`;
  return `${job.taskCount} (${job.array}${atOnce}): ${words}`;
}

/** `35 failed`, and of those that were no mere exit how: `35 failed (1 timeout)`. */
function failedWords(counts: Readonly<Record<string, number>>): string[] {
  const { failed } = endCounts(0, counts);
  if (failed === 0) return [];
  const others = Object.entries(counts).filter(
    ([kind, count]) => count > 0 && !['completed', 'cancelled', 'failed'].includes(kind),
  );
  const how = others.map(([kind, count]) => `${count} ${kind}`).join(', ');
  return [`${failed} failed${how === '' ? '' : ` (${how})`}`];
}

function needs({ request }: JobDetail): string {
  const { perNode, nodeCount, processesPerNode, exclusive } = request;
  const parts = [plural(processesPerNode, 'process', 'processes')];
  parts.push(plural(perNode.cpuCount, 'cpu'), `${formatSize(perNode.memoryBytes)} memory`);
  if (perNode.gpuCount > 0) parts.push(gpuWords(perNode));
  for (const [name, count] of Object.entries(perNode.counted)) parts.push(`${count} ${name}`);
  const nodes = nodeCount === 1 ? '1 node with' : `${nodeCount} nodes, each with`;
  const once = Object.entries(request.ofCluster ?? {}).map(([name, count]) => `${count} ${name}`);
  const shared = once.length === 0 ? '' : ` and ${once.join(', ')} of the cluster`;
  return `${nodes} ${parts.join(', ')}${exclusive ? ' and no other tasks' : ''}${shared}`;
}

/** A task that nobody brings its input waits for it as long as it may run. */
function inputWords({ id, state, array, files: { stdin } }: JobDetail): string {
  if (stdin === CLIENT_STDIN) return '';
  if (stdin !== ATTACHED_STDIN) return stdin ?? '';
  if (state === 'done') return 'what was brought while it ran';
  return `waits for weft attach --stdin ${array === null ? id : `'${id}[N]'`}, each time it starts`;
}

function outputWords({ id, siteJob, files }: JobDetail): string {
  if (siteJob != null) return 'in files at its site';
  return [files.stdout, files.stderr].filter(Boolean).join(', ') || `weft logs ${id}`;
}

function nodeLoss({ onNodeLoss, requeue }: JobDetail): string {
  const kind =
    onNodeLoss.kind === 'lease'
      ? `lease ${formatDuration(onNodeLoss.leaseMs ?? 0)}`
      : onNodeLoss.kind;
  return requeue ? kind : `${kind}, then the task ends`;
}

/** What was asked for. */
function dependencyWords({
  jobId,
  condition,
  delayMs = 0,
}: JobDetail['dependencies'][number]): string {
  return `${jobId}:${condition}${delayMs === 0 ? '' : `+${formatDuration(delayMs)}`}`;
}
