// Jobs as a Maui-like scheduler has them. Each task of an array is a job of its own to it.

import { endedAs } from '../../../kernel/head/answers/job-state.ts';
import { isHeldNow } from '../../../kernel/machine/jobs/apply.ts';
import { isBlocked } from '../../../kernel/machine/jobs/behind.ts';
import type { Job, Task } from '../../../kernel/machine/jobs/facts.ts';
import type { State } from '../../../kernel/machine/state.ts';
import { shownState } from '../../../kernel/machine/tasks/shown-state.ts';
import { formatTaskId } from '../../../kernel/model/ids.ts';
import type { OutcomeKind } from '../../../kernel/model/job.ts';
import { DEFAULT_QOS } from '../../../kernel/model/scheduling.ts';
import type { WikiRecord, WikiValue } from '../fabric/reply.ts';
import { mebibytes, wikiFeature } from './wiki-nodes.ts';

type Field = readonly [name: string, value: WikiValue];

/** What has no time limit: a year, as Slurm tells it. */
const ENDLESS_S = 365 * 86_400;
/** Waiting tasks of one array that are told of at once; the others follow as these start. */
const ARRAY_SHOWN_MAX = 1000;
/** How long ended tasks are listed: the specification asks for one to five minutes. */
export const ENDED_SHOWN_MS = 300_000;

export function wikiId(job: Job, index: number): string {
  return formatTaskId(job.id, job.spec.array === null ? null : index);
}

/** A task with what has been told of it, so that its end is told as well. */
export interface ReportedTask {
  readonly job: Job;
  readonly index: number;
  readonly endedAt: number | null;
}

/**
 * Running ones first, then those that ended, then those that wait, by their ids.
 * @param told by id, what was running or ended when it was asked before; brought up to date
 */
export function* wikiJobs(
  state: State,
  partitions: ReadonlySet<string>,
  told: Map<string, ReportedTask>,
  now: number,
): Generator<WikiRecord> {
  const jobs = [...state.jobs.values()].filter(({ spec }) => partitions.has(spec.partition));
  for (const job of jobs) {
    for (const task of job.active.values()) {
      if (task.parts.size === 0) continue;
      told.set(wikiId(job, task.index), { job, index: task.index, endedAt: null });
      yield active(job, task);
    }
  }
  for (const job of jobs) noteEnd(job, told);
  yield* ended(told, now);
  for (const job of jobs) if (job.outcome === null) yield* waiting(job);
}

/** A plain job that ended before anybody asked. */
function noteEnd(job: Job, told: Map<string, ReportedTask>): void {
  if (job.outcome === null || job.spec.array !== null || job.endedAt === null) return;
  told.set(wikiId(job, 0), { job, index: 0, endedAt: job.endedAt });
}

function* ended(told: Map<string, ReportedTask>, now: number): Generator<WikiRecord> {
  for (const [id, { job, index, endedAt }] of told) {
    const outcome = endedAs(job, index);
    const task = job.active.get(index);
    if (outcome === undefined) {
      if ((task?.parts.size ?? 0) === 0) told.delete(id);
      continue;
    }
    const at = endedAt ?? now;
    told.set(id, { job, index, endedAt: at });
    if (at + ENDED_SHOWN_MS < now) told.delete(id);
    else yield { id, state: endState(outcome), fields: endFields(job, at) };
  }
}

function endState(outcome: OutcomeKind): string {
  return outcome === 'completed' ? 'Completed' : 'Removed';
}

function endFields(job: Job, at: number): Field[] {
  return [
    ...common(job),
    ['STARTTIME', seconds(job.startedAt ?? at)],
    ['COMPLETETIME', seconds(at)],
  ];
}

function active(job: Job, task: Task): WikiRecord {
  const { processesPerNode } = job.spec.request;
  const nodes = [...task.parts.keys()];
  const tasks = nodes.flatMap((name) => Array.from({ length: processesPerNode }, () => name));
  const start: Field[] = task.startedAt === null ? [] : [['STARTTIME', seconds(task.startedAt)]];
  const state = shownState(task) === 'suspended' ? 'Suspended' : 'Running';
  const id = wikiId(job, task.index);
  return { id, state, fields: [...common(job), ...start, ['TASKLIST', tasks]] };
}

function* waiting(job: Job): Generator<WikiRecord> {
  const isHeld = isHeldNow(job) || job.waitsFor.size > 0 || !job.beginReached;
  const fields = common(job);
  const { runningMax, running } = job.entry;
  const throttle = runningMax === null ? Infinity : Math.max(0, runningMax - running);
  let left = Math.min(ARRAY_SHOWN_MAX, isHeld ? ARRAY_SHOWN_MAX : throttle);
  for (const index of job.pending) {
    if (left <= 0) return;
    left -= 1;
    const isTaskHeld = isHeld || isBlocked(job, index);
    yield { id: wikiId(job, index), state: isTaskHeld ? 'Hold' : 'Idle', fields };
  }
  for (const task of job.active.values()) {
    if (task.heldBecause === null) continue;
    yield { id: wikiId(job, task.index), state: 'Hold', fields };
  }
}

function common({ spec, owner, submittedAt }: Job): Field[] {
  const { request, walltimeMs, partition, qos = DEFAULT_QOS, beginAt } = spec;
  const { nodeCount, processesPerNode, perNode, labels, nodeNames } = request;
  const fields: Field[] = [
    ['WCLIMIT', walltimeMs === null ? ENDLESS_S : Math.ceil(walltimeMs / 1000)],
    ['TASKS', nodeCount * processesPerNode],
    ['NODES', nodeCount],
    ['TASKPERNODE', processesPerNode],
    ['DPROCS', Math.max(1, Math.ceil(perNode.cpuCount / processesPerNode))],
    ['QUEUETIME', seconds(submittedAt)],
    ['UNAME', owner],
    ['GNAME', owner],
    ['RCLASS', { counts: { [partition]: 1 } }],
    ['RMEM', mebibytes(perNode.memoryBytes)],
    ['RMEMCMP', '>='],
    ['DMEM', Math.ceil(mebibytes(perNode.memoryBytes) / processesPerNode)],
    ['QOS', qos],
  ];
  const plain = labels.filter((label) => !/[!&|() ]/.test(label));
  if (plain.length > 0) fields.push(['RFEATURES', plain.map(wikiFeature)]);
  if (nodeNames.length === nodeCount) fields.push(['HOSTLIST', nodeNames]);
  if (beginAt !== null) fields.push(['STARTDATE', seconds(beginAt)]);
  return fields;
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
