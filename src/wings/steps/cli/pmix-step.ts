// Ranks of Open MPI as a step that the head is asked for: one process on their first node, which
// starts them all.

import type { Api } from '../../../kernel/connect/api.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { parseTaskId } from '../../../kernel/model/ids.ts';
import { isAskable } from '../core/environment.ts';
import { placesOf } from '../core/places.ts';
import { boundArgv, cpusByRank, type PmixWish, pmixArgv, titleOf } from '../core/pmix.ts';
import type { StepWish } from './run-step.ts';
import { taskNamed } from './task-nodes.ts';

/** The nodes of a task, and what reaches them. */
export interface PmixHeld {
  readonly nodes: readonly string[];
  /** Launchers of MPI in the task reach its other nodes. */
  readonly isMpi: boolean;
}

export async function asPmix(api: Api, wish: StepWish): Promise<StepWish> {
  const { target, count, perNode } = wish;
  const held = await heldBy(api, target.task);
  if (held.nodes.length === 0) throw usage(`job ${target.task} does not run: it has no nodes`);
  const places = placesOf(held.nodes, { node: target.node, count, perNode });
  if (!places.ok) throw usage(places.error);
  return boundPmixStep(api, wish, held, { nodes: places.value });
}

/** The same, its ranks bound as the step says. */
export async function boundPmixStep(
  api: Api,
  wish: StepWish,
  held: PmixHeld,
  { nodes, begin = '' }: Pick<PmixWish, 'nodes' | 'begin'>,
): Promise<StepWish> {
  const { bind = 'none', target, argv } = wish;
  if (bind === 'none') return pmixStep(wish, held, { nodes, begin });
  const body = { nodes: [...nodes], bind };
  const { cpus } = await api.call('claimCpus', { params: { id: target.task }, body });
  const ranks = { nodes, begin: `${begin}${cpusByRank(cpus)}` };
  const step = pmixStep({ ...wish, argv: boundArgv(argv), bind: 'none' }, held, ranks);
  return { ...step, title: titleOf(argv) };
}

/** The step that starts these ranks. */
function pmixStep(
  wish: StepWish,
  { nodes, isMpi }: PmixHeld,
  ranks: Pick<PmixWish, 'nodes' | 'begin'>,
): StepWish {
  const [first = ''] = ranks.nodes;
  const isSpread = ranks.nodes.some((node) => node !== first);
  if (isSpread && !isMpi)
    throw usage(
      'nothing starts ranks on the other nodes of this job: it runs without --mpi',
      'Submit it with --mpi, or start ranks on one node: 42/NODE.',
    );
  // What reaches other nodes is with the first one alone.
  if (isSpread && first !== nodes[0])
    throw usage(`ranks on several nodes begin with the first node of the job, ${nodes[0]}`);
  const { argv, label: isTagged } = wish;
  const handed = Object.keys(wish.environment).filter(isAskable);
  return {
    ...wish,
    target: { task: wish.target.task, node: first },
    argv: pmixArgv({ ...ranks, handed, here: first, argv, isTagged }),
    count: 1,
    perNode: false,
    pmi: false,
    isTagged,
    title: titleOf(argv),
  };
}

async function heldBy(api: Api, task: string): Promise<PmixHeld> {
  const place = parseTaskId(task);
  const index = place.ok ? place.value.index : null;
  const job = await api.call('getJob', { params: { id: task } });
  const isMpi = job.ranksPerNode != null;
  if (job.array === null || index !== null)
    return { nodes: (await taskNamed(api, task)).nodes, isMpi };
  // Those of its one running task, unless they are more than are shown.
  const { nodeCount } = job.request;
  if (job.nodes.length > 0 && job.nodes.length < nodeCount)
    throw usage(`job ${task} is an array of tasks on ${nodeCount} nodes: name one, as ${task}[7]`);
  return { nodes: job.nodes, isMpi };
}
