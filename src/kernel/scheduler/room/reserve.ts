// Where and when something can be set aside: at a fixed time, or as early as there is room for it.

import { assert } from '../../base/assert.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { NodeName } from '../../model/ids.ts';
import { meetsLabel } from '../../model/labels.ts';
import type {
  Reservation,
  ReservationRequest,
  ReservedShare,
  ReservedSlot,
} from '../../model/reservation.ts';
import { addResources, fitsIn, NO_RESOURCES, type Resources } from '../../model/resources.ts';
import { Lane, latestEndOf, type Window } from './lane.ts';
import type { NodeView, Running } from './pool.ts';
import { UNKNOWN_END, type Want } from './profile.ts';
import { type Field, SlotFinder } from './slots.ts';

/** The cluster as a reservation sees it. */
export interface Room {
  /** Those that may be chosen, best first; drained and silent ones too where they are named. */
  readonly nodes: readonly NodeView[];
  /** Without those of the reservation that is looked for. */
  readonly windows: readonly Window[];
  readonly now: number;
  /** Maintenance takes nodes that were never seen, and waits for no task without time limit. */
  readonly purpose: Reservation['purpose'];
  /** Futures that were looked at: of one part only, so that seven occurrences cost as one. */
  readonly lanes: Map<NodeName, Lane>;
}

/** Why something cannot be set aside. */
export type Obstacle =
  /** Nodes that could ever give it. */
  | { readonly kind: 'never'; readonly able: number }
  | { readonly kind: 'reserved'; readonly node: NodeName; readonly window: Window }
  /** Until null: it has no time limit, or nobody knows when it goes on. */
  | {
      readonly kind: 'busy';
      readonly node: NodeName;
      readonly task: Running;
      readonly until: number | null;
    }
  /** Not within the window; the first instant at which there is room, null = none is known. */
  | {
      readonly kind: 'no_slot';
      readonly durationMs: number;
      readonly until: number;
      readonly earliest: number | null;
    };

type ShareRequest = Pick<
  ReservationRequest,
  'perNode' | 'nodeNames' | 'nodeCount' | 'labels' | 'force'
>;

/** The slot that begins at this very instant. */
export function placeAt(
  part: ShareRequest,
  from: number,
  durationMs: number,
  room: Room,
): Result<ReservedSlot, Obstacle> {
  const able = room.nodes.filter((node) => couldGive(node, part, room));
  if (able.length < part.nodeCount) return err({ kind: 'never', able: able.length });
  const until = from + durationMs;
  const want = wantOf(part.perNode);
  const free: NodeView[] = [];
  for (const node of able) {
    if (laneOf(node, part, room).fits(want, null, from, until)) free.push(node);
    if (free.length === part.nodeCount) return ok(slotOn(free, part, from, durationMs));
  }
  const taken = able.find((node) => !free.includes(node)) as NodeView;
  return err(obstacleOn(taken, part, from, until, room));
}

/** The earliest slot that lies between the two instants. */
export function placeEarliest(
  part: ShareRequest,
  within: { readonly notBefore: number; readonly until: number },
  durationMs: number,
  room: Room,
): Result<ReservedSlot, Obstacle> {
  const able = room.nodes.filter((node) => couldGive(node, part, room));
  if (able.length < part.nodeCount) return err({ kind: 'never', able: able.length });
  const at = Math.max(within.notBefore, room.now);
  const views = new Map(able.map((node) => [node.name, node]));
  const field: Field = {
    ready: able.map(({ name }, order) => ({ at, order, name })),
    later: [].values(),
    laneOf: (name) => laneOf(views.get(name) as NodeView, part, room),
  };
  const want = wantOf(part.perNode);
  const demand = { want, reservation: null, durationMs, nodeCount: part.nodeCount };
  const slot = new SlotFinder(demand, field).find();
  const earliest = slot === null || slot.at >= UNKNOWN_END ? null : slot.at;
  if (slot === null || earliest === null || earliest + durationMs > within.until) {
    return err({ kind: 'no_slot', durationMs, until: within.until, earliest });
  }
  const chosen = slot.lanes.map((lane) => lane.view);
  return ok(slotOn(chosen, part, slot.at, durationMs));
}

function slotOn(
  nodes: readonly NodeView[],
  { perNode }: ShareRequest,
  from: number,
  durationMs: number,
): ReservedSlot {
  const shares: Record<NodeName, ReservedShare> = {};
  for (const { name } of nodes) shares[name] = perNode;
  return { from, until: from + durationMs, shares, begun: false };
}

function couldGive(
  node: NodeView,
  { perNode, nodeNames, labels }: ShareRequest,
  { purpose }: Room,
): boolean {
  if (nodeNames.length > 0 && !nodeNames.includes(node.name)) return false;
  if (!labels.every((label) => meetsLabel(node.labels, label))) return false;
  if (purpose === 'maintenance') return true;
  // A node that was never seen has nothing that could be set aside.
  return perNode === 'whole' ? node.total.cpuCount > 0 : fitsIn(perNode, node.total);
}

function wantOf(perNode: ReservedShare): Want {
  return perNode === 'whole'
    ? { resources: NO_RESOURCES, exclusive: true }
    : { resources: perNode, exclusive: false };
}

function laneOf(node: NodeView, part: ShareRequest, room: Room): Lane {
  let lane = room.lanes.get(node.name);
  if (lane === undefined) {
    lane = new Lane(looked(node, part, room), room.windows, room.now);
    room.lanes.set(node.name, lane);
  }
  return lane;
}

/** Any at all: what a node is taken for that has not said yet what it has. */
const SOMETHING: Resources = { ...NO_RESOURCES, cpuCount: 1 };

/**
 * The node with only those of its tasks that are in the way; with `force` none is: it is the
 * policy's business when the time has come.
 */
function looked(node: NodeView, { force }: ShareRequest, { purpose }: Room): NodeView {
  if (node.total.cpuCount === 0) return { ...node, total: SOMETHING, free: SOMETHING };
  if (force) return emptied(node);
  if (purpose === 'users') return node;
  const running = [...node.running];
  const endless = running.filter((one) => one.walltimeMs === null);
  const free = endless.map((one) => one.resources).reduce(addResources, node.free);
  return { ...node, free, running: running.filter((one) => one.walltimeMs !== null) };
}

function emptied(node: NodeView): NodeView {
  return { ...node, free: node.total, idle: true, running: [] };
}

/** What is in the way on a node that could give it: a reservation, or the task that ends last. */
function obstacleOn(
  node: NodeView,
  part: ShareRequest,
  from: number,
  until: number,
  room: Room,
): Obstacle {
  const { windows, now } = room;
  const here = windows.filter((one) => {
    return one.shares.has(node.name) && one.from < until && from < one.to;
  });
  const beside = new Lane(emptied(looked(node, part, room)), here, now);
  const [window] = [...here].sort((a, b) => a.from - b.from);
  if (window !== undefined && !beside.fits(wantOf(part.perNode), null, from, until)) {
    return { kind: 'reserved', node: node.name, window };
  }
  const ends = [...node.running].map((task) => ({ task, end: latestEndOf(task, now) }));
  assert(ends.length > 0, `${node.name} has no room, so something is there`);
  const last = ends.reduce((a, b) => (b.end > a.end ? b : a));
  const end = last.end >= UNKNOWN_END ? null : last.end;
  return { kind: 'busy', node: node.name, task: last.task, until: end };
}
