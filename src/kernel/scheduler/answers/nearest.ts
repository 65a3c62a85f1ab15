// Which node comes nearest to a request that none could ever hold, and what it lacks.

import { plural } from '../../base/plural.ts';
import { formatSize } from '../../base/size.ts';
import { isAccountLabel, userOfLabel } from '../../model/accounts.ts';
import type { ResourceRequest } from '../../model/job.ts';
import { isExpression, meetsLabel } from '../../model/labels.ts';
import { FEATURE_WORDS, featureOf } from '../../model/node-features.ts';
import { largest, type NodeSize } from '../../model/node-sizes.ts';
import { describeResources } from '../../model/request-words.ts';
import { countOf, type Resources } from '../../model/resources.ts';
import { gpuLack } from './gpu-lack.ts';
import type { NodeOutline } from './outline.ts';

type Outline = Pick<NodeOutline, 'name' | 'total' | 'labels' | 'sizes'>;
type Asked = Pick<ResourceRequest, 'perNode' | 'nodeNames' | 'labels'>;

interface Lack {
  /** `7 cpus`, or `does not share /data`. */
  readonly kind: 'amount' | 'property';
  readonly words: string;
  /** What is missing as a part of what is asked for, from 0 to 1. */
  readonly share: number;
}

/** A sentence without its full stop. `able`: how many of the nodes could hold a part. */
export function describeNearest(nodes: readonly Outline[], able: number, request: Asked): string {
  if (nodes.length === 0) return 'No node has joined yet';
  const parts = `${able} of ${nodes.length} nodes could hold one part`;
  const { nodeNames } = request;
  // Whoever names nodes wants to hear of those.
  const meant = nodes.filter(({ name }) => {
    return nodeNames.length === 0 || nodeNames.some((one) => one === name);
  });
  const lacking = meant.map((node) => ({ node, lacks: lacksOf(node, request) }));
  const [nearest] = lacking.filter(({ lacks }) => lacks.length > 0).sort(byLack);
  if (nearest === undefined) return parts;
  return `${describeLacks(nearest.node, nearest.lacks)}${able > 0 ? ` (${parts})` : ''}`;
}

/** `n1 does not share /data`; where amounts are lacking, with what the node has. */
function describeLacks({ name, total, sizes }: Outline, lacks: readonly Lack[]): string {
  const amounts = lacks.filter(({ kind }) => kind === 'amount').map(({ words }) => words);
  const others = lacks.filter(({ kind }) => kind === 'property').map(({ words }) => words);
  if (amounts.length === 0) return `${name} ${others.join(' and ')}`;
  const clauses = [`lacks ${amounts.join(' and ')}`, ...others];
  const biggest = largest(sizes);
  if (biggest !== undefined) {
    const has = describeResources(withSize(total, biggest));
    return `The largest node of site ${name} has ${has}; it ${clauses.join(' and ')}`;
  }
  const has = describeResources(total);
  return `The nearest node is ${name} with ${has}; it ${clauses.join(' and ')}`;
}

/** Fewest lacks first, then the smaller ones; nodes of equal lack stay as they are. */
function byLack(a: { lacks: readonly Lack[] }, b: { lacks: readonly Lack[] }): number {
  return a.lacks.length - b.lacks.length || sum(a.lacks) - sum(b.lacks);
}

function sum(lacks: readonly Lack[]): number {
  return lacks.reduce((total, { share }) => total + share, 0);
}

/** Everything that keeps a part of the request from an empty node; nothing = it could hold one. */
function lacksOf(
  { total: all, labels, sizes }: Outline,
  { perNode, labels: wanted }: Asked,
): Lack[] {
  const unmet = wanted.filter((label) => !meetsLabel(labels, label));
  const properties = unmet.map((label): Lack => {
    return { kind: 'property', words: describeLabel(label), share: 1 };
  });
  const biggest = largest(sizes);
  const total = biggest === undefined ? all : withSize(all, biggest);
  const lack = gpuLack(perNode, total);
  const gpus: Lack[] = lack === null ? [] : [{ kind: 'property', ...lack }];
  return [...properties, ...gpus, ...amountsLacking(perNode, total)];
}

/** What the largest node of a site has of what the site has. */
export function withSize(total: Resources, { cpuCount, memoryBytes }: NodeSize): Resources {
  return {
    ...total,
    cpuCount: Math.min(cpuCount, total.cpuCount),
    memoryBytes: Math.min(memoryBytes ?? total.memoryBytes, total.memoryBytes),
  };
}

/** A directory that must be shared stands among the labels; people know it as a directory. */
function describeLabel(label: string): string {
  const feature = featureOf(label);
  if (feature !== null) return `runs an agent too old for ${FEATURE_WORDS[feature]}`;
  const user = userOfLabel(label);
  if (user !== null) return `takes no jobs of ${user}, as its owner says`;
  if (isAccountLabel(label)) return 'switches users and takes no jobs of root';
  if (isExpression(label)) return `does not meet '${label}'`;
  if (label.startsWith('shared=')) return `does not share ${label.slice(7)}`;
  return `does not have the label ${label}`;
}

function amountsLacking(wanted: Resources, total: Resources): Lack[] {
  const amounts: readonly (readonly [wanted: number, has: number, words: (n: number) => string])[] =
    [
      [wanted.cpuCount, total.cpuCount, (count) => plural(count, 'cpu')],
      [wanted.memoryBytes, total.memoryBytes, (bytes) => `${formatSize(bytes)} memory`],
      // Which are missing is said where somebody says which.
      [
        wanted.gpuKind === undefined ? wanted.gpuCount : 0,
        total.gpuCount,
        (count) => plural(count, 'gpu'),
      ],
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
    .map(([asked, has, words]) => ({
      kind: 'amount',
      words: words(asked - has),
      share: (asked - has) / asked,
    }));
}
