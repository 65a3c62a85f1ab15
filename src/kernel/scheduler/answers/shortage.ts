// What is in the way of a task that does not fit: which nodes are not free for it, and what they
// lack.

import { isOfKind } from '../../model/cards.ts';
import type { NodeName } from '../../model/ids.ts';
import type { ResourceRequest } from '../../model/job.ts';
import type { FreeAmount, NodeSituation, Reason } from '../../model/reason.ts';
import { fitsIn } from '../../model/resources.ts';
import type { Ask } from '../room/ask.ts';
import type { Board } from '../room/board.ts';
import type { NodeView } from '../room/pool.ts';
import { setAside, windowInTheWay } from './explain-windows.ts';
import { apartOf, gpuNoun, gpusFitting } from './gpu-lack.ts';
import type { NodeOutline, Surroundings } from './outline.ts';

/** Where more nodes are told of, each would have a sentence of its own. */
const GIVEN_TOLD_MAX = 3;

interface Situation extends Pick<Surroundings, 'reservationOf'> {
  readonly board: Board;
  /** All nodes where a part would fit; too few. */
  readonly fitting: readonly Pick<NodeView, 'name'>[];
}

/** What nodes lack that get work and could hold a part. */
export function shortageOf(
  usable: readonly NodeOutline[],
  ask: Ask,
  situation: Situation,
): Pick<Extract<Reason, { kind: 'resources' }>, 'nodes' | 'room' | 'apart'> {
  const { fitting } = situation;
  const names = new Set<string>(fitting.map(({ name }) => name));
  const told = usable.filter(({ name }) => !names.has(name));
  const isShort = told.length <= GIVEN_TOLD_MAX;
  const nodes = told.map(({ gpusGiven, ...rest }) => {
    const node = isShort && gpusGiven !== undefined ? { ...rest, gpusGiven } : rest;
    return { name: node.name, situation: obstacleOf(node, ask, situation) };
  });
  const goesWithoutSaying = ask.request.nodeCount === 1 || fitting.length === 0;
  const short = {
    nodes: { count: usable.length, nodes },
    room: goesWithoutSaying ? null : fitting.length,
  };
  const apart = ask.request.nodeCount === 1 ? apartOf(usable, ask.request.perNode) : null;
  return apart === null ? short : { ...short, apart };
}

/** What of the node is not free for the task. */
function obstacleOf(
  node: NodeOutline,
  ask: Ask,
  { board, reservationOf }: Situation,
): NodeSituation {
  const { name, free, idle } = node;
  const { request, reservation } = ask;
  if (request.exclusive && !idle) return { kind: 'busy' };
  if (!fitsIn(request.perNode, free)) return lackOf(node, request);
  if (reservation !== null) return { kind: 'reservation_used' };
  const window = windowInTheWay(name as NodeName, ask, board);
  if (window === null) return lackOf(node, request);
  return setAside(window, board.now, reservationOf(window.id));
}

/** What there is too little of, or all of it. A node without a free cpu is full, whatever else. */
function lackOf(
  { free, total, gpusAside = [], gpusGiven = [] }: NodeOutline,
  { perNode }: ResourceRequest,
): NodeSituation {
  if (perNode.cpuCount > 0 && free.cpuCount <= 0) {
    const cpusUsed = total.cpuCount - free.cpuCount;
    return { kind: 'full', cpusUsed, cpusTotal: total.cpuCount };
  }
  const all: (FreeAmount & { readonly wanted: number })[] = [
    { of: 'cpu', free: free.cpuCount, wanted: perNode.cpuCount },
    { of: 'memory', free: free.memoryBytes, wanted: perNode.memoryBytes },
  ];
  if (perNode.gpuCount > 0) {
    const { gpuKind, gpuCount: wanted } = perNode;
    // What keeps cards of other kinds keeps nobody who cannot use them.
    const isSuch = (number: number): boolean => isOfKind(total.cards, number, gpuKind);
    const such = [
      ...gpusAside.filter(({ number }) => isSuch(number)),
      ...gpusGiven.filter(({ numbers }) => numbers.some(isSuch)),
    ];
    const aside = such.length === 0 ? {} : { aside: such.map(({ words }) => words) };
    const fitting = gpusFitting(free, perNode);
    const of = gpuKind === undefined ? 'gpu' : { gpus: gpuNoun(gpuKind, fitting) };
    all.push({ of, free: fitting, wanted, ...aside });
  }
  for (const counted in perNode.counted) {
    const wanted = perNode.counted[counted] ?? 0;
    all.push({ of: { counted }, free: free.counted[counted] ?? 0, wanted });
  }
  const lacking = all.filter((amount) => amount.free < amount.wanted);
  const enough = lacking.length === 0;
  const told = (enough ? all : lacking).map(({ wanted: _, ...amount }) => amount);
  return { kind: 'free', enough, amounts: told };
}
