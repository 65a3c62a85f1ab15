// On how many nodes a batch could run, by what it needs and what nodes say they are.

import { meetsLabel } from '../../../kernel/model/labels.ts';
import type { Resources } from '../../../kernel/model/resources.ts';
import type { BatchFile } from './batch.ts';
import { jobNeeds, needsOf } from './needs.ts';

export interface KnownNode {
  readonly name: string;
  readonly labels: readonly string[];
  /** Absent: whoever lists the nodes does not know. */
  readonly total?: Pick<Resources, 'cpuCount' | 'memoryBytes' | 'gpuCount'>;
}

export interface Runnable {
  readonly nodes: readonly string[];
  readonly total: number;
  /** Needs that no node meets, however the others are. */
  readonly unmet: readonly string[];
  /** Jobs that are larger than every node that meets the needs. */
  readonly tooLarge: readonly string[];
}

/** Nodes that have the labels and are large enough for at least one of the jobs. */
export function runnableNodes(
  batch: Pick<BatchFile, 'needs' | 'jobs' | 'solver'>,
  nodes: readonly KnownNode[],
): Runnable {
  const sets = nodes.map((node) => ({ ...node, set: new Set(node.labels) }));
  const labelled = new Map<string, (typeof sets)[number][]>();
  const able = new Set<KnownNode>();
  const tooLarge: string[] = [];
  const needed = new Set(needsOf(batch));
  for (const job of batch.jobs) {
    const needs = jobNeeds(batch, job);
    for (const need of needs) needed.add(need);
    // Of very many jobs most need the same.
    const key = JSON.stringify(needs);
    const found =
      labelled.get(key) ?? sets.filter(({ set }) => needs.every((need) => meetsLabel(set, need)));
    labelled.set(key, found);
    const large = found.filter((node) => fits(job, node));
    for (const node of large) able.add(node);
    if (large.length === 0 && found.length > 0) tooLarge.push(job.name);
  }
  return {
    nodes: sets.filter((node) => able.has(node)).map(({ name }) => name),
    total: nodes.length,
    unmet: [...needed].filter((need) => !sets.some(({ set }) => meetsLabel(set, need))),
    tooLarge,
  };
}

function fits(job: BatchFile['jobs'][number], { total }: KnownNode): boolean {
  if (total === undefined) return true;
  const { cpuCount, memoryBytes, gpuCount } = job;
  return (
    (cpuCount ?? 0) <= total.cpuCount &&
    (memoryBytes ?? 0) <= total.memoryBytes &&
    (gpuCount ?? 0) <= total.gpuCount
  );
}
