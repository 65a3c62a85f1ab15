// A step of `srun` inside of a job: which ranks run on which of its nodes, and what each finds.

import { err, ok, type Result } from '../../../kernel/base/result.ts';

export interface Held {
  readonly nodes: readonly string[];
  readonly ranksPerNode: number;
}

export interface Rank {
  /** Among all of the step. */
  readonly rank: number;
  /** On its node. */
  readonly local: number;
  /** Which of the job's nodes, from 0. */
  readonly node: number;
}

/** Ranks fill the nodes one after the other, as many on each as the job has there. */
export function ranksOf(
  { nodes, ranksPerNode }: Held,
  { tasks, nodeCount }: { readonly tasks: number | null; readonly nodeCount: number | null },
): Result<Rank[], string> {
  const used = nodeCount ?? nodes.length;
  if (used > nodes.length) {
    return err(
      `Unable to create step for job: ${used} nodes are more than the ${nodes.length} of the job`,
    );
  }
  const all = tasks ?? used * ranksPerNode;
  const each = Math.ceil(all / used);
  if (tasks !== null && each > ranksPerNode) {
    return err(
      `Unable to create step for job: ${tasks} tasks are more than the ${nodes.length * ranksPerNode} of the job`,
    );
  }
  return ok(
    Array.from({ length: all }, (_, rank) => {
      return { rank, local: rank % each, node: Math.floor(rank / each) };
    }),
  );
}

/** Which job a step is of, and which task of an array; index null: of none. */
export interface StepJob {
  readonly job: string;
  readonly index: string | null;
}

/** A file of a rank: `%t` its number, `%n` its node, the rest as the job's. */
export function rankFile(pattern: string, { rank, node }: Rank, { job, index }: StepJob): string {
  const own = index === null ? job : `${job}_${index}`;
  const fields: Readonly<Record<string, string>> = {
    t: String(rank),
    n: String(node),
    j: own,
    J: own,
    A: job,
    a: index ?? '4294967294',
    s: '0',
    '%': '%',
  };
  return pattern.replace(/%\d*([a-zA-Z%])/g, (said, letter: string) => fields[letter] ?? said);
}
