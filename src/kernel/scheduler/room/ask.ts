// What a task asks of the cluster, as its partition has it.

import {
  ANY_KIND,
  type Cards,
  chosenFrom,
  fittingFrom,
  heldOn,
  idleAmong,
} from '../../model/cards.ts';
import type { NodeName } from '../../model/ids.ts';
import type { ResourceRequest } from '../../model/job.ts';
import { WORKER_WORTH_MS } from '../../model/limits.ts';
import { featureLabel } from '../../model/node-features.ts';
import { isShared, type Resources } from '../../model/resources.ts';
import type { Partition, PlacementRule } from '../../model/scheduling.ts';
import { needsGpus } from '../line/gpus.ts';
import type { Shape } from '../line/queue.ts';
import type { Lane } from './lane.ts';
import type { NodeView } from './pool.ts';
import { FOREVER, type Want } from './profile.ts';

/** What a task asks for, with what its partition adds. Equal asks are equal in `key`. */
export interface Ask {
  readonly key: string;
  /** Equal when the requests are, whatever the time limit; undefined: not worth remembering. */
  readonly roomKey: string | undefined;
  readonly request: ResourceRequest;
  /** Only these nodes, by the partition; null = any. The request's own names come on top. */
  readonly nodes: ReadonlySet<NodeName> | null;
  /** With what a build may take before. */
  readonly walltimeMs: number | null;
  /** What of that is for a build, and not needed on nodes that have it. Absent: nothing. */
  readonly buildMs?: number;
  readonly reservation: string | null;
  readonly placement: PlacementRule;
  /** Hash of the list of its inputs, for `near_data` only. */
  readonly inputs?: string;
  /** A worker of a pool without a time limit: it may begin where it cannot stay for ever. */
  readonly moves?: true;
  /** The task needs no gpus, and leaves nodes that have some to others where it can. */
  readonly sparesGpus?: true;
  /** The task is on its nodes already, so they may be closed to what is new. Absent: no. */
  readonly isThere?: boolean;
}

const WORKER = featureLabel('pools');

/** The last answers of `askOf`: a cycle asks for the shapes of the cycle before. */
const ASKS = new WeakMap<Shape, { readonly partition: Partition; readonly ask: Ask }>();

/** What a task of this shape asks for in this partition. */
export function askOf(shape: Shape, partition: Partition): Ask {
  const known = ASKS.get(shape);
  if (known?.partition === partition) return known.ask;
  const ask = makeAsk(shape, partition);
  ASKS.set(shape, { partition, ask });
  return ask;
}

/** The same for one task, where it matters which files it brings. */
export function askFor(
  { shape, inputs }: { readonly shape: Shape; readonly inputs?: string },
  partition: Partition,
): Ask {
  const ask = askOf(shape, partition);
  const matters = inputs !== undefined && partition.placement === 'near_data';
  return matters ? { ...ask, inputs } : ask;
}

function makeAsk(shape: Shape, partition: Partition): Ask {
  const { request, walltimeMs, buildMs, reservation, key, anyTimeKey } = shape;
  const labels = [...new Set([...request.labels, ...partition.labels])];
  return {
    key,
    roomKey: `${anyTimeKey}|${partition.labels.join('|')}`,
    request: { ...request, labels },
    nodes: partition.nodes === null ? null : new Set(partition.nodes),
    walltimeMs,
    ...(buildMs === undefined ? {} : { buildMs }),
    reservation,
    placement: partition.placement,
    ...(needsGpus(request) ? {} : { sparesGpus: true }),
    ...(walltimeMs === null && request.labels.includes(WORKER) ? { moves: true } : {}),
  };
}

/** The only nodes that it may have; null = any. */
export function namesOf({ request, nodes }: Ask): Iterable<NodeName> | null {
  if (request.nodeNames.length === 0) return nodes;
  return nodes === null ? request.nodeNames : request.nodeNames.filter((name) => nodes.has(name));
}

/** When a task that starts at `at` is over, as far as one can know. */
export function endAt(at: number, walltimeMs: number | null): number {
  return walltimeMs === null ? FOREVER : at + walltimeMs;
}

/** The same where a node has an end: a worker that is worth its start leaves with the node. */
export function endOn(lane: Lane, { walltimeMs, moves }: Ask, at: number): number {
  const to = endAt(at, walltimeMs);
  return moves === true && lane.leavesAt - at >= WORKER_WORTH_MS ? Math.min(to, lane.leavesAt) : to;
}

/** What is wanted of each node. */
export function wantOf(request: ResourceRequest): Want {
  return { resources: request.perNode, exclusive: request.exclusive };
}

/** What a task holds of a node. */
export interface Taken {
  readonly resources: Resources;
  /** Which gpus, by number. */
  readonly gpus: readonly number[];
}

/**
 * What it holds of the node from its start on. `open`: its cards by the plan; where the same ones
 * are not open all the time, it gets those that are free now: never one that somebody has.
 */
export function takenAtStart(
  view: NodeView,
  request: ResourceRequest,
  open: Cards | undefined,
): Taken {
  if (request.exclusive) return wholeNow(view);
  const { gpuCount, gpuKind = ANY_KIND } = request.perNode;
  const isOpen = open !== undefined && fittingFrom(open, gpuCount, gpuKind) !== null;
  return takenOf(view, request, isOpen ? open : view.free.cards);
}

/** All that the node can give: of its gpus not those that are used outside, ill or gone. */
function wholeNow({ total, gpusFree }: NodeView): Taken {
  const gpus = gpusFree.slice(0, total.gpuCount);
  const counts = { ...total, gpuCount: gpus.length };
  if (total.cards === undefined) return { resources: counts, gpus };
  return { resources: { ...counts, cards: heldOn(total.cards.deck, gpus, null) }, gpus };
}

/** What it holds of the node once it runs there; `cards`: what it may have of them. */
export function takenOf(
  view: NodeView,
  { exclusive, perNode }: ResourceRequest,
  cards: Cards | undefined = view.free.cards,
): Taken {
  const { total, gpusFree } = view;
  if (exclusive) return { resources: total, gpus: gpusFree.slice(0, total.gpuCount) };
  const { gpuCount, gpuKind = ANY_KIND } = perNode;
  if (gpuCount === 0) return { resources: perNode, gpus: [] };
  if (cards === undefined) return { resources: perNode, gpus: gpusFree.slice(0, gpuCount) };
  const gpus = chosenFrom(cards, gpuCount, gpuKind);
  const held = heldOn(cards.deck, gpus, gpuKind.shareBytes);
  const count = isShared(gpuKind) ? idleAmong(cards, gpus) : gpuCount;
  return { resources: { ...perNode, gpuCount: count, cards: held }, gpus };
}
