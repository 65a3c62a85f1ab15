// The planted bugs about batches: what is built where, and what of a batch runs again.

import { refreshPool } from '../src/kernel/machine/nodes/apply.ts';
import { Step } from '../src/kernel/machine/step.ts';
import { withLaunch } from './agent-canaries.ts';
import { type Canary, type Planted, replaceMethod } from './canary.ts';

/** The node of a failed build goes on as if it had not been there. */
function forgetFailure(): Planted {
  return {
    remove: replaceMethod(Step.prototype, 'emit', (original) => {
      return function emit(this: Step, event: Parameters<Step['emit']>[0]): void {
        original.call(this, event);
        const node = event.kind === 'build_failed' ? this.state.nodes.get(event.node) : undefined;
        if (node === undefined) return;
        node.failedBuilds.clear();
        node.labelling = null;
        refreshPool(this.state, node);
      };
    }),
  };
}

/** A retry runs what has completed as well. */
function retryWhole(): Planted {
  return {
    remove: replaceMethod(Step.prototype, 'emit', (original) => {
      return function emit(this: Step, event: Parameters<Step['emit']>[0]): void {
        if (event.kind !== 'job_submitted' || event.spec.batch === undefined) {
          return original.call(this, event);
        }
        const { spec } = event;
        const last = (spec.each?.length ?? 1) - 1;
        const array = { ...spec.array, indices: last === 0 ? '0' : `0-${last}` };
        original.call(this, { ...event, spec: { ...spec, array } });
      };
    }),
  };
}

/** Many batches, and time to build. */
const BATCHES = { batchMs: 3000, nodeCount: 2, stormMs: 120_000 } as const;

export const BATCH_CANARIES: readonly Canary[] = [
  {
    name: 'built-twice',
    sentence: 'each task builds the solver for itself',
    plant: withLaunch((order) => {
      const { batch, epochId } = order;
      if (batch == null) return order;
      const build = batch.build === null ? null : `${batch.build}-${epochId}`;
      return { ...order, batch: { ...batch, build } };
    }),
    weather: BATCHES,
  },
  {
    name: 'build-tried-again',
    sentence: 'a node that could not build goes on trying',
    plant: withLaunch((order) => {
      const { batch, epochId } = order;
      return batch == null ? order : { ...order, batch: { ...batch, attempt: epochId } };
    }),
    weather: BATCHES,
  },
  {
    name: 'failed-build-forgotten',
    sentence: 'a node that could not build gets more of the batch',
    plant: forgetFailure,
    weather: BATCHES,
  },
  {
    name: 'batch-run-again',
    sentence: 'a retry of a batch runs what has completed as well',
    plant: retryWhole,
    weather: BATCHES,
  },
];
