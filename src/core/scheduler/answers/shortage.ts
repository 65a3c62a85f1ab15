// What is said of a task that does not fit: which nodes are not free for it, and what is in the way.
// Nodes in the same situation are told of together.

import { plural } from '../../base/plural.ts';
import { formatSize } from '../../base/size.ts';
import type { NodeName } from '../../model/ids.ts';
import type { ResourceRequest } from '../../model/job.ts';
import { fitsIn, type Resources } from '../../model/resources.ts';
import type { Ask } from '../room/ask.ts';
import type { Board } from '../room/board.ts';
import type { NodeView } from '../room/pool.ts';
import { describeSetAside, windowInTheWay } from './explain-windows.ts';
import type { NodeOutline, Surroundings } from './outline.ts';
import { grouped, type Said, sayOfNodes } from './say-of-nodes.ts';

interface Situation extends Pick<Surroundings, 'reservationOf'> {
  readonly board: Board;
  /** All nodes where a part would fit; too few. */
  readonly fitting: readonly Pick<NodeView, 'name'>[];
}

/** `all 4 nodes are full: 8 of 8 cpus in use`. Of nodes that get work and could hold a part. */
export function describeShortage(
  usable: readonly NodeOutline[],
  ask: Ask,
  situation: Situation,
): string {
  const { nodeCount } = ask.request;
  const { fitting } = situation;
  const names = new Set<string>(fitting.map(({ name }) => name));
  const told = usable.filter(({ name }) => !names.has(name));
  const groups = grouped(told, (node) => obstacleOf(node, ask, situation));
  const words = sayOfNodes(groups, usable.length);
  if (nodeCount === 1 || fitting.length === 0) return words;
  const count = fitting.length === 1 ? 'only 1 node has' : `only ${fitting.length} nodes have`;
  return words === '' ? `${count} room` : `${count} room; ${words}`;
}

/** What of the node is not free for the task. */
function obstacleOf(
  { name, free, total, idle }: NodeOutline,
  ask: Ask,
  { board, reservationOf }: Situation,
): Said {
  const { request, reservation } = ask;
  if (request.exclusive && !idle) {
    return { one: 'runs other tasks', many: 'run other tasks' };
  }
  if (!fitsIn(request.perNode, free)) return lackOf(free, total, request);
  if (reservation !== null) return haveOnly('too little of the reservation free');
  const window = windowInTheWay(name as NodeName, ask, board);
  if (window === null) return lackOf(free, total, request);
  return describeSetAside(window, board.now, reservationOf(window.id));
}

/** What there is too little of, or all of it. A node without a free cpu is full, whatever else. */
function lackOf(free: Resources, total: Resources, { perNode }: ResourceRequest): Said {
  if (perNode.cpuCount > 0 && free.cpuCount <= 0) {
    const used = total.cpuCount - free.cpuCount;
    return { one: 'is full', many: 'are full', cpus: { used, total: total.cpuCount } };
  }
  const parts: [free: number, wanted: number, words: string][] = [
    [free.cpuCount, perNode.cpuCount, plural(free.cpuCount, 'cpu')],
    [free.memoryBytes, perNode.memoryBytes, `${formatSize(Math.max(0, free.memoryBytes))} memory`],
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
  return haveOnly(`${lacking.length > 0 ? 'only ' : ''}${words.join(' and ')} free`);
}

function haveOnly(words: string): Said {
  return { one: `has ${words}`, many: `have ${words}` };
}
