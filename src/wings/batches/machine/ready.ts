// Nodes that have the build of a batch: its tasks need no time for it there, and are better put
// there.

import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import type { State } from '../../../kernel/machine/state.ts';
import { type BatchLink, formatBatch } from '../../../kernel/model/batch.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import type { Share } from '../../../kernel/model/orders.ts';
import type { Prepared } from '../../../kernel/scheduler/room/prepared.ts';
import { failedLabel } from './build.ts';
import type { Batch, BatchBuild } from './facts.ts';

/** The scheduler knows the tasks of a batch by the label that they shun. */
export function preparedNodes({ batches }: State): Prepared {
  const prepared = new Map<string, ReadonlySet<NodeName>>();
  for (const { build, endedAt } of batches.values()) {
    if (build === null || endedAt !== null || build.ready.size === 0) continue;
    prepared.set(`!${failedLabel(build)}`, build.ready);
  }
  return prepared;
}

/** What a start may take for the build, on top of its own time. */
export function buildTime({ batch, spec }: Job, shares: readonly Share[]): number {
  if (batch?.build == null) return 0;
  const { ready } = batch.build;
  return shares.every(({ node }) => ready.has(node)) ? 0 : (spec.batch?.buildMs ?? 0);
}

/** A task of the batch runs there by now. */
export function noteReady(state: State, { batch, spec }: Job, node: NodeName): void {
  if (batch?.build == null || state.batches.get(formatBatch(batch)) !== batch) return;
  if ((spec.batch?.build ?? batch.build.key) === batch.build.readyKey) batch.build.ready.add(node);
}

/** A new part: the files of its solver may have changed, and then no node has it. */
export function noteFiles({ build }: Batch, link: BatchLink): void {
  if (build === null || link.build === undefined || link.build === build.readyKey) return;
  build.readyKey = link.build;
  build.ready.clear();
}

/** Where another batch of this user has built the same. */
export function readyBy(
  { batches }: State,
  { owner }: Pick<Batch, 'owner'>,
  { key }: Pick<BatchBuild, 'key'>,
): Set<NodeName> {
  const ready = new Set<NodeName>();
  for (const { owner: whose, build } of batches.values()) {
    if (whose !== owner || build === null || build.readyKey !== key || build.turn > 0) continue;
    for (const node of build.ready) ready.add(node);
  }
  return ready;
}
