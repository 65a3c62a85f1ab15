// The steps that a head knows, by their tasks: in memory only, as nodes tell of theirs once more to
// each head that they meet.

import type { EpochId, NodeName, TaskId } from '../../../kernel/model/ids.ts';
import { formatStepId, parseStepId } from './ids.ts';
import { STEPS_KEPT_MAX, STEPS_MAX, TASKS_KEPT_MAX } from './limits.ts';
import type { StepEnd, ToldProcess } from './told.ts';

export interface StepProcess {
  readonly node: NodeName;
  readonly startedAt: number;
  endedAt: number | null;
  /** Null when it runs, or is about to. */
  end: StepEnd | null;
}

export interface Step {
  readonly task: TaskId;
  readonly number: number;
  readonly epochId: EpochId;
  readonly command: string;
  readonly by: string;
  readonly count: number;
  /** By rank; those that a node has not told of yet are missing. */
  readonly processes: Map<number, StepProcess>;
}

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
}

export class StepBook {
  readonly #tasks = new Map<TaskId, TaskSteps>();

  /** Returns null when the task has as many steps at once as it may. */
  add({ task, epochId, command, by, nodes, at }: NewStep): Step | null {
    const own = this.#of(task);
    const running = [...own.steps.values()].filter(
      (step) => step.epochId === epochId && isLive(step),
    );
    if (running.length >= STEPS_MAX) return null;
    const number = own.next;
    own.next += 1;
    const processes = new Map(
      nodes.map((node, rank) => [rank, { node, startedAt: at, endedAt: null, end: null }]),
    );
    const step = { task, number, epochId, command, by, count: nodes.length, processes };
    this.#keep(own, step);
    return step;
  }

  /** From this rank on its processes were never asked for. */
  giveUp(step: Step, from: number, why: string): void {
    for (const [rank, process] of step.processes) {
      if (rank < from || process.end !== null) continue;
      process.end = { why };
      process.endedAt = process.startedAt;
    }
  }

  /** Undefined: never heard of, or long over. */
  find(id: string): Step | undefined {
    const name = parseStepId(id);
    if (!name.ok) return undefined;
    return this.#tasks.get(name.value.task)?.steps.get(name.value.number);
  }

  /** Oldest first. */
  ofTask(task: TaskId): Step[] {
    return [...(this.#tasks.get(task)?.steps.values() ?? [])];
  }

  /** Steps of all tasks of a job, oldest first within each. */
  ofJob(isOfJob: (task: TaskId) => boolean): Step[] {
    return [...this.#tasks.keys()].filter(isOfJob).flatMap((task) => this.ofTask(task));
  }

  /** A node speaks of its own processes only: whatever it says of those of others is not heard. */
  hear(node: NodeName, told: ToldProcess): void {
    const name = parseStepId(told.step);
    if (!name.ok) return;
    const own = this.#of(name.value.task);
    const { number } = name.value;
    const known = own.steps.get(number);
    if (known === undefined) own.next = Math.max(own.next, number + 1);
    const step = known ?? stepOf(name.value, told);
    if (known === undefined) this.#keep(own, step);
    const process = step.processes.get(told.rank);
    if (process !== undefined && process.node !== node) return;
    if (process?.end != null || step.epochId !== told.epochId) return;
    const { startedAt, endedAt, end } = told;
    step.processes.set(told.rank, { node, startedAt, endedAt, end });
  }

  /** The node has these alone: what else ran there is over, in a way that nobody knows; their keys. */
  hearAll(node: NodeName, all: readonly ToldProcess[], at: number): string[] {
    for (const told of all) this.hear(node, told);
    const there = new Set(all.map(({ step, rank }) => `${step}:${rank}`));
    return this.#endWhere(at, 'the agent of its node was started anew', (step, rank, process) => {
      return process.node === node && !there.has(keyOf(step, rank));
    });
  }

  /** A task is over on a node, and so is what ran inside of it there. */
  endPart(
    { epochId, node }: { readonly epochId: EpochId; readonly node: NodeName },
    at: number,
  ): void {
    this.#endWhere(at, 'its task has ended', (step, _, process) => {
      return step.epochId === epochId && process.node === node;
    });
  }

  #endWhere(
    at: number,
    why: string,
    isMeant: (step: Step, rank: number, process: StepProcess) => boolean,
  ): string[] {
    const keys: string[] = [];
    for (const { steps } of this.#tasks.values()) {
      for (const step of steps.values()) {
        for (const [rank, process] of step.processes) {
          if (process.end !== null || !isMeant(step, rank, process)) continue;
          process.end = { why };
          process.endedAt = at;
          keys.push(keyOf(step, rank));
        }
      }
    }
    return keys;
  }

  #of(task: TaskId): TaskSteps {
    const known = this.#tasks.get(task);
    if (known !== undefined) return known;
    const made = { next: 0, steps: new Map() };
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

/** `42.0:3`: one process of a step. */
export function keyOf(step: Pick<Step, 'task' | 'number'>, rank: number): string {
  return `${formatStepId(step)}:${rank}`;
}

export function isLive({ processes }: Pick<Step, 'processes'>): boolean {
  return [...processes.values()].some(({ end }) => end === null);
}

function stepOf({ task, number }: Pick<Step, 'task' | 'number'>, told: ToldProcess): Step {
  const { epochId, command, by, count } = told;
  return { task, number, epochId, command, by, count, processes: new Map() };
}
