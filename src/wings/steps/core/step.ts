// One step as a head knows it.

import type { EpochId, NodeName, TaskId } from '../../../kernel/model/ids.ts';
import { formatStepId, type StepName } from './ids.ts';
import type { StepEnd, ToldProcess } from './told.ts';

export interface StepProcess {
  readonly node: NodeName;
  readonly startedAt: number;
  endedAt: number | null;
  /** Null when it runs, or is about to. */
  end: StepEnd | null;
  /** The connection over which its node is asked for it; null: the node has told of it. */
  readonly askedOver: number | null;
  /** To which it is bound; null: to none. */
  readonly cpus: string | null;
  /** Gone from its node as well, so that nobody comes to the other end of a line. */
  isPast: boolean;
}

export interface Step {
  readonly task: TaskId;
  readonly number: number;
  readonly epochId: EpochId;
  readonly command: string;
  readonly by: string;
  readonly count: number;
  /** The head asked for it, or heard of it from a node that had its task. */
  readonly isSure: boolean;
  /** The task has started its processes, and tells of them. Absent: a node does. */
  readonly isNoted?: boolean;
  /** Cpus that it is given, on all its nodes. Undefined: nobody says. */
  readonly cpuCount?: number | undefined;
  /** By rank; those that a node has not told of yet are missing. */
  readonly processes: Map<number, StepProcess>;
}

/** `42.0:3`: one process of a step. */
export function keyOf(step: Pick<Step, 'task' | 'number'>, rank: number): string {
  return `${formatStepId(step)}:${rank}`;
}

export function isLive({ processes }: Pick<Step, 'processes'>): boolean {
  return [...processes.values()].some(({ end }) => end === null);
}

export function stepOf(
  { task, number }: StepName,
  { epochId, command, by, count, cpuCount }: ToldProcess,
  { isSure }: Pick<Step, 'isSure'>,
): Step {
  const named = { task, number, epochId, command, by, count, cpuCount };
  return { ...named, isSure, processes: new Map() };
}
