// X1-X4, X6 and X9-X11: what head and gateways conclude about another cluster, held against what is
// true there.

import type { Event } from '../../src/kernel/machine/declared.ts';
import type { Of } from '../../src/kernel/machine/events.ts';
import { parseIndices } from '../../src/kernel/machine/jobs/indices.ts';
import {
  formatEpochId,
  formatTaskId,
  type JobId,
  type TaskPlace,
} from '../../src/kernel/model/ids.ts';
import type { ExitStatus, Outcome } from '../../src/kernel/model/job.ts';
import { isAlive } from '../../src/kernel/model/maintenance.ts';
import { foreignName, memberName } from '../../src/kernel/model/site.ts';
import type { JobTruth, Truth } from '../truth.ts';
import { Violation } from '../violation.ts';
import type { Said } from './adaptor.ts';
import type { ForeignSystem } from './system.ts';
import type { Program, Starter, SystemJob } from './system-job.ts';

export interface ForeignWatchWorld {
  readonly truth: Truth;
  readonly time: { readonly now: number };
  /** By the names of their gateways. */
  readonly systems: ReadonlyMap<string, ForeignSystem>;
  /** A failed check inside somebody's callback must not be taken for an error of theirs. */
  readonly guard: (check: () => void) => void;
  /** A gateway that asks more than one question knows what it was told after the last. */
  readonly learnMs: number;
}

export class ForeignWatch {
  readonly #world: ForeignWatchWorld;
  /** Every program of ours that ever ran at a site, by epoch. */
  readonly #ran = new Map<string, Program[]>();
  /** Epochs that the head holds for over. */
  readonly #over = new Set<string>();
  /** Names of jobs of sites that have become jobs of ours. */
  readonly #adopted = new Map<string, number>();
  /** Jobs that we have started. */
  readonly #begun = new Set<SystemJob>();
  /**
   * Number of the event by which a site had stopped a node for a maintenance of ours, by its name
   * here.
   */
  readonly #stopped = new Map<string, number>();
  /** That by which a task had its nodes last. */
  readonly #placed = new Map<string, number>();
  #events = 0;
  /** Since when gateways know that the site's own scheduler is on, and have heard nothing else. */
  readonly #warned = new Map<string, number>();
  /** Maintenances for which it is stopped or may be, by its name here. */
  readonly #stoppedFor = new Map<string, Set<string>>();
  /** Maintenances that are over. */
  readonly #ended = new Set<string>();

  constructor(world: ForeignWatchWorld) {
    this.#world = world;
  }

  /** X2: while a site has a job of a name, no other of that name is given to it. */
  onSubmitted(site: string, job: SystemJob): void {
    if (job.launch === null) return;
    this.#world.guard(() => {
      for (const other of this.#world.systems.get(site)?.jobs.values() ?? []) {
        if (other === job || other.name !== job.name || other.isPurged) continue;
        const words = `${site} has job ${other.id} of the name ${job.name}, and is given ${job.id}`;
        throw new Violation('X2', words);
      }
    });
  }

  onProgram(what: 'start' | 'end', program: Program): void {
    if (what === 'end') return;
    const { epochId, site, job } = program;
    this.#world.guard(() => {
      const before = this.#ran.get(epochId) ?? [];
      this.#ran.set(epochId, [...before, program]);
      if (before.length > 0)
        throw new Violation('X2', `${epochId} runs twice, as ${site}/${job.id}`);
      if (!this.#over.has(epochId)) return;
      throw new Violation('X1', `${epochId} begins as ${site}/${job.id} although it is over`);
    });
  }

  /** X4: whoever knows that another scheduler is at work has nothing started beside it. */
  onOrdered(site: string, job: SystemJob, sentAt: number): void {
    const since = this.#warned.get(site);
    if (since === undefined || sentAt < since) return;
    if (this.#world.systems.get(site)?.isScheduling !== true) return;
    this.#world.guard(() => {
      const words = `${site}/${job.id} is started by us beside the site's own scheduler`;
      throw new Violation('X4', words);
    });
  }

  onStarted(site: string, job: SystemJob, by: Starter): void {
    if (by !== 'gateway') return;
    this.#begun.add(job);
    this.#world.guard(() => this.#checkWindow(site, job));
    this.#world.guard(() => this.#checkNodes(site, job));
    this.#world.guard(() => checkWish(site, job));
  }

  /** X10: what a gateway starts begins on nodes that a plan gave it. */
  #checkNodes(site: string, job: SystemJob): void {
    const place = this.#placeOf(site, job);
    if (place === undefined) return;
    const task = formatTaskId(place.jobId, place.index);
    const nodes = job.nodes
      .map((name) => memberName(name, site))
      .sort()
      .join();
    for (const [epochId, given] of this.#world.truth.allocations) {
      if (epochId.startsWith(`${task}#`) && [...given].sort().join() === nodes) return;
    }
    throw new Violation(
      'X10',
      `${site}/${job.id}, task ${task}, starts on ${nodes}, as no plan has it`,
    );
  }

  /**
   * X6: in a maintenance nothing of any user starts but what was placed there before its site
   * stopped it.
   */
  #checkWindow(site: string, job: SystemJob): void {
    const place = this.#placeOf(site, job);
    const task = place === undefined ? undefined : this.#world.truth.jobs.get(place.jobId);
    if (place === undefined || task?.spec.system !== undefined) return;
    const placedAt = this.#placed.get(formatTaskId(place.jobId, place.index)) ?? this.#events;
    const node = job.nodes.find((name) => {
      return placedAt > (this.#stopped.get(memberName(name, site)) ?? Number.POSITIVE_INFINITY);
    });
    if (node === undefined) return;
    throw new Violation('X6', `${site}/${job.id} starts on ${node}, which is in maintenance`);
  }

  /** The task of ours that it is; undefined: its site's users have it for themselves. */
  #placeOf(site: string, { id, launch }: SystemJob): TaskPlace | undefined {
    const taskId = launch?.epochId.split('#')[0];
    if (taskId !== undefined) {
      const [, jobId, index] = /^(\d+)(?:\[(\d+)\])?$/.exec(taskId) ?? [];
      return { jobId: Number(jobId) as JobId, index: index === undefined ? null : Number(index) };
    }
    const jobId = this.#adopted.get(foreignName(site, id)) as JobId | undefined;
    if (jobId === undefined) return undefined;
    const isArray = this.#world.truth.jobs.get(jobId)?.spec.array != null;
    return { jobId, index: isArray ? Number(id.split('.')[1]) : null };
  }

  #noteStop({ id, node, stop }: Of<'maintenance_stop'>): void {
    const wanted = this.#stoppedFor.get(node) ?? new Set();
    this.#stoppedFor.set(node, wanted);
    if (stop === 'asked' || stop === 'stopped') wanted.add(id);
    else wanted.delete(id);
  }

  /** X9: a maintenance that is over keeps no node of a site, and takes none any more. */
  #checkGivenBack(site: string): void {
    for (const { name, stopped } of this.#world.systems.get(site)?.nodes ?? []) {
      const [, id] = /^weft maintenance (m\d+)$/.exec(stopped ?? '') ?? [];
      if (id === undefined || !this.#ended.has(id)) continue;
      // What a site shows stays when the next maintenance has the node.
      const wanted = [...(this.#stoppedFor.get(memberName(name, site)) ?? [])];
      if (wanted.some((other) => !this.#ended.has(other))) continue;
      throw new Violation('X9', `${id} is over, and ${site} keeps ${name} stopped for it`);
    }
  }

  onHeard(site: string, [word]: readonly string[], said: Said): void {
    if (word === 'node') this.#world.guard(() => this.#checkGivenBack(site));
    if (word !== 'quiet' || !('value' in said)) return;
    const { time, learnMs } = this.#world;
    if (said.value === true) this.#warned.delete(site);
    else if (!this.#warned.has(site)) this.#warned.set(site, time.now + learnMs);
  }

  /** A gateway that is gone knows nothing any more. */
  gatewayGone(site: string): void {
    this.#warned.delete(site);
  }

  /** A durable event, before the truth has learned it. */
  onEvent(event: Event): void {
    this.#events += 1;
    switch (event.kind) {
      case 'job_submitted':
        return this.#checkAdopted(event);
      case 'task_allocated': {
        const { jobId, index } = event.place;
        this.#placed.set(formatTaskId(jobId, index), this.#events);
        return;
      }
      case 'task_requeued':
        return this.#checkOver(event, false);
      case 'task_done':
        return this.#checkOver(event, true);
      case 'pending_ended':
        return this.#checkPending(event);
      case 'maintenance_stop':
        this.#noteStop(event);
        if (event.stop === 'stopped') this.#stopped.set(event.node, this.#events);
        else this.#stopped.delete(event.node);
        return;
      case 'maintenance_moved':
        if (isAlive(event)) return;
        this.#ended.add(event.id);
        for (const site of this.#world.systems.keys()) this.#checkGivenBack(site);
        return;
      default:
    }
  }

  /** X3: a job of a site is one of ours, as long as its site counts on; so is each of an array. */
  #checkAdopted({ jobId, spec }: Of<'job_submitted'>): void {
    const { foreign, array } = spec;
    if (foreign === undefined) return;
    const { site, job } = foreign;
    const elements =
      array === null ? [job] : [...parseIndices(array.indices)].map((at) => `${job}.${at}`);
    for (const id of new Set([job, ...elements])) {
      const name = foreignName(site, id);
      const known = this.#adopted.get(name);
      if (known !== undefined) {
        throw new Violation('X3', `${name} is job ${known}, and becomes job ${jobId} as well`);
      }
      this.#adopted.set(name, jobId);
    }
    if (this.#world.systems.get(site)?.at(job) !== undefined) return;
    throw new Violation('X3', `job ${jobId} is for ${foreignName(site, job)}, which is not there`);
  }

  /** X1 of what has not begun here: that it never will at its site is the site's own word. */
  #checkPending({ jobId, indices, outcome }: Of<'pending_ended'>): void {
    const job = this.#world.truth.jobs.get(jobId);
    const isBySite = outcome.kind !== 'cancelled' || outcome.detail?.startsWith(BY_SITE) === true;
    if (job?.spec.foreign === undefined || !isBySite) return;
    for (const index of parseIndices(indices)) this.#checkForeign(job, index, outcome);
  }

  #checkOver({ place, outcome }: Ended, isDone: boolean): void {
    const job = this.#world.truth.jobs.get(place.jobId);
    if (job === undefined) return;
    // Back in our queue it is only where it was before we had a hand in it.
    if (job.spec.foreign !== undefined)
      return isDone ? this.#checkForeign(job, place.index ?? 0, outcome) : undefined;
    const { epoch } = this.#world.truth.taskOf(place);
    const epochId = formatEpochId(formatTaskId(place.jobId, place.index), epoch);
    if (!isAtSite(job)) return;
    this.#over.add(epochId);
    const [program] = this.#ran.get(epochId) ?? [];
    const lie = lieOf(program, outcome);
    if (lie !== null) throw new Violation('X1', `${epochId} is ${outcome.kind}, but ${lie}`);
  }

  /** X1 of a job that a user gave to the site: over when it is over there. */
  #checkForeign({ id, spec }: JobTruth, index: number, outcome: Outcome): void {
    const { site = '', job: whole = '' } = spec.foreign ?? {};
    const job = spec.array === null ? whole : `${whole}.${index}`;
    const there = this.#world.systems.get(site)?.at(job);
    const words = `job ${id}, ${site}/${job}, is ${outcome.kind}, but`;
    // What is cancelled here is told to the site as often as it takes.
    const isBySite = outcome.detail?.startsWith(BY_SITE) === true;
    const isToEnd = there !== undefined && !this.#begun.has(there) && !isBySite;
    if (outcome.kind === 'cancelled' && isToEnd) return;
    if (there?.state !== 'ended') throw new Violation('X1', `${words} is ${there?.state} there`);
    const { kind, exit } = outcome;
    if (kind !== 'completed' && kind !== 'failed') return;
    if (codeOf(exit) === codeOf(there.exit)) return;
    throw new Violation('X1', `${words} ended ${JSON.stringify(there.exit)}`);
  }
}

/** How the head's words for an end begin that a site has told. */
const BY_SITE = 'ended at its site';

type Ended = { readonly place: TaskPlace; readonly outcome: Outcome };

/** Ours, and for a site. */
export function isAtSite({ spec }: JobTruth): boolean {
  return spec.request.labels.some((label) => label.startsWith('site='));
}

/** X11: what a gateway starts begins on nodes that its user wants. */
function checkWish(site: string, { id, only, nodes }: SystemJob): void {
  const other = nodes.find((name) => only?.includes(name) === false);
  if (other === undefined) return;
  throw new Violation('X11', `${site}/${id} starts on ${other}, and is to run on ${only?.join()}`);
}

function lieOf(program: Program | undefined, { kind, exit }: Outcome): string | null {
  if (program !== undefined && program.exit === null) return 'its program runs';
  switch (kind) {
    case 'completed':
    case 'failed':
      if (program === undefined) return 'it never ran';
      return codeOf(exit) === codeOf(program.exit) && (kind === 'failed') === (codeOf(exit) !== 0)
        ? null
        : `its program ended ${JSON.stringify(program.exit)}`;
    case 'launch_failed':
      return program === undefined ? null : 'it ran';
    default:
      return null;
  }
}

/** One number, like a shell has it: a signal is a code over 128. */
function codeOf(exit: ExitStatus | null | undefined): number | null {
  if (exit == null) return null;
  return exit.signal === undefined ? (exit.code ?? null) : 128 + exit.signal;
}
