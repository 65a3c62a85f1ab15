// Tasks that hold gpus and do not use them: named where people see the task, and ended where the
// partition says so.

import type { Engine } from '../../../kernel/head/engine.ts';
import type { Task } from '../../../kernel/machine/jobs/facts.ts';
import { placeOf } from '../../../kernel/machine/jobs/place.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { CancelTask, RequeueTask } from '../../../kernel/machine/tasks/commands.ts';
import { isStopped } from '../../../kernel/machine/tasks/stops.ts';
import type { EpochId, NodeName } from '../../../kernel/model/ids.ts';
import type { Settings } from '../../../kernel/model/settings.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import {
  endedWords,
  heldWords,
  IdleBook,
  type IdleRule,
  type IdleWay,
  idleWords,
} from '../core/idle.ts';
import type { Look } from '../model/look.ts';

type Known = Pick<Engine, 'state' | 'settings' | 'perform'>;

export class IdleGpus {
  readonly #book = new IdleBook();
  readonly #log: Log;
  /** Those of which something is said now. */
  readonly #named = new Set<EpochId>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Tasks of which something is said. */
  get count(): number {
    return this.#named.size;
  }

  /** What a node has told of its own tasks. */
  hear({ state, settings }: Known, node: NodeName, looks: readonly Look[]): void {
    if (!hasRules(settings)) return;
    for (const { at, tasks, gpus } of looks) {
      const told = new Set(gpus.map(({ number }) => number));
      for (const { epochId, gpuMilli } of tasks) {
        const task = taskOn(state, node, epochId);
        const rule = task === null ? null : ruleOf(settings, task);
        if (task === null || rule === null) continue;
        const numbers = task.parts.get(node)?.share.gpus ?? [];
        // Whoever was stopped cannot work, and a gpu of which nothing is told may be the one that
        // does.
        const isKnown = numbers.every((number) => told.has(number));
        const milli = isKnown && task.state === 'running' && !isStopped(task) ? gpuMilli : null;
        this.#book.note(epochId, node, at, { milli, count: numbers.length }, rule);
      }
    }
  }

  /** Says what there is to say by now, and ends whom it must. */
  tick(known: Known, now: number): void {
    const { taskNotices } = known.state.scratch;
    const before = [...this.#named];
    this.#named.clear();
    for (const epochId of [...this.#book.epochs]) this.#judge(known, epochId as EpochId, now);
    for (const epochId of before) if (!this.#named.has(epochId)) taskNotices.delete(epochId);
  }

  #judge(known: Known, epochId: EpochId, now: number): void {
    const { state, settings } = known;
    const [node] = this.#book.nodesOf(epochId);
    const task = taskOn(state, node as NodeName, epochId);
    const rule = task === null ? null : ruleOf(settings, task);
    if (task === null || rule === null) return this.#book.forget(epochId);
    const parts = [...task.parts].filter(([, { share }]) => share.gpus.length > 0);
    const names = parts.map(([name]) => name);
    const idleMs = this.#book.idleMs(epochId, names, now);
    if (idleMs < rule.forMs) return;
    const gpus = parts.reduce((sum, [, { share }]) => sum + share.gpus.length, 0);
    const way = wayOf(task, rule);
    this.#named.add(epochId);
    state.scratch.taskNotices.set(epochId, idleWords(gpus, idleMs, { ...rule, way }));
    const command = task.ending === null ? commandFor(task, { way, gpus, idleMs }) : null;
    if (command === null) return;
    this.#log.info({ task: task.id, idleMs, command: command.kind }, 'the gpus of a task are idle');
    known.perform({ kind: 'command', command, actor: { kind: 'system' } }, () => undefined);
  }
}

interface Idle {
  readonly way: IdleWay | null;
  readonly gpus: number;
  readonly idleMs: number;
}

/** What is done with it; null: nothing yet. */
function commandFor(task: Task, { way, gpus, idleMs }: Idle): CancelTask | RequeueTask | null {
  if (way === null || idleMs < way.afterMs) return null;
  const { partition } = task.job.spec;
  const place = placeOf(task.job, task.index);
  if (way.does === 'end')
    return { kind: 'cancel_task', place, because: endedWords(gpus, idleMs, partition) };
  const because = heldWords(gpus, idleMs, partition);
  return { kind: 'requeue_task', place, because, holds: true };
}

/** Null: it is only named. */
function wayOf({ job }: Task, { holdAfterMs, endAfterMs }: IdleRule): IdleWay | null {
  if (endAfterMs !== null) return { does: 'end', afterMs: endAfterMs };
  // A worker that waits held would be missing to its pool, and nobody would see it; and what must
  // not start twice has begun.
  if (holdAfterMs === null || job.spec.pool !== undefined || !job.spec.requeue) return null;
  return { does: 'hold', afterMs: holdAfterMs };
}

function hasRules({ gpuIdle = {} }: Settings): boolean {
  for (const _ in gpuIdle) return true;
  return false;
}

function ruleOf({ gpuIdle = {} }: Settings, { job }: Task): IdleRule | null {
  const { partition } = job.spec;
  return Object.hasOwn(gpuIdle, partition) ? (gpuIdle[partition] as IdleRule) : null;
}

/** The task of that epoch, if the node has it. */
function taskOn(state: State, node: NodeName, epochId: string): Task | null {
  return state.nodes.get(node)?.holding.get(epochId as EpochId)?.task ?? null;
}
