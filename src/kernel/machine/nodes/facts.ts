// Nodes, and what is held on them.

import type { IntervalSet } from '../../base/interval-set.ts';
import type { NodeGpus } from '../../model/gpu.ts';
import type { EpochId, NodeName } from '../../model/ids.ts';
import type { MachineMarks, NodeFacts } from '../../model/node.ts';
import type { NodeFeature } from '../../model/node-features.ts';
import type { Share, SignalOrder } from '../../model/orders.ts';
import type { Resources } from '../../model/resources.ts';
import type { Task } from '../jobs/facts.ts';
import type { NodePausing } from '../pauses/facts.ts';

export interface NodesFacts {
  readonly nodes: Map<NodeName, Node>;
  nextNodeOrder: number;
  /** Those that take jobs of some users only. */
  readonly ofSome: Set<NodeName>;
}

/** What follows from the facts of a node and is kept with it. */
interface IndexedNode {
  free: Resources;
  readonly gpusFree: IntervalSet;
  /** All of its labels together; null once one of them has changed. */
  labelling: Labelling | null;
  /** Labels for the batches whose solver could not be built here. */
  readonly failedBuilds: Set<string>;
}

export interface Node extends IndexedNode {
  readonly name: NodeName;
  secretHash: string;
  /** Declared at enrolment; wins over what the agent finds. */
  declared: Resources | null;
  /** Given by operators; the agent's own are in `agentLabels`. */
  readonly labels: Set<string>;
  agentLabels: readonly string[];
  sharedPaths: readonly string[];
  /** What its agent can do; null: not heard of yet, and taken for all there is. */
  features: readonly NodeFeature[] | null;
  /** Zero before the first hello. */
  total: Resources;
  /** Empty: the next machine that says hello is the node's. */
  bootId: string;
  instance: string;
  /** What its machine said of itself; null: nothing. */
  machine: MachineMarks | null;
  /** Boots that are over, the last ones; one that comes back is of another machine. */
  formerBoots: readonly string[];
  /** Other machines with its identity; while there is one, the node gets no new work. */
  clones: readonly Clone[];
  facts: NodeFacts | null;
  /** Counts connections; reports of an older one are refused. 0 = never seen. */
  session: number;
  connected: boolean;
  /** Silent beyond the time-out since this instant; null while reachable. */
  unreachableSince: number | null;
  lastSeenAt: number | null;
  drain: { readonly reason: string; readonly by: string; readonly at: number } | null;
  /** Why it says that it can take no new work; null while it can. */
  fault: string | null;
  /** What its agent tells of its cards; null: nothing. */
  gpus: NodeGpus | null;
  pausing: NodePausing;
  /** Launch failures in a row. */
  launchFailures: number;
  /** Every epoch that may still have processes here, with what it occupies. */
  readonly holding: Map<EpochId, Holding>;
  /** Registration order, the order of placement. */
  readonly order: number;
  /** A signal to send once, by epoch; goes with the epoch or when a newer one replaces it. */
  readonly signals: Map<EpochId, SignalOrder>;
}

/** A machine that said hello with the identity of a node that is another machine. */
export interface Clone {
  readonly bootId: string;
  readonly hostname: string;
  readonly machine: MachineMarks | null;
  /** What tells it from the node's own machine. */
  readonly why: string;
  readonly at: number;
}

/** `key`: sorted and joined; nodes with the same labels have the same. */
export interface Labelling {
  readonly labels: ReadonlySet<string>;
  readonly key: string;
}

/** An epoch's claim on a node. It goes only on evidence that its processes are gone. */
export interface Holding {
  readonly epochId: EpochId;
  readonly share: Share;
  /** Null when a stale epoch, kept only until its processes are known to be gone. */
  task: Task | null;
  /** Cpus of a task that is stopped to make room: they are not counted as used. */
  yieldedCpus: number;
  /** Set while it holds nothing: a place of its job is to become its own, unless it is recalled. */
  next: 'waits' | 'recalled' | null;
}
