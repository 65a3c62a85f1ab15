// A step of `srun` inside of a job: which ranks run on which of its nodes, and what each finds.

import { evenShare } from '../../../kernel/base/even-share.ts';
import { err, ok, type Result } from '../../../kernel/base/result.ts';

export interface Held {
  readonly nodes: readonly string[];
  readonly ranksPerNode: number;
  /** All ranks of the job; absent: as many on each node. */
  readonly ranks?: number | undefined;
  /** Absent: as many as ranks. */
  readonly cpusPerNode?: number;
}

export interface Rank {
  /** Among all of the step. */
  readonly rank: number;
  /** On its node. */
  readonly local: number;
  /** Which of the job's nodes, from 0. */
  readonly node: number;
}

export interface StepShape {
  readonly tasks: number | null;
  readonly nodeCount: number | null;
  /** `--ntasks-per-node`; null: it says nothing. */
  readonly perNode?: number | null;
  /** `--nodelist`; null: it says nothing. */
  readonly names?: readonly string[] | null;
}

/** How many ranks on how many nodes, or why not. */
export function sizeOf(
  { nodes, ranksPerNode, ranks = nodes.length * ranksPerNode, cpusPerNode = ranksPerNode }: Held,
  { tasks, nodeCount, perNode = null, names = null }: StepShape,
): Result<{ readonly used: number; readonly all: number }, string> {
  const refuse = (why: string) => err(`Unable to create step for job: ${why}`);
  const other = names?.find((name) => !nodes.includes(name));
  if (other !== undefined) return refuse(`${other} is none of its nodes`);
  const fewer = tasks !== null && tasks < nodes.length ? tasks : nodes.length;
  const used = nodeCount ?? names?.length ?? fewer;
  const most = names?.length ?? nodes.length;
  if (used > most) return refuse(`${used} nodes are more than the ${most} of the job`);
  const ofJob = used === nodes.length ? ranks : used * ranksPerNode;
  const all = tasks ?? (perNode === null ? ofJob : used * perNode);
  const room = Math.max(ranksPerNode, cpusPerNode);
  const each = Math.min(perNode ?? room, room);
  if (Math.ceil(all / used) > each)
    return refuse(`${all} tasks are more than the ${each * used} of the job`);
  // Nodes that would have no rank are none of the step's.
  return ok({ used: Math.min(used, all), all });
}

/** What ranks of a node are to have there; memory is in MiB, null: nobody says. */
export interface RoomWish {
  readonly ranks: number;
  /** Cpus and gpus of each rank. */
  readonly cpus: number;
  readonly gpus: number;
  readonly memory: number | null;
}

/** What the job has on a node; null: nobody says. */
interface Room {
  readonly cpusPerNode: number;
  readonly gpus: number | null;
  readonly memory: number | null;
}

/** Why a step can never have what it asks for; null: it can. */
export function roomProblem({ ranks, cpus, gpus, memory }: RoomWish, held: Room): string | null {
  if (ranks * cpus > held.cpusPerNode)
    return `${ranks * cpus} cpus are more than the ${held.cpusPerNode} that it has on a node`;
  if (held.gpus !== null && ranks * gpus > held.gpus)
    return `${ranks * gpus} gpus are more than the ${held.gpus} that it has on a node`;
  if (memory === null || held.memory === null || memory <= held.memory) return null;
  return `${memory}M are more than the ${held.memory}M that it has on a node`;
}

/** The nodes with most room, in the job's order; `taken`: cpus of each that other steps have. */
export function nodesFor(
  nodes: readonly string[],
  { used, names = null }: { readonly used: number; readonly names?: readonly string[] | null },
  taken: readonly number[] = [],
): number[] {
  const open = nodes.flatMap((name, at) => (names === null || names.includes(name) ? [at] : []));
  const freest = open.toSorted((a, b) => (taken[a] ?? 0) - (taken[b] ?? 0));
  return freest.slice(0, used).sort((a, b) => a - b);
}

/** Ranks fill the nodes one after the other, as many on each as its share is. */
export function ranksOn(nodes: readonly number[], { all }: { readonly all: number }): Rank[] {
  let rank = 0;
  return nodes.flatMap((node, at) =>
    Array.from({ length: evenShare(all, nodes.length, at) }, (_, local) => {
      return { rank: rank++, local, node };
    }),
  );
}

/** How many each node has, as Slurm writes it: `2(x3),1`. */
export function onEach(all: number, nodeCount: number): string {
  const more = all % nodeCount;
  const parts: [count: number, nodes: number][] = [
    [Math.ceil(all / nodeCount), more === 0 ? nodeCount : more],
    [Math.floor(all / nodeCount), more === 0 ? 0 : nodeCount - more],
  ];
  return parts
    .filter(([, nodes]) => nodes > 0)
    .map(([count, nodes]) => (nodes > 1 ? `${count}(x${nodes})` : String(count)))
    .join(',');
}

/** Ranks fill the nodes one after the other, as many on each as the job has there. */
export function ranksOf(held: Held, shape: StepShape): Result<Rank[], string> {
  const size = sizeOf(held, shape);
  if (!size.ok) return size;
  const { used } = size.value;
  return ok(ranksOn(nodesFor(held.nodes, { used, names: shape.names ?? null }), size.value));
}

/** Which job a step is of, and which task of an array; index null: of none. */
export interface StepJob {
  readonly job: string;
  readonly index: string | null;
}

/** Where a rank's file is, and for whom. */
export interface RankJob extends StepJob {
  readonly name?: string;
  /** The rank's node. */
  readonly node?: string;
  /** Number of the step; absent: 0. */
  readonly step?: string;
  readonly user?: string | undefined;
}

/**
 * A file of a rank: `%t` its number, `%n` its node, the rest as the job's; `%3t` has zeros. With a
 * backslash, which is left out, nothing stands for anything (srun(1), "filename pattern").
 */
export function rankFile(pattern: string, { rank, node }: Rank, job: RankJob): string {
  if (pattern.includes('\\')) return pattern.replaceAll('\\', '');
  const { job: master, index, step = '0' } = job;
  const id = index === null ? master : `${master}_${index}`;
  const fields: Readonly<Record<string, string>> = {
    t: String(rank),
    n: String(node),
    j: id,
    J: `${id}.${step}`,
    A: master,
    a: index ?? '4294967294',
    s: step,
    u: job.user ?? '%u',
    x: job.name ?? '%x',
    N: job.node ?? '%N',
    '%': '%',
  };
  return pattern.replace(/%(\d*)([a-zA-Z%])/g, (said, width: string, letter: string) => {
    const value = fields[letter] ?? said;
    // Of `42_7` and `42.0` the first number has them.
    const [first = ''] = 'jJAasnt'.includes(letter) ? (/^\d+/.exec(value) ?? []) : [];
    const zeros = Math.min(10, Number(width));
    return first === '' ? value : first.padStart(zeros, '0') + value.slice(first.length);
  });
}

/** Gpus of each rank as `--gpus-per-task` binds them; null: a rank sees all of its job there. */
export function gpusOfRank(given: {
  readonly 'gpus-per-task'?: string | undefined;
  readonly 'gpu-bind'?: string | undefined;
}): string | null {
  const { 'gpus-per-task': said, 'gpu-bind': bind = '' } = given;
  if (said === undefined || /^(?:verbose,)?none$/i.test(bind)) return null;
  const count = countIn(said);
  return count === 0 ? null : String(count);
}

/** Gpus of a node that a step is to have, where that is fewer than the job has there; else null. */
export function fewerGpus(
  given: {
    readonly gres?: string | undefined;
    readonly gpus?: string | undefined;
    readonly 'gpus-per-node'?: string | undefined;
  },
  held: number,
): number | null {
  const said = given.gres ?? given['gpus-per-node'] ?? given.gpus;
  const count = said === undefined ? held : countIn(said);
  return count < held ? count : null;
}

/** `2`, `a100:2`, `gpu:a100:2`; a type alone is one. */
function countIn(text: string): number {
  if (text === 'none') return 0;
  return Number(/^(?:.*:)?(\d+)$/.exec(text)?.[1] ?? 1);
}
