// Batches as a noun.

import { assert } from '../../../kernel/base/assert.ts';
import { IntervalSet } from '../../../kernel/base/interval-set.ts';
import { parseIndices } from '../../../kernel/machine/jobs/indices.ts';
import type { Noun } from '../../../kernel/machine/noun.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { Step } from '../../../kernel/machine/step.ts';
import { formatBatch } from '../../../kernel/model/batch.ts';
import type { EpochId, JobId, NodeName } from '../../../kernel/model/ids.ts';
import type { OutcomeKind } from '../../../kernel/model/job.ts';
import { BATCHES_KEPT_MAX } from '../../../kernel/model/limits.ts';
import * as apply from './apply.ts';
import { applyBuildFailed, applyBuildRenewed, applyFailedBuildsForgotten } from './build.ts';
import { endUnbuildable, endUnbuildableStrays } from './build-failure.ts';
import * as control from './control.ts';
import type { Batch, BatchBuild } from './facts.ts';
import { standingOf } from './standing.ts';
import { decideSubmitBatch } from './submit.ts';

interface BatchData extends Omit<Batch, 'parts' | 'ended' | 'build'> {
  /** Absent: none. */
  readonly build?: Omit<BatchBuild, 'failed' | 'attempts' | 'ready' | 'readyKey'> & {
    /** Absent: written before they were counted. */
    readonly attempts?: number;
    readonly failed: readonly (readonly [NodeName, EpochId])[];
    /** Absent: written before it was known. */
    readonly ready?: readonly NodeName[];
    readonly readyKey?: string;
  };
  readonly parts: readonly {
    readonly jobId: JobId;
    /** IntervalSet texts. */
    readonly numbers: string;
    readonly items: string;
  }[];
  readonly ended: readonly (readonly [OutcomeKind, string])[];
}

export interface BatchesData {
  /** Absent: written before there were batches. */
  readonly batches?: readonly BatchData[];
}

export const batches: Noun<'batches', BatchesData> = {
  commands: {
    submit_batch: decideSubmitBatch,
    retry_batch: (step, { batch }, actor) => control.decideRetryBatch(step, batch, actor),
    cancel_batch: (step, { batch }, actor) => control.decideCancelBatch(step, batch, actor),
    rebuild_batch: (step, { batch }, actor) => control.decideRebuildBatch(step, batch, actor),
    remove_batch: (step, { batch }, actor) => control.decideRemoveBatch(step, batch, actor),
  },
  events: {
    batch_submitted: apply.applyBatchSubmitted,
    batch_resumed: apply.applyBatchResumed,
    build_failed: applyBuildFailed,
    failed_builds_forgotten: applyFailedBuildsForgotten,
    build_renewed: applyBuildRenewed,
    batch_removed: apply.applyBatchRemoved,
    batches_forgotten: apply.applyBatchesForgotten,
  },
  facts: () => ({ batches: new Map() }),
  save: (state) => ({ batches: [...state.batches.values()].map(saveBatch) }),
  load(state, { batches: data = [] }) {
    for (const one of data) {
      const batch = loadBatch(one);
      state.batches.set(formatBatch(batch), batch);
      for (const { jobId } of batch.parts) {
        const job = state.jobs.get(jobId);
        if (job !== undefined) job.batch = batch;
      }
    }
  },
  rebase(state, byMs) {
    for (const batch of state.batches.values()) {
      if (batch.endedAt === null) batch.createdAt += byMs;
    }
  },
  check(state) {
    for (const batch of state.batches.values()) checkBatch(state, batch);
  },
  due: decideDueBatches,
};

function saveBatch({ parts, ended, build, ...rest }: Batch): BatchData {
  return {
    ...rest,
    parts: parts.map(({ jobId, numbers, items }) => {
      const set = new IntervalSet();
      for (const number of numbers) set.add(number);
      return { jobId, numbers: `${set}`, items: `${items}` };
    }),
    ended: [...ended].map(([kind, numbers]) => [kind, `${numbers}`] as const),
    ...(build === null
      ? {}
      : { build: { ...build, failed: [...build.failed], ready: [...build.ready] } }),
  };
}

function loadBatch({ parts, ended, build, ...rest }: BatchData): Batch {
  return {
    ...rest,
    parts: parts.map(({ jobId, numbers, items }) => {
      return { jobId, numbers: [...parseIndices(numbers)], items: parseIndices(items) };
    }),
    ended: new Map(ended.map(([kind, numbers]) => [kind, parseIndices(numbers)])),
    build: build === undefined ? null : loadBuild(build),
  };
}

function loadBuild(build: NonNullable<BatchData['build']>): BatchBuild {
  const { key, failed, ready } = build;
  return {
    attempts: 0,
    readyKey: key,
    ...build,
    failed: new Map(failed),
    ready: new Set(ready),
  };
}

/** Every job is over in one way, or it waits or runs. */
function checkBatch(state: State, batch: Batch): void {
  const title = formatBatch(batch);
  const { open, ended } = standingOf(state, batch);
  const count = [...Object.values(open), ...Object.values(ended)].reduce((a, b) => a + b, 0);
  const jobs = batch.jobs.length;
  assert(count === jobs, `batch ${title}: ${count} of ${jobs} jobs accounted for`);
  const isOver = Object.keys(open).length === 0;
  assert(isOver === (batch.endedAt !== null), `batch ${title} is done when its jobs are`);
}

/** A tenth at a time, so that the list is not walked for every batch that ends. */
function decideDueBatches(step: Step): void {
  const { batches: all } = step.state;
  // A task may come back to the queue when the build has failed everywhere else long ago.
  for (const batch of all.values()) endUnbuildable(step, batch);
  endUnbuildableStrays(step);
  if (all.size <= BATCHES_KEPT_MAX * 1.1) return;
  const over = [...all].filter(([, { endedAt }]) => endedAt !== null);
  const titles = over.slice(0, all.size - BATCHES_KEPT_MAX).map(([title]) => title);
  if (titles.length > 0) step.emit({ kind: 'batches_forgotten', batches: titles });
}
