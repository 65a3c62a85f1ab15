// The cluster in figures, and the few jobs that somebody wants to see first, found among all of
// them.

import { gpusInUse } from '../../api/gpus-in-use.ts';
import type { AnswerSource } from '../../machine/answers/questions.ts';
import { waitingSize } from '../../machine/jobs/behind.ts';
import type { Job } from '../../machine/jobs/facts.ts';
import { freeOf, gpusUnusable } from '../../machine/nodes/cards.ts';
import { schedulingOf } from '../../machine/partitions/settings.ts';
import { clusterUses } from '../../machine/schedule.ts';
import type { State } from '../../machine/state.ts';
import { isFailure } from '../../model/job.ts';
import { addResources, NO_RESOURCES, type Resources } from '../../model/resources.ts';
import type { Engine } from '../engine.ts';
import type { LoadSample } from '../load/load-book.ts';
import { jobState } from './job-state.ts';
import { copyOf } from './node-view.ts';
import { runStart } from './run-start.ts';
import { jobTrouble } from './task-notice.ts';

/** Tasks looked at for a notice: some ms of the head's time. */
const NOTICE_LOOKS_MAX = 10_000;

/** Jobs in memory by state, and the tasks that wait for a start. */
export function countJobs({ jobs }: Pick<State, 'jobs'>) {
  const counts: Record<string, number> = {};
  let queueLength = 0;
  for (const job of jobs.values()) {
    const word = jobState(job);
    counts[word] = (counts[word] ?? 0) + 1;
    queueLength += waitingSize(job);
  }
  return { jobs: counts, queueLength };
}

/** What all nodes have, and what of it is free. */
export function roomOf({ nodes }: Pick<State, 'nodes'>) {
  let total: Resources = NO_RESOURCES;
  let free: Resources = NO_RESOURCES;
  for (const node of nodes.values()) {
    total = addResources(total, node.total);
    free = addResources(free, freeOf(node));
  }
  return { total: copyOf(total), free: copyOf(free) };
}

/** Gpus of all nodes that are neither free nor a task's. */
export function unusableGpus({ nodes }: Pick<State, 'nodes'>): { readonly gpusUnusable?: number } {
  let count = 0;
  for (const node of nodes.values()) count += gpusUnusable(node);
  return count === 0 ? {} : { gpusUnusable: count };
}

type Amounts = Pick<Resources, 'cpuCount' | 'memoryBytes' | 'gpuCount'>;
type Figures = Readonly<Record<string, number>>;

/** Sums over all nodes; gpus that are ill, or used outside of Weft, are neither free nor used. */
export function resourceFigures(
  state: Pick<State, 'nodes'>,
): Record<'total' | 'free' | 'used' | 'unusable', Figures> {
  const { total, free } = roomOf(state);
  const { gpusUnusable = 0 } = unusableGpus(state);
  const figures = ({ cpuCount, memoryBytes, gpuCount }: Amounts): Figures => {
    return { cpus: cpuCount, memory_bytes: memoryBytes, gpus: gpuCount };
  };
  const used = {
    cpuCount: total.cpuCount - free.cpuCount,
    memoryBytes: total.memoryBytes - free.memoryBytes,
    gpuCount: gpusInUse({ total, free, gpusUnusable }),
  };
  const unusable = { gpus: gpusUnusable };
  return { total: figures(total), free: figures(free), used: figures(used), unusable };
}

/** What the cluster counts as a whole. */
export function clusterResources(source: AnswerSource) {
  const { state, settings } = source;
  const { resources = {} } = schedulingOf(state, settings);
  const used = new Map<string, number>();
  for (const { amounts } of clusterUses(state, settings, source.now())) {
    for (const [name, count] of Object.entries(amounts)) {
      used.set(name, (used.get(name) ?? 0) + count);
    }
  }
  const names = Object.keys(resources).sort();
  return names.map((name) => ({
    name,
    total: resources[name] as number,
    used: used.get(name) ?? 0,
  }));
}

/** One look, for the history of the load: the same figures as above. */
export function loadOf({ jobs, nodes }: Pick<State, 'jobs' | 'nodes'>): LoadSample {
  let [cpus, cpusTotal, waiting] = [0, 0, 0];
  for (const { total, free } of nodes.values()) {
    cpus += total.cpuCount - free.cpuCount;
    cpusTotal += total.cpuCount;
  }
  for (const job of jobs.values()) waiting += waitingSize(job);
  return { cpus, cpusTotal, waiting };
}

/** Those that were started last, the newest start first; `max` at most. */
export function lastStarted({ jobs }: Pick<State, 'jobs'>, max: number): Job[] {
  const found: { readonly job: Job; readonly at: number }[] = [];
  for (const job of jobs.values()) {
    if (job.active.size === 0 || jobState(job) === 'pending') continue;
    const at = runStart(job) ?? 0;
    if (found.length === max && at < (found.at(-1)?.at ?? 0)) continue;
    const place = found.findIndex((other) => other.at <= at);
    found.splice(place < 0 ? found.length : place, 0, { job, at });
    found.length = Math.min(found.length, max);
  }
  return found.map(({ job }) => job);
}

/** Those with a notice of trouble; where very many tasks run, not all are looked at. */
export function stuckJobs(engine: Engine, max: number): Job[] {
  const found: Job[] = [];
  let left = NOTICE_LOOKS_MAX;
  for (const job of engine.state.jobs.values()) {
    if (job.active.size === 0 || job.active.size > left) continue;
    left -= job.active.size;
    if (found.length === max) break;
    if (jobTrouble(engine, job) !== null) found.push(job);
  }
  return found;
}

/** Those that ended badly and are still in memory, the newest end first. */
export function lastFailed({ jobs, finished }: Pick<State, 'jobs' | 'finished'>, max: number) {
  const found: Job[] = [];
  for (let at = finished.length - 1; at >= 0 && found.length < max; at -= 1) {
    const job = jobs.get(finished[at] as Job['id']);
    if (job?.outcome != null && isFailure(job.outcome.kind)) found.push(job);
  }
  return found;
}
