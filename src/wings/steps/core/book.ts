// The steps that a head knows, by their tasks: in memory only, as nodes tell of theirs once more to
// each head that they meet.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import type { EpochId, NodeName, TaskId } from '../../../kernel/model/ids.ts';
import { formatStepId, NUMBER_MAX, parseStepId, type StepName } from './ids.ts';
import { PROCESSES_MAX, STEPS_KEPT_MAX, STEPS_MAX, TASKS_KEPT_MAX } from './limits.ts';
import { isLive, keyOf, type Step, type StepProcess, stepOf } from './step.ts';
import type { StepEnd, ToldProcess } from './told.ts';
import { UnsureSteps } from './unsure.ts';

/** The number of the connection to a node. */
type SessionOf = (node: NodeName) => number | null;

interface TaskSteps {
  next: number;
  /** By number, oldest first. */
  readonly steps: Map<number, Step>;
}

export interface NewStep {
  readonly task: TaskId;
  readonly epochId: EpochId;
  readonly command: string;
  readonly by: string;
  /** By rank. */
  readonly nodes: readonly NodeName[];
  readonly at: number;
  readonly sessionOf?: SessionOf;
  /** The task has started them itself. */
  readonly isNoted?: boolean;
  readonly cpuCount?: number | undefined;
}

/** `unsure`: what ended long ago and nobody else knows of; it is shown, and not kept. */
export type Trust = 'sure' | 'unsure' | 'no';

interface Heard {
  readonly at: number;
  readonly session: number | null;
  /** How far what is said of it is believed; it is there all the same. Absent: all of it is. */
  readonly counts?: (told: ToldProcess) => Trust;
}

interface Place {
  readonly epochId: EpochId;
  readonly node: NodeName;
}

/** What is there beside the book: steps of earlier times. */
export interface BookWorld {
  /** No step of the task had this number or a higher one. */
  nextOf(task: TaskId): number;
  /** A step is about to be given out: its number is taken, whatever becomes of it. */
  made(step: Step): void;
  /** None of its processes runs; heard once more when one that was not known is over. */
  over(step: Step): void;
}

const NOTHING: BookWorld = { nextOf: () => 0, made: () => undefined, over: () => undefined };

export class StepBook {
  readonly #tasks = new Map<TaskId, TaskSteps>();
  readonly #unsure = new UnsureSteps();
  readonly #world: BookWorld;

  constructor(world: BookWorld = NOTHING) {
    this.#world = world;
  }

  /** An error says of what the task has as much at once as it may. */
  add(made: NewStep): Result<Step, string> {
    const { task, epochId, command, by, nodes, at, sessionOf, isNoted = false } = made;
    const own = this.#of(task);
    const full = this.#fullOf(own, made);
    if (full !== null) return err(full);
    const number = own.next;
    own.next += 1;
    const processes = new Map(
      nodes.map((node, rank) => {
        const askedOver = sessionOf?.(node) ?? null;
        const began = { node, startedAt: at, endedAt: null, end: null, cpus: null };
        return [rank, { ...began, askedOver, isPast: false }];
      }),
    );
    const count = nodes.length;
    const named = { task, number, epochId, command, by, count, cpuCount: made.cpuCount };
    const step: Step = { ...named, isSure: true, isNoted, processes };
    this.#keep(own, step);
    this.#world.made(step);
    return ok(step);
  }

  /** What the task starts itself has no helper, and keeps out nobody who asks the head. */
  #fullOf(own: TaskSteps, { epochId, nodes, isNoted = false }: NewStep): string | null {
    if (own.next > NUMBER_MAX)
      return `no number left for another step: they end at ${NUMBER_MAX}; start it in another task`;
    const alike = [...own.steps.values()].filter((one) => (one.isNoted ?? false) === isNoted);
    const running = alike.filter((one) => one.epochId === epochId && isLive(one));
    if (running.length >= STEPS_MAX)
      return `${STEPS_MAX} steps, which is as many as it may have at once`;
    for (const node of new Set(nodes)) {
      const wanted = nodes.filter((name) => name === node).length;
      const count = liveOn(alike, { epochId, node });
      if (count + wanted > PROCESSES_MAX) {
        const more = `${wanted} more would be beyond the ${PROCESSES_MAX} that it may have there at once`;
        return `${count} processes of steps on node ${node}, and ${more}`;
      }
    }
    return null;
  }

  /** From this rank on its processes were never asked for. */
  giveUp(step: Step, from: number, why: string): void {
    for (const [rank, process] of step.processes) {
      if (rank < from || process.end !== null) continue;
      process.end = { why };
      process.endedAt = process.startedAt;
    }
  }

  /** Ends by rank, as the task tells them. Returns of how many that was new. */
  endNoted(step: Step, ends: readonly StepEnd[], at: number): number {
    let count = 0;
    for (const [rank, process] of step.processes) {
      if (process.end !== null) continue;
      process.end = ends[rank] ?? { why: 'nobody has told of it' };
      process.endedAt = at;
      count += 1;
    }
    if (count > 0) this.#tellOver(step);
    return count;
  }

  /** Undefined: never heard of, or long over. */
  find(id: string): Step | undefined {
    const name = parseStepId(id);
    if (!name.ok) return undefined;
    return this.#known(name.value) ?? this.#unsure.find(formatStepId(name.value));
  }

  #known({ task, number }: StepName): Step | undefined {
    return this.#tasks.get(task)?.steps.get(number);
  }

  /** Oldest first. */
  ofTask(task: TaskId): Step[] {
    return [...(this.#tasks.get(task)?.steps.values() ?? [])];
  }

  /** Steps of all tasks of a job, oldest first within each. */
  ofJob(isOfJob: (task: TaskId) => boolean): Step[] {
    const known = [...this.#tasks.keys()].filter(isOfJob).flatMap((task) => this.ofTask(task));
    const unsure = [...this.#unsure.all()].filter((one) => isOfJob(one.task) && !this.#known(one));
    return [...known, ...unsure];
  }

  /** A node speaks of its own processes only: whatever it says of those of others is not heard. */
  hear(node: NodeName, told: ToldProcess, isSure = true): void {
    const name = parseStepId(told.step);
    if (!name.ok || told.count > PROCESSES_MAX) return;
    const known = this.#known(name.value);
    if (told.rank < 0 || told.rank >= (known?.count ?? told.count)) return;
    if (!isSure) return this.#hearUnsure(node, name.value, told);
    const { task, number } = name.value;
    const own = this.#of(task);
    if (known === undefined) own.next = Math.max(own.next, number + 1);
    const step = known ?? stepOf(name.value, told, { isSure });
    if (known === undefined) this.#keep(own, step);
    const process = step.processes.get(told.rank);
    if (process !== undefined && process.node !== node) return;
    if (process?.end != null || step.epochId !== told.epochId) return;
    const { startedAt, endedAt, end, cpus = null } = told;
    // No node has more than its agent would start.
    const isNew = process === undefined && end === null;
    const started = [...own.steps.values()].filter(({ isNoted }) => isNoted !== true);
    if (isNew && liveOn(started, { epochId: told.epochId, node }) >= PROCESSES_MAX) return;
    step.processes.set(told.rank, {
      node,
      startedAt,
      endedAt,
      end,
      cpus,
      askedOver: null,
      isPast: false,
    });
    this.#tellOver(step);
  }

  /**
   * Numbers are remembered before their steps are started: one that was not given out was no step.
   * To what is known nothing is added, and no number is taken.
   */
  #hearUnsure(node: NodeName, name: StepName, told: ToldProcess): void {
    const next = this.#tasks.get(name.task)?.next ?? this.#world.nextOf(name.task);
    if (name.number >= next || told.end === null || this.#known(name) !== undefined) return;
    this.#unsure.hear(node, name, told);
  }

  #tellOver(step: Step): void {
    if (!isLive(step)) this.#world.over(step);
  }

  /**
   * The node has these alone: what else ran there is over, in a way that nobody knows. Returns the
   * keys of all others that were there. `session`: over which it said so; what it is asked for over
   * the same one it had not heard of yet.
   */
  hearAll(node: NodeName, all: readonly ToldProcess[], { at, session, counts }: Heard): string[] {
    for (const told of all) {
      const trust = counts?.(told) ?? 'sure';
      if (trust !== 'no') this.hear(node, told, trust === 'sure');
    }
    const there = new Set(all.map(({ step, rank }) => `${step}:${rank}`));
    const keys: string[] = [];
    const isTold = (step: Step, process: StepProcess): boolean =>
      process.node === node && step.isNoted !== true;
    for (const { key, process, step } of this.#where(isTold)) {
      const isComing = process.end === null && process.askedOver !== null;
      if (there.has(key) || process.isPast || (isComing && process.askedOver === session)) continue;
      process.isPast = true;
      keys.push(key);
      end(process, 'the agent of its node was started anew', at);
      this.#tellOver(step);
    }
    return keys;
  }

  /** A task is over on a node, and so is what ran inside of it there: the keys of all of that. */
  endPart({ epochId, node }: Place, at: number): string[] {
    const keys: string[] = [];
    const isThere = (step: Step, process: StepProcess): boolean =>
      step.epochId === epochId && process.node === node;
    for (const { key, process, step } of this.#where(isThere)) {
      end(process, 'its task has ended', at);
      this.#tellOver(step);
      if (!process.isPast) keys.push(key);
    }
    return keys;
  }

  *#where(isMeant: IsMeant): Generator<Keyed> {
    for (const { steps } of this.#tasks.values()) {
      for (const step of steps.values()) yield* meantIn(step, isMeant);
    }
    for (const step of this.#unsure.all()) if (!this.#known(step)) yield* meantIn(step, isMeant);
  }

  #of(task: TaskId): TaskSteps {
    const known = this.#tasks.get(task);
    if (known !== undefined) return known;
    const made = { next: this.#world.nextOf(task), steps: new Map() };
    this.#tasks.set(task, made);
    if (this.#tasks.size > TASKS_KEPT_MAX) this.#forgetTask();
    return made;
  }

  /** The oldest without a running step; that so many tasks all have one, nodes see to. */
  #forgetTask(): void {
    for (const [task, { steps }] of this.#tasks) {
      if ([...steps.values()].some(isLive)) continue;
      this.#tasks.delete(task);
      return;
    }
  }

  #keep({ steps }: TaskSteps, step: Step): void {
    steps.set(step.number, step);
    for (const [number, old] of steps) {
      if (steps.size <= STEPS_KEPT_MAX) return;
      if (!isLive(old)) steps.delete(number);
    }
  }
}

interface Keyed {
  readonly key: string;
  readonly process: StepProcess;
  readonly step: Step;
}

type IsMeant = (step: Step, process: StepProcess) => boolean;

function* meantIn(step: Step, isMeant: IsMeant): Generator<Keyed> {
  for (const [rank, process] of step.processes) {
    if (isMeant(step, process)) yield { key: keyOf(step, rank), process, step };
  }
}

/** Unless it has ended before. */
function end(process: StepProcess, why: string, at: number): void {
  if (process.end !== null) return;
  process.end = { why };
  process.endedAt = at;
}

function liveOn(steps: readonly Step[], { epochId, node }: Place): number {
  let count = 0;
  for (const step of steps) {
    if (step.epochId !== epochId) continue;
    for (const process of step.processes.values())
      if (process.node === node && process.end === null) count += 1;
  }
  return count;
}
