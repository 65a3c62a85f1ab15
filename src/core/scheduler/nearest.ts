// Which node comes nearest to a request that none could ever hold, and what it lacks.

import { formatSize } from '../base/size.ts';
import type { ResourceRequest } from '../model/job.ts';
import { isExpression, meetsLabel } from '../model/labels.ts';
import { countOf, type Resources } from '../model/resources.ts';
import { describeResources } from './explain.ts';
import type { NodeOutline } from './outline.ts';

type Outline = Pick<NodeOutline, 'name' | 'total' | 'labels'>;
type Asked = Pick<ResourceRequest, 'perNode' | 'nodeNames' | 'labels'>;

interface Lack {
  readonly words: string;
  /** What is missing as a part of what is asked for, from 0 to 1. */
  readonly share: number;
}

/** A sentence without its full stop. `able`: how many of the nodes could hold a part. */
export function describeNearest(nodes: readonly Outline[], able: number, request: Asked): string {
  if (nodes.length === 0) return 'There is none: no node has joined yet';
  const parts = `${able} of ${nodes.length} nodes could hold a part`;
  const lacking = nodes.map((node) => ({ node, lacks: lacksOf(node, request) }));
  const [nearest] = lacking.filter(({ lacks }) => lacks.length > 0).sort(byLack);
  if (nearest === undefined) return parts;
  const { name, total } = nearest.node;
  const lacks = nearest.lacks.map(({ words }) => words).join(' and ');
  const more = able > 0 ? ` (${parts})` : '';
  return `The nearest node is ${name} with ${describeResources(total)}; it lacks ${lacks}${more}`;
}

/** Fewest lacks first, then the smaller ones; nodes of equal lack stay as they are. */
function byLack(a: { lacks: readonly Lack[] }, b: { lacks: readonly Lack[] }): number {
  return a.lacks.length - b.lacks.length || sum(a.lacks) - sum(b.lacks);
}

function sum(lacks: readonly Lack[]): number {
  return lacks.reduce((total, { share }) => total + share, 0);
}

/** Everything that keeps a part of the request from an empty node; nothing = it could hold one. */
function lacksOf({ name, total, labels }: Outline, request: Asked): Lack[] {
  const { perNode, nodeNames } = request;
  const lacks: Lack[] = [];
  if (nodeNames.length > 0 && !nodeNames.some((one) => one === name)) {
    lacks.push({ words: 'being named', share: 1 });
  }
  for (const label of request.labels) {
    if (!meetsLabel(labels, label)) lacks.push({ words: describeLabel(label), share: 1 });
  }
  return [...lacks, ...amountsLacking(perNode, total)];
}

/** A directory that must be shared stands among the labels; people know it as a directory. */
function describeLabel(label: string): string {
  if (isExpression(label)) return `the labels ${label}`;
  return label.startsWith('shared=') ? `the directory ${label.slice(7)}` : `the label ${label}`;
}

function amountsLacking(wanted: Resources, total: Resources): Lack[] {
  const amounts: readonly (readonly [wanted: number, has: number, words: (n: number) => string])[] =
    [
      [wanted.cpuCount, total.cpuCount, (count) => (count === 1 ? '1 cpu' : `${count} cpus`)],
      [wanted.memoryBytes, total.memoryBytes, (bytes) => `${formatSize(bytes)} memory`],
      [wanted.gpuCount, total.gpuCount, (count) => (count === 1 ? '1 gpu' : `${count} gpus`)],
      ...Object.keys(wanted.counted).map(
        (name) =>
          [
            wanted.counted[name] as number,
            countOf(total, name),
            (count: number) => `${count} ${name}`,
          ] as const,
      ),
    ];
  return amounts
    .filter(([asked, has]) => asked > has)
    .map(([asked, has, words]) => ({ words: words(asked - has), share: (asked - has) / asked }));
}
