// On how many nodes a batch could run, by what it needs and what nodes say they are.

import { meetsLabel } from '../model/labels.ts';
import type { BatchFile } from './batch.ts';
import { needsOf } from './needs.ts';

export interface KnownNode {
  readonly name: string;
  readonly labels: readonly string[];
  /** Absent: whoever lists the nodes does not know. */
  readonly total?: { readonly cpuCount: number; readonly memoryBytes: number };
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
  const { jobs } = batch;
  const needs = needsOf(batch);
  const sets = nodes.map((node) => ({ ...node, set: new Set(node.labels) }));
  const labelled = sets.filter(({ set }) => needs.every((need) => meetsLabel(set, need)));
  const able = labelled.filter((node) => jobs.some((job) => fits(job, node)));
  const tooLarge = jobs.filter((job) => !labelled.some((node) => fits(job, node)));
  return {
    nodes: able.map(({ name }) => name),
    total: nodes.length,
    unmet: needs.filter((need) => !sets.some(({ set }) => meetsLabel(set, need))),
    tooLarge: labelled.length === 0 ? [] : tooLarge.map(({ name }) => name),
  };
}

function fits({ cpuCount, memoryBytes }: BatchFile['jobs'][number], { total }: KnownNode): boolean {
  if (total === undefined) return true;
  return (cpuCount ?? 0) <= total.cpuCount && (memoryBytes ?? 0) <= total.memoryBytes;
}
