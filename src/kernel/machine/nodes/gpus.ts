// What the agent of a node tells of its cards while it is connected.

import { isSame } from '../../base/same.ts';
import type { NodeGpus } from '../../model/gpu.ts';
import type { NodeName } from '../../model/ids.ts';
import type { Of } from '../events.ts';
import type { State } from '../state.ts';
import type { Step } from '../step.ts';
import { nodeOf, recountGpus, refreshPool } from './apply.ts';

/** Nothing that runs is touched, whatever became of its card. */
export function decideGpus(
  step: Step,
  { node: name, session, gpus }: { node: NodeName; session: number; gpus: NodeGpus },
): void {
  const node = step.state.nodes.get(name);
  if (node === undefined || node.session !== session || isSame(node.gpus, gpus)) return;
  step.emit({ kind: 'node_gpus_told', node: name, gpus });
}

export function applyNodeGpusTold(state: State, event: Of<'node_gpus_told'>): void {
  const node = nodeOf(state, event.node);
  node.gpus = event.gpus;
  state.scratch.memoryShares.clear();
  recountGpus(node);
  refreshPool(state, node);
}
