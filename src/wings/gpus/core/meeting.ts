// How processes on the gpus of one task find each other, by the variables that PyTorch and its like
// read: an address and a port for all of them, and of each which it is.

import type { LaunchOrder } from '../../../kernel/model/orders.ts';
import { meetingPort } from '../../../kernel/model/torchrun-line.ts';

export interface Meeting {
  readonly usual?: Readonly<Record<string, string>>;
  readonly ours?: Readonly<Record<string, string>>;
  readonly ofRank?: (rank: number) => Readonly<Record<string, string>>;
  readonly ofProcesses?: readonly string[];
}

type Met = Pick<
  LaunchOrder,
  'place' | 'epoch' | 'nodes' | 'nodeRank' | 'processesPerNode' | 'share' | 'mpi'
>;

/**
 * `isHere`: whether a node is on this machine. Nodes of one machine have names that nobody else
 * knows.
 */
export function meetingOf(order: Met, isHere: (node: string) => boolean): Meeting {
  const { place, epoch, nodes, share } = order;
  const isAlone = nodes.length === 1 && order.processesPerNode === 1;
  const [first] = nodes;
  if (share.gpus.length === 0 || isAlone || first === undefined) return {};
  const usual = {
    MASTER_ADDR: nodes.every(isHere) ? '127.0.0.1' : first,
    MASTER_PORT: String(meetingPort(place.jobId, place.index, epoch)),
  };
  return isOfRanks(order) ? { usual, ...ranksOf(order) } : { usual };
}

/**
 * One process for each gpu. A single process with several starts its own, and some libraries start
 * none once a rank is there; the ranks of an MPI job are those of its launcher.
 */
function isOfRanks({ processesPerNode, share, mpi }: Met): boolean {
  return mpi === undefined && processesPerNode === share.gpus.length;
}

/**
 * What joins the task is none of its ranks. Where they meet and how many they are it is told: a
 * script that sets these to the same values means its steps to have them.
 */
function ranksOf({ nodes, nodeRank, processesPerNode: count }: Met): Meeting {
  return {
    ours: { WORLD_SIZE: String(nodes.length * count), LOCAL_WORLD_SIZE: String(count) },
    ofProcesses: ['LOCAL_WORLD_SIZE'],
    ofRank: (rank) => ({ RANK: String(nodeRank * count + rank), LOCAL_RANK: String(rank) }),
  };
}
