// The build of a batch's solver, which the first task on each node runs: a node where it has failed
// gets no more of the batch.

import type { Of } from '../../../kernel/machine/events.ts';
import type { Part, Task } from '../../../kernel/machine/jobs/facts.ts';
import { refreshPool } from '../../../kernel/machine/nodes/apply.ts';
import type { State } from '../../../kernel/machine/state.ts';
import { formatBatch } from '../../../kernel/model/batch.ts';
import { formatEpochId } from '../../../kernel/model/ids.ts';
import type { Outcome, ResourceRequest } from '../../../kernel/model/job.ts';
import type { BatchPlace } from '../../../kernel/model/orders.ts';
import { isBuildFailure } from '../core/build-script.ts';
import type { Batch, BatchBuild } from './facts.ts';

/** A node with this label has failed to build; the jobs of the batch need one without it. */
export function failedLabel({ number }: Pick<BatchBuild, 'number'>): string {
  return `build-failed=${number}`;
}

type Labelled = Pick<ResourceRequest, 'labels'>;

/** Not on nodes where the build has failed. */
export function shunning<T extends Labelled>(request: T, build: Pick<BatchBuild, 'number'>): T {
  return { ...request, labels: [...request.labels, `!${failedLabel(build)}`] };
}

/** On these too: they are tried again. */
export function notShunning(
  labels: readonly string[],
  { build }: Pick<Batch, 'build'>,
): readonly string[] {
  return build === null ? labels : labels.filter((label) => label !== `!${failedLabel(build)}`);
}

/** The batch whose build has failed on nodes that a request leaves out for it. */
export function batchShunning({ batches }: State, { labels }: Labelled): Batch | undefined {
  return [...batches.values()].find(({ build }) => {
    return build !== null && build.failed.size > 0 && labels.includes(`!${failedLabel(build)}`);
  });
}

/** What the tasks of a batch are told of it; null for other jobs. */
export function batchPlace({ job: { batch, spec }, buildMs }: Task): BatchPlace | null {
  if (batch === undefined) return null;
  const title = formatBatch(batch);
  const { build } = batch;
  if (build === null) return { title, build };
  // Built anew it is the batch's own: others go on with what is there.
  const key = spec.batch?.build ?? build.key;
  const own = build.turn === 0 ? key : `${key}-${build.number}-${build.turn}`;
  const time = buildMs === 0 ? {} : { buildMs };
  return { title, build: own, attempt: `${build.number}.${build.attempts}`, ...time };
}

/** Returns null when the end of this part says nothing of a build. */
export function buildOutcome(
  { job: { batch }, buildMs }: Task,
  { end, share, isBuilt }: Part,
): Outcome | null {
  const isTimed = buildMs > 0;
  if (batch?.build == null || end === null) return null;
  const detail = `the build failed on ${share.node}`;
  if (end.cause === 'timeout' && isTimed && !isBuilt) {
    return { kind: 'build_failed', detail: `${detail}: ${end.detail ?? 'it took too long'}` };
  }
  if (end.cause !== 'exited') return null;
  const hasFailed = end.processes.some(({ exit }) => isBuildFailure(exit));
  return hasFailed ? { kind: 'build_failed', detail } : null;
}

export function applyBuildFailed(state: State, event: Of<'build_failed'>): void {
  const batch = state.batches.get(formatBatch(event.batch));
  const node = state.nodes.get(event.node);
  if (batch?.build == null) return;
  batch.build.failed.set(event.node, event.epochId);
  batch.build.ready.delete(event.node);
  if (node === undefined) return;
  node.failedBuilds.add(failedLabel(batch.build));
  node.labelling = null;
  refreshPool(state, node);
}

export function applyFailedBuildsForgotten(
  state: State,
  event: Of<'failed_builds_forgotten'>,
): void {
  const batch = state.batches.get(event.batch);
  if (batch?.build != null) tryAgain(state, batch, batch.build);
}

export function applyBuildRenewed(state: State, event: Of<'build_renewed'>): void {
  const batch = state.batches.get(event.batch);
  if (batch?.build == null) return;
  batch.build.turn += 1;
  batch.build.ready.clear();
  tryAgain(state, batch, batch.build);
}

function tryAgain(state: State, batch: Batch, build: BatchBuild): void {
  forgetFailures(state, batch);
  build.attempts += 1;
  for (const { jobId } of batch.parts) {
    for (const task of state.jobs.get(jobId)?.active.values() ?? []) tellAnew(state, task);
  }
}

/**
 * What its nodes have not taken up yet names the new build, or attempt; what they have tells of the
 * old one.
 */
function tellAnew(state: State, task: Task): void {
  for (const [node, part] of task.parts) {
    if (part.state !== 'ordered') {
      part.isOfOldAttempt = true;
      continue;
    }
    state.scratch.touched.push({ node, epochId: formatEpochId(task.id, task.epoch) });
  }
}

/** Nodes are as they were before. */
export function forgetFailures(state: State, { build }: Batch): void {
  if (build === null) return;
  for (const name of build.failed.keys()) {
    const node = state.nodes.get(name);
    if (node === undefined) continue;
    node.failedBuilds.delete(failedLabel(build));
    node.labelling = null;
    refreshPool(state, node);
  }
  build.failed.clear();
}
