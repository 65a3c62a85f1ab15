// For which task a node asks: one that it runs right now, and no other.

import { err, ok, type Result } from '../base/result.ts';
import type { State } from '../machine/state.ts';
import { type Refusal, refuse } from '../model/errors.ts';
import type { EpochId, JobId, NodeName, UserName } from '../model/ids.ts';

/** A node that acts for the owner of a task. */
export interface EpochCaller {
  readonly node: NodeName;
  readonly nodeRank: number;
  readonly epochId: EpochId;
  readonly epoch: number;
  readonly jobId: JobId;
  /** The task's index in the job as the state counts: 0 for a plain job. */
  readonly index: number;
  readonly owner: UserName;
}

/** Refused once the head has heard of the end, and when the task was given to others. */
export function epochCaller(
  { nodes }: State,
  node: NodeName,
  epochId: string,
): Result<EpochCaller, Refusal> {
  const task = nodes.get(node)?.holding.get(epochId as EpochId)?.task ?? null;
  const part = task?.parts.get(node);
  if (task === null || part === undefined || part.state === 'ended') {
    return err(refuse('epoch.not_running', { node, epoch: epochId.slice(0, 100) }));
  }
  const { job, index, epoch } = task;
  return ok({
    node,
    nodeRank: part.nodeRank,
    epochId: epochId as EpochId,
    epoch,
    jobId: job.id,
    index,
    owner: job.owner,
  });
}
