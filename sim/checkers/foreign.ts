// X1-X4 and X6: what head and gateways conclude about another cluster, held against what is true there.

import type { Event } from '../../src/core/controller/declared.ts';
import type { Of } from '../../src/core/controller/events.ts';
import {
  formatEpochId,
  formatTaskId,
  type JobId,
  type TaskPlace,
} from '../../src/core/model/ids.ts';
import type { ExitStatus, Outcome } from '../../src/core/model/job.ts';
import { foreignName, memberName } from '../../src/core/model/site.ts';
import type { Said } from '../foreign/adaptor.ts';
import type { ForeignSystem, Program, Starter, SystemJob } from '../foreign/system.ts';
import type { JobTruth, Truth } from '../truth.ts';
import { Violation } from '../violation.ts';

export interface ForeignWatchWorld {
  readonly truth: Truth;
  /** By the names of their gateways. */
  readonly systems: ReadonlyMap<string, ForeignSystem>;
  /** A failed check inside somebody's callback must not be taken for an error of theirs. */
  readonly guard: (check: () => void) => void;
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
  /** Nodes, by site and name, that a site has stopped for a maintenance of ours. */
  readonly #stopped = new Set<string>();
  /** Gateways that were told that the site's own scheduler is on, and nothing else since. */
  readonly #warned = new Set<string>();

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

  /** X4: whoever knows that another scheduler is at work starts nothing beside it. */
  onStarted(site: string, job: SystemJob, by: Starter): void {
    if (by === 'gateway') this.#begun.add(job);
    if (by === 'gateway') this.#world.guard(() => this.#checkWindow(site, job));
    if (by !== 'gateway' || !this.#warned.has(site)) return;
    if (this.#world.systems.get(site)?.isScheduling !== true) return;
    this.#world.guard(() => {
      const words = `${site}/${job.id} is started by us beside the site's own scheduler`;
      throw new Violation('X4', words);
    });
  }

  /** X6: in a maintenance nothing of any user starts. */
  #checkWindow(site: string, job: SystemJob): void {
    const id = Number(job.launch?.epochId.split(/[[#]/)[0]);
    if (this.#world.truth.jobs.get(id as JobId)?.spec.system !== undefined) return;
    const node = job.nodes.find((name) => this.#stopped.has(memberName(name, site)));
    if (node === undefined) return;
    throw new Violation('X6', `${site}/${job.id} starts on ${node}, which is in maintenance`);
  }

  onHeard(site: string, [word]: readonly string[], said: Said): void {
    if (word !== 'quiet' || !('value' in said)) return;
    if (said.value === true) this.#warned.delete(site);
    else this.#warned.add(site);
  }

  /** A gateway that is gone knows nothing any more. */
  gatewayGone(site: string): void {
    this.#warned.delete(site);
  }

  /** A durable event, before the truth has learned it. */
  onEvent(event: Event): void {
    switch (event.kind) {
      case 'job_submitted':
        return this.#checkAdopted(event);
      case 'task_requeued':
        return this.#checkOver(event, false);
      case 'task_done':
        return this.#checkOver(event, true);
      case 'maintenance_stop':
        if (event.stop === 'stopped') this.#stopped.add(event.node);
        else this.#stopped.delete(event.node);
        return;
      default:
    }
  }

  /** X3: a job of a site is one of ours, as long as its site counts on. */
  #checkAdopted({ jobId, spec }: Of<'job_submitted'>): void {
    const { foreign } = spec;
    if (foreign === undefined) return;
    const name = foreignName(foreign.site, foreign.job);
    const known = this.#adopted.get(name);
    if (known !== undefined) {
      throw new Violation('X3', `${name} is job ${known}, and becomes job ${jobId} as well`);
    }
    this.#adopted.set(name, jobId);
  }

  #checkOver({ place, outcome }: Ended, isDone: boolean): void {
    const job = this.#world.truth.jobs.get(place.jobId);
    if (job === undefined) return;
    // Back in our queue it is only where it was before we had a hand in it.
    if (job.spec.foreign !== undefined)
      return isDone ? this.#checkForeign(job, outcome) : undefined;
    const { epoch } = this.#world.truth.taskOf(place);
    const epochId = formatEpochId(formatTaskId(place.jobId, place.index), epoch);
    if (!isAtSite(job)) return;
    this.#over.add(epochId);
    const [program] = this.#ran.get(epochId) ?? [];
    const lie = lieOf(program, outcome);
    if (lie !== null) throw new Violation('X1', `${epochId} is ${outcome.kind}, but ${lie}`);
  }

  /** X1 of a job that a user gave to the site: over when it is over there. */
  #checkForeign({ id, spec }: JobTruth, outcome: Outcome): void {
    const { site = '', job = '' } = spec.foreign ?? {};
    const there = this.#world.systems.get(site)?.jobs.get(job);
    const words = `job ${id}, ${site}/${job}, is ${outcome.kind}, but`;
    // What is cancelled here is told to the site as often as it takes.
    const isToEnd = there !== undefined && !this.#begun.has(there);
    if (outcome.kind === 'cancelled' && isToEnd) return;
    if (there?.state !== 'ended') throw new Violation('X1', `${words} is ${there?.state} there`);
    const { kind, exit } = outcome;
    if (kind !== 'completed' && kind !== 'failed') return;
    if (codeOf(exit) === codeOf(there.exit)) return;
    throw new Violation('X1', `${words} ended ${JSON.stringify(there.exit)}`);
  }
}

type Ended = { readonly place: TaskPlace; readonly outcome: Outcome };

/** Ours, and for a site. */
export function isAtSite({ spec }: JobTruth): boolean {
  return spec.request.labels.some((label) => label.startsWith('site='));
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
