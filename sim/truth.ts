// The ground truth of a run: what is durably decided and what really runs, gathered from disk and
// kernels alone. Nothing here comes from what the head believes.

import type { Event } from '../src/kernel/machine/declared.ts';
import type { Of } from '../src/kernel/machine/events.ts';
import { parseIndices } from '../src/kernel/machine/jobs/indices.ts';
import type { JobId, NodeName, TaskPlace, UserName } from '../src/kernel/model/ids.ts';
import { formatEpochId, formatTaskId } from '../src/kernel/model/ids.ts';
import type { JobSpec, Outcome } from '../src/kernel/model/job.ts';
import { isUnderWay } from '../src/kernel/model/maintenance.ts';
import type { Share } from '../src/kernel/model/orders.ts';
import type { Reservation } from '../src/kernel/model/reservation.ts';
import { partKey } from './head-files.ts';
import type { SimProcess } from './process.ts';

export interface TaskTruth {
  epoch: number;
  outcome: Outcome | null;
}

export interface JobTruth {
  readonly id: JobId;
  readonly owner: UserName;
  spec: JobSpec;
  /** By index; a task that was never allocated nor ended is not in here. */
  readonly tasks: Map<number, TaskTruth>;
  outcome: Outcome | null;
  reservation: string | null;
}

/** Which epoch a process belongs to, as its environment says. */
export interface EpochPlace {
  readonly jobId: JobId;
  readonly taskId: string;
  readonly epochId: string;
  readonly epoch: number;
  readonly nodeRank: number;
  readonly rank: number;
}

/** What a task has of one node. Several may have parts of one gpu. */
export type ShareTruth = Pick<Share, 'resources' | 'gpus'>;

/** What a task's current epoch has of one node, for planning ahead. */
export interface HeldTruth extends ShareTruth {
  /** Null: not all of its parts have started. */
  readonly startedAt: number | null;
  readonly walltimeMs: number | null;
  readonly reservation: string | null;
  /** Some of its parts stand still, and so does its time. */
  readonly stopped: boolean;
}

/** A task's current epoch, as far as it holds something. */
interface EpochTruth {
  readonly place: TaskPlace;
  readonly shares: Map<NodeName, ShareTruth>;
  /** What it is to have once a task of its job gives it up. */
  readonly waits: ReadonlyMap<NodeName, Share>;
  readonly unstarted: Set<NodeName>;
  readonly stopped: Set<NodeName>;
  startedAt: number | null;
  /** Told to end: it is over in a moment. */
  isLeaving: boolean;
  /** Told to stop for others: its cpus are theirs. */
  isYielding: boolean;
}

export class Truth {
  readonly jobs = new Map<JobId, JobTruth>();
  /** Those that set something aside now or later. */
  readonly reservations = new Map<string, Reservation>();
  /** True time at which each of them was last made or changed. */
  readonly setAsideAt = new Map<string, number>();
  /** The head's wall clock at the last durable event. */
  headAt = 0;
  /** Epochs that began, or may begin, in the place of another task. */
  readonly #next = new Set<string>();
  /** Maintenances under way. */
  readonly #underWay = new Set<string>();
  /** By epoch: as the job was when it was started. */
  readonly #specs = new Map<string, JobSpec>();
  /** By epoch; what an abandoned epoch may still hold is not in here. */
  readonly #epochs = new Map<string, EpochTruth>();
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

  /** Files that programs left, by epoch and node. */
  readonly outputs = new Map<string, Set<string>>();

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

  left(process: SimProcess, name: string): void {
    const key = partKey(placeOf(process).epochId, process.node);
    this.outputs.set(key, (this.outputs.get(key) ?? new Set()).add(name));
  }

  /** What was only on this node's disk is rightly lost. */
  wiped(node: string): void {
    for (const [key, one] of this.written) if (one.node === node) this.written.delete(key);
  }

  /** The reservation that the job runs in; null = outside of any. */
  reservationOf(jobId: JobId): string | null {
    return this.jobs.get(jobId)?.reservation ?? null;
  }

  /** What this epoch was started with, whatever its job has become since. */
  specOf(epochId: string): JobSpec | undefined {
    return this.#specs.get(epochId);
  }

  /** What was next on a node and is to have a place there. */
  nextAt({ epochId, node }: Of<'part_placed'>): { place: TaskPlace; share: Share } | null {
    const epoch = this.#epochs.get(epochId);
    const share = epoch?.waits.get(node);
    return epoch === undefined || share === undefined ? null : { place: epoch.place, share };
  }

  wasNext(epochId: string): boolean {
    return this.#next.has(epochId);
  }

  /** Whether it is the current epoch of a task that has not been put back, nor has ended. */
  isCounted(epochId: string): boolean {
    return this.#epochs.has(epochId);
  }

  /** Whether a task of it has been given something. */
  holds(jobId: JobId): boolean {
    return [...this.#epochs.values()].some(({ place }) => place.jobId === jobId);
  }

  *heldOn(node: NodeName): Generator<HeldTruth> {
    for (const {
      place,
      shares,
      startedAt,
      stopped,
      isLeaving,
      isYielding,
    } of this.#epochs.values()) {
      const share = shares.get(node);
      const job = this.jobs.get(place.jobId);
      if (share === undefined || job === undefined || isLeaving) continue;
      const { resources, gpus } = share;
      yield {
        resources: isYielding ? { ...resources, cpuCount: 0 } : resources,
        gpus,
        startedAt,
        reservation: job.reservation,
        stopped: stopped.size > 0,
        walltimeMs: job.spec.walltimeMs,
      };
    }
  }

  /** A durable event; call after the checks, which want the truth before it. */
  learn(event: Event, at: number): void {
    this.#learnReservation(event);
    this.#learnEpoch(event, at);
    switch (event.kind) {
      case 'job_submitted': {
        const { jobId: id, spec, owner } = event;
        const reservation = spec.reservation ?? null;
        this.jobs.set(id, { id, owner, spec, tasks: new Map(), outcome: null, reservation });
        return;
      }
      case 'job_changed': {
        const job = this.jobs.get(event.jobId);
        if (job !== undefined) job.spec = event.spec;
        return;
      }
      case 'task_allocated': {
        const { place, epoch, shares } = event;
        this.taskOf(place).epoch = epoch;
        const epochId = formatEpochId(formatTaskId(place.jobId, place.index), epoch);
        const job = this.jobs.get(place.jobId);
        if (job !== undefined) this.#specs.set(epochId, job.spec);
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

  #learnReservation(event: Event): void {
    switch (event.kind) {
      case 'reservation_created':
      case 'reservation_changed':
        this.reservations.set(event.reservation.id, event.reservation);
        return;
      case 'reservation_extended':
        return this.#changeSlots(event.id, (slots) => [...slots, ...event.slots]);
      case 'reservation_slot_found':
        return this.#changeSlots(event.id, (slots) => [...slots, event.slot]);
      case 'reservation_slot_over':
        return this.#changeSlots(event.id, (slots) => {
          return slots.filter(({ from }) => from !== event.from);
        });
      case 'reservation_ended':
        this.reservations.delete(event.id);
        return;
      case 'job_reserved': {
        const job = this.jobs.get(event.jobId);
        if (job !== undefined) job.reservation = event.reservation;
        return;
      }
      default:
    }
  }

  #changeSlots(id: string, change: (slots: Reservation['slots']) => Reservation['slots']): void {
    const known = this.reservations.get(id);
    if (known !== undefined) this.reservations.set(id, { ...known, slots: change(known.slots) });
  }

  #learnEpoch(event: Event, at: number): void {
    switch (event.kind) {
      case 'task_allocated': {
        const { place, epoch, shares, next } = event;
        const given = new Map(shares.map((share) => [share.node, share]));
        const epochId = formatEpochId(formatTaskId(place.jobId, place.index), epoch);
        if (next) this.#next.add(epochId);
        this.#epochs.set(epochId, {
          place,
          startedAt: null,
          isLeaving: false,
          isYielding: false,
          stopped: new Set(),
          shares: next ? new Map() : given,
          waits: next ? given : new Map(),
          unstarted: new Set(shares.map(({ node }) => node)),
        });
        return;
      }
      case 'part_placed': {
        const epoch = this.#epochs.get(event.epochId);
        const resources = epoch?.waits.get(event.node);
        if (resources !== undefined) epoch?.shares.set(event.node, resources);
        return;
      }
      case 'part_started':
      case 'part_suspended':
      case 'part_resumed':
      case 'part_ended': {
        const epoch = this.#epochs.get(event.epochId);
        if (epoch !== undefined) learnPart(epoch, event, at);
        return;
      }
      case 'end_asked':
      case 'suspend_asked':
      case 'resume_asked':
        for (const epoch of this.#epochsOf(event.place)) learnWish(epoch, event);
        return;
      case 'task_requeued':
      case 'task_returned':
      case 'task_done':
        for (const [id, { place }] of this.#epochs) {
          if (isSame(place, event.place)) this.#epochs.delete(id);
        }
        return;
      case 'maintenance_moved':
        if (isUnderWay(event)) this.#underWay.add(event.id);
        else this.#underWay.delete(event.id);
        return;
      case 'clock_stepped':
        for (const id of this.#underWay) this.#changeSlots(id, (slots) => movedBy(slots, event));
        for (const epoch of this.#epochs.values()) {
          if (epoch.startedAt !== null) epoch.startedAt += event.byMs;
        }
        return;
      default:
    }
  }

  #epochsOf(place: TaskPlace): EpochTruth[] {
    return [...this.#epochs.values()].filter((epoch) => isSame(epoch.place, place));
  }
}

function movedBy(slots: Reservation['slots'], { byMs }: { byMs: number }): Reservation['slots'] {
  return slots.map((slot) => ({ ...slot, from: slot.from + byMs, until: slot.until + byMs }));
}

function isSame(a: TaskPlace, b: TaskPlace): boolean {
  return a.jobId === b.jobId && a.index === b.index;
}

type PartEvent = Of<'part_started' | 'part_suspended' | 'part_resumed' | 'part_ended'>;

function learnPart(epoch: EpochTruth, { kind, node }: PartEvent, at: number): void {
  if (kind === 'part_ended') epoch.shares.delete(node);
  if (kind === 'part_suspended') epoch.stopped.add(node);
  else epoch.stopped.delete(node);
  if (kind !== 'part_started') return;
  epoch.unstarted.delete(node);
  if (epoch.unstarted.size === 0) epoch.startedAt ??= at;
}

function learnWish(
  epoch: EpochTruth,
  event: Of<'end_asked' | 'suspend_asked' | 'resume_asked'>,
): void {
  if (event.kind === 'end_asked') epoch.isLeaving = true;
  else if (event.stopper === 'scheduler') epoch.isYielding = event.kind === 'suspend_asked';
}

export function placeOf(process: SimProcess): EpochPlace {
  const { variables } = process;
  const text = (name: string): string => variables.get(name) ?? '';
  const taskId = text('WEFT_TASK_ID');
  const epoch = Number(text('WEFT_EPOCH'));
  return {
    taskId,
    epoch,
    epochId: `${taskId}#${epoch}`,
    jobId: Number(text('WEFT_JOB_ID')) as JobId,
    nodeRank: Number(text('WEFT_NODE_RANK')),
    rank: Number(text('WEFT_PROC_RANK')),
  };
}
