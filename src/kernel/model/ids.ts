// Names of things: jobs, tasks, epochs, nodes. The one place where they are parsed and printed.

import type { Brand } from '../base/brand.ts';
import { err, ok, type Result } from '../base/result.ts';

/** Increasing, never reused, from 1. */
export type JobId = Brand<number, 'JobId'>;
/** `42` (a plain job's only task) or `42[7]` (an array's task with index 7). */
export type TaskId = Brand<string, 'TaskId'>;
/** One start of one task: `42[7]#2`. */
export type EpochId = Brand<string, 'EpochId'>;
/** What a node calls itself: a host name, unique in the cluster. */
export type NodeName = Brand<string, 'NodeName'>;
/** A user's login name, as the authentication says it. */
export type UserName = Brand<string, 'UserName'>;

/** Where a task stands in its job: `index` is null for a plain job. */
export interface TaskPlace {
  readonly jobId: JobId;
  readonly index: number | null;
}

export function formatTaskId(jobId: JobId, index: number | null): TaskId {
  return (index === null ? `${jobId}` : `${jobId}[${index}]`) as TaskId;
}

export function formatEpochId(task: TaskId, epoch: number): EpochId {
  return `${task}#${epoch}` as EpochId;
}

const TASK = /^(\d{1,15})(?:\[(\d{1,9})\])?$/;

/** Reads `42` or `42[7]`. */
export function parseTaskId(text: string): Result<TaskPlace, string> {
  const match = TASK.exec(text);
  const id = Number(match?.[1] ?? 0);
  if (match === null || id < 1) return err(`'${text}' is not a job id; write 42 or 42[7]`);
  return ok({ jobId: id as JobId, index: match[2] === undefined ? null : Number(match[2]) });
}

const NODE = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9])?$/;

/** Host-name characters only (RFC 1123), so that names are safe in paths, lists and patterns. */
export function parseNodeName(text: string): Result<NodeName, string> {
  if (NODE.test(text)) return ok(text as NodeName);
  return err(`'${text}' is not a node name; use letters, digits, '.', '-' and '_', 254 at most`);
}
