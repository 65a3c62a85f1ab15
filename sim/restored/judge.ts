// What must hold of a head whose disk was put back: what it had accepted before the copy, and what
// it accepts after, is never lost (S1), runs once (S13) and under an id of its own (S14); what was
// lost with the disk leaves nothing behind (L3, X5), and is nobody else's (X3).

import type { Engine } from '../../src/kernel/head/engine.ts';
import type { Event } from '../../src/kernel/machine/declared.ts';
import type { Of } from '../../src/kernel/machine/events.ts';
import type { State } from '../../src/kernel/machine/state.ts';
import { formatTaskId } from '../../src/kernel/model/ids.ts';
import { isAlive } from '../../src/kernel/model/maintenance.ts';
import { checkBooks } from '../checkers/belief.ts';
import type { Site } from '../foreign/site.ts';
import type { Plan } from '../plan.ts';
import { Violation } from '../violation.ts';

export interface Start {
  readonly epochId: string;
  readonly jobId: number;
  readonly plan: Plan;
  /** At a site it was ordered some time ago. */
  readonly isAtSite: boolean;
}

export class RestoredJudge {
  /** Exit codes by name of the job. */
  readonly codes = new Map<string, number>();
  /** Jobs that must not be lost, with their ids. */
  readonly #accepted = new Map<string, number>();
  /** By task. */
  readonly #starts = new Map<string, number>();
  readonly #names = new Map<number, string>();
  /**
   * How often a task, by its id, was put back for a maintenance; twice what is lost with the disk.
   */
  readonly #requeues = new Map<string, number>();
  /** What had started when the disk was copied; null: it was not yet. */
  #begun: ReadonlySet<string> | null = null;
  /** What is accepted now is lost with the disk. */
  #isDoomed = false;
  lost = 0;

  copied(): void {
    this.#begun = new Set(this.#starts.keys());
    this.#isDoomed = true;
  }

  putBack(): void {
    this.#isDoomed = false;
  }

  accepted(name: string, jobId: number): void {
    if (this.#isDoomed) this.lost += 1;
    else this.#accepted.set(name, jobId);
  }

  /** A durable event of this instant. */
  learn(event: Event, at: number, engine: Engine | null): void {
    if (event.kind === 'task_allocated' && !event.next && engine !== null) {
      checkSetAside(event, at, engine.state);
    }
    if (event.kind !== 'task_requeued' || !/maintenance/.test(event.because)) return;
    const taskId = formatTaskId(event.place.jobId, event.place.index);
    const more = this.#isDoomed ? 2 : 1;
    this.#requeues.set(taskId, (this.#requeues.get(taskId) ?? 0) + more);
  }

  started({ epochId, jobId, plan, isAtSite }: Start, engine: Engine | null): void {
    const { name = '' } = plan;
    if (!isAtSite && engine?.behind != null) {
      throw new Violation('S14', `${epochId} starts while records are missing`);
    }
    const other = this.#names.get(jobId);
    if (other !== undefined && other !== name) {
      throw new Violation('S14', `job id ${jobId} is of ${other} and of ${name}`);
    }
    this.#names.set(jobId, name);
    const task = `${name}${/\[\d+\]/.exec(epochId)?.[0] ?? ''}`;
    const starts = (this.#starts.get(task) ?? 0) + 1;
    this.#starts.set(task, starts);
    // What waited when the copy was made, and ran since, is run again: its record is lost.
    const again = this.#begun !== null && !this.#begun.has(task) ? 2 : 1;
    const max = again + (this.#requeues.get(epochId.split('#')[0] ?? '') ?? 0);
    if (starts > max) throw new Violation('S13', `${task} is run again though its end is known`);
  }

  /** S9. */
  look({ state, failure }: Engine): void {
    if (failure !== null) return;
    checkBooks({ head: state });
  }

  /** Null: everything has ended as it must, and nothing is left. */
  whyNotOver({ state }: Engine, site: Site | null): Violation | null {
    const other = site?.notAsTheyWere() ?? [];
    if (other.length > 0) return new Violation('X5', other.join(', '));
    const open = [...state.jobs.values()].filter(({ outcome }) => outcome === null);
    const ids = open.map(({ id, spec }) => `${id} (${spec.name})`).slice(0, 10);
    if (open.length > 0) return new Violation('L1', `jobs never end: ${ids.join(', ')}`);
    const left = site?.left() ?? [];
    for (const node of state.nodes.values()) {
      for (const epochId of node.holding.keys()) left.push(`${epochId} holds ${node.name}`);
    }
    const alive = [...state.maintenances.values()].filter(isAlive);
    left.push(...alive.map(({ id, phase }) => `maintenance ${id} is ${phase}`));
    if (left.length === 0) return null;
    return new Violation('L3', `left behind: ${left.slice(0, 10).join(', ')}`);
  }

  /** Nothing is lost, nobody gets the result of another, and a site's job is one of ours. */
  checkEnd({ state }: Engine): void {
    for (const [name, jobId] of this.#accepted) {
      const found = [...state.jobs.values()].find(({ id }) => id === jobId)?.spec.name;
      if (found === name) continue;
      throw new Violation('S1', `job ${jobId} was accepted as ${name} and is ${found ?? 'lost'}`);
    }
    const foreign = new Set<string>();
    for (const { id, spec, outcome } of state.jobs.values()) {
      if (spec.system !== undefined) continue;
      if (spec.foreign !== undefined) {
        const own = `${spec.foreign.site}/${spec.foreign.job}`;
        if (foreign.has(own)) throw new Violation('X3', `${own} is job ${id} and another one`);
        foreign.add(own);
        continue;
      }
      const code = this.codes.get(spec.name);
      const wanted = code === 0 ? 'completed' : 'failed';
      if (outcome?.kind === wanted && outcome.exit?.code === code) continue;
      throw new Violation('S13', `job ${id} (${spec.name}) ended as ${outcome?.kind}: ${code}`);
    }
  }
}

/** S5: no user gets a node in the time in which it is set aside: nobody here submits for that. */
function checkSetAside({ place, shares }: Of<'task_allocated'>, at: number, state: State): void {
  const job = state.jobs.get(place.jobId);
  if (job === undefined || job.spec.system !== undefined) return;
  for (const { id, slots } of state.reservations.values()) {
    const open = slots.filter(({ from, until }) => from <= at && at < until);
    const taken = shares.find(({ node }) => open.some((slot) => Object.hasOwn(slot.shares, node)));
    if (taken === undefined) continue;
    throw new Violation('S5', `job ${place.jobId} is given ${taken.node}, which ${id} has now`);
  }
}
