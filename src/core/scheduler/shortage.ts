// What is said of a task that does not fit: which nodes are not free for it, and what is in the way.

import { formatSize } from '../base/size.ts';
import type { NodeName } from '../model/ids.ts';
import type { ResourceRequest } from '../model/job.ts';
import { fitsIn, type Resources } from '../model/resources.ts';
import type { Ask } from './ask.ts';
import type { Board } from './board.ts';
import { describeSetAside, windowInTheWay } from './explain-windows.ts';
import type { NodeOutline, Surroundings } from './outline.ts';
import type { NodeView } from './pool.ts';

/** Nodes that are told of by name. */
const NODES_MAX = 3;

interface Situation extends Pick<Surroundings, 'reservationOf'> {
  readonly board: Board;
  /** All nodes where a part would fit; too few. */
  readonly fitting: readonly Pick<NodeView, 'name'>[];
}

/** `1 of 2 have that free now: n2 has 0 cpus free`. Of nodes that get work and could hold a part. */
export function describeShortage(
  usable: readonly NodeOutline[],
  ask: Ask,
  situation: Situation,
): string {
  const { nodeCount } = ask.request;
  const { fitting } = situation;
  const names = new Set<string>(fitting.map(({ name }) => name));
  const told = usable.filter(({ name }) => !names.has(name));
  const shown = told.slice(0, NODES_MAX).map((node) => {
    return `${node.name} has ${describeObstacle(node, ask, situation)}`;
  });
  const rest = told.length > NODES_MAX ? `, … (${told.length} nodes)` : '';
  const words = told.length > 0 ? `: ${shown.join(', ')}${rest}` : '';
  const enough = nodeCount === 1 ? 'none has' : `${fitting.length} of ${nodeCount} have`;
  return `${enough} that free now${words}`;
}

/** What of the node is not free for the task. */
function describeObstacle(
  { name, free, idle }: NodeOutline,
  ask: Ask,
  { board, reservationOf }: Situation,
): string {
  const { request, reservation } = ask;
  if (request.exclusive && !idle) return 'other tasks';
  if (!fitsIn(request.perNode, free)) return describeFree(free, request);
  if (reservation !== null) return 'too little free of the reservation';
  const window = windowInTheWay(name as NodeName, ask, board);
  if (window === null) return describeFree(free, request);
  return describeSetAside(window, board.now, reservationOf(window.id));
}

/** What there is too little of, or all of it. */
function describeFree(free: Resources, { perNode }: ResourceRequest): string {
  const parts: [free: number, wanted: number, words: string][] = [
    [free.cpuCount, perNode.cpuCount, plural(free.cpuCount, 'cpu')],
    [free.memoryBytes, perNode.memoryBytes, `${formatSize(free.memoryBytes)} memory`],
  ];
  if (perNode.gpuCount > 0) {
    parts.push([free.gpuCount, perNode.gpuCount, plural(free.gpuCount, 'gpu')]);
  }
  for (const name in perNode.counted) {
    const left = free.counted[name] ?? 0;
    parts.push([left, perNode.counted[name] ?? 0, `${left} ${name}`]);
  }
  const lacking = parts.filter(([left, wanted]) => left < wanted);
  const words = (lacking.length > 0 ? lacking : parts).map((part) => part[2]);
  return `${words.join(' and ')} free`;
}

function plural(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}
