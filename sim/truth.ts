// The ground truth of a run: what is durably decided and what really runs, gathered from disk and
// kernels alone. Nothing here comes from what the head believes.

import type { Event } from '../src/core/controller/events.ts';
import { parseIndices } from '../src/core/controller/indices.ts';
import type { JobId, NodeName, TaskPlace } from '../src/core/model/ids.ts';
import { formatEpochId, formatTaskId } from '../src/core/model/ids.ts';
import type { JobSpec, Outcome } from '../src/core/model/job.ts';
import type { SimProcess } from './kernel.ts';

export interface TaskTruth {
  epoch: number;
  outcome: Outcome | null;
}

export interface JobTruth {
  readonly id: JobId;
  readonly spec: JobSpec;
  /** By index; a task that was never allocated nor ended is not in here. */
  readonly tasks: Map<number, TaskTruth>;
  outcome: Outcome | null;
}

/** Which epoch a process belongs to, as its environment says. */
export interface Place {
  readonly jobId: JobId;
  readonly taskId: string;
  readonly epochId: string;
  readonly epoch: number;
  readonly nodeRank: number;
  readonly rank: number;
}

export class Truth {
  readonly jobs = new Map<JobId, JobTruth>();
  /** How many tasks have ended: whether there is progress. */
  endedTasks = 0;
  readonly drained = new Set<NodeName>();
  /** Nodes of every epoch that was ever durably allocated. */
  readonly allocations = new Map<string, readonly NodeName[]>();
  readonly live = new Set<SimProcess>();
  /** Every process that ever ran, by epoch; without what programs left behind. */
  readonly ran = new Map<string, SimProcess[]>();
  /** Output that is or was on a node's disk, by the name that the head keeps it under. */
  readonly written = new Map<string, { readonly node: string; readonly text: string }>();

  taskOf(place: TaskPlace): TaskTruth {
    const { jobId, index } = place;
    const job = this.jobs.get(jobId);
    if (job === undefined) throw new Error(`a record speaks of job ${jobId} before it exists`);
    const task = job.tasks.get(index ?? 0) ?? { epoch: 0, outcome: null };
    job.tasks.set(index ?? 0, task);
    return task;
  }

  started(process: SimProcess): void {
    this.live.add(process);
    if (process.isLeftover) return;
    const { epochId } = placeOf(process);
    this.ran.set(epochId, [...(this.ran.get(epochId) ?? []), process]);
  }

  ended(process: SimProcess): void {
    this.live.delete(process);
  }

  wrote(process: SimProcess, text: string): void {
    const { epochId, nodeRank, rank } = placeOf(process);
    const key = `${epochId}/${nodeRank}/${rank}/stdout`;
    const before = this.written.get(key)?.text ?? '';
    this.written.set(key, { node: process.node, text: before + text });
  }

  /** What was only on this node's disk is rightly lost. */
  wiped(node: string): void {
    for (const [key, one] of this.written) if (one.node === node) this.written.delete(key);
  }

  /** A durable event; call after the checks, which want the truth before it. */
  learn(event: Event): void {
    switch (event.kind) {
      case 'job_submitted': {
        const { jobId: id, spec } = event;
        this.jobs.set(id, { id, spec, tasks: new Map(), outcome: null });
        return;
      }
      case 'task_allocated': {
        const { place, epoch, shares } = event;
        this.taskOf(place).epoch = epoch;
        const epochId = formatEpochId(formatTaskId(place.jobId, place.index), epoch);
        this.allocations.set(
          epochId,
          shares.map(({ node }) => node),
        );
        return;
      }
      case 'task_done':
        this.taskOf(event.place).outcome = event.outcome;
        this.endedTasks += 1;
        return;
      case 'pending_ended':
        for (const index of parseIndices(event.indices)) {
          this.taskOf({ jobId: event.jobId, index }).outcome = event.outcome;
        }
        return;
      case 'job_done': {
        const job = this.jobs.get(event.jobId);
        if (job !== undefined) job.outcome = event.outcome;
        return;
      }
      case 'node_drained':
        this.drained.add(event.node);
        return;
      case 'node_undrained':
        this.drained.delete(event.node);
        return;
      default:
    }
  }
}

export function placeOf(process: SimProcess): Place {
  const { variables } = process;
  const text = (name: string): string => variables.get(name) ?? '';
  const taskId = text('WEFT_TASK_ID');
  const epoch = Number(text('WEFT_EPOCH'));
  return {
    ...{ taskId, epoch, epochId: `${taskId}#${epoch}` },
    jobId: Number(text('WEFT_JOB_ID')) as JobId,
    nodeRank: Number(text('WEFT_NODE_RANK')),
    rank: Number(text('WEFT_PROC_RANK')),
  };
}
