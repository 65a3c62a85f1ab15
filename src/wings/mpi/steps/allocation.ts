// What a process of a task with `--mpi` finds in its environment: who it is, which nodes its task
// has, and the key that opens them.

import { readFileSync } from 'node:fs';
import { err, ok, type Result } from '../../../kernel/base/result.ts';

/** Names of the variables. The agent sets them; a process of the task reads them. */
export const VARIABLES = {
  task: 'WEFT_TASK_ID',
  epoch: 'WEFT_EPOCH',
  nodeRank: 'WEFT_NODE_RANK',
  nodes: 'WEFT_HOSTFILE_SLOTS',
  key: 'WEFT_STEP_KEY',
} as const;

/** One epoch of a task, seen from one of its nodes. */
export interface Allocation {
  /** `42[7]#2`: task and epoch. */
  readonly epochId: string;
  readonly nodes: readonly string[];
  /** The node that this process runs on. */
  readonly self: string;
  /** Shared by the nodes of the task and by nobody else. */
  readonly key: string;
}

/** Reads the environment; an error says what is missing, and what to do. */
export function readAllocation(
  environment: Readonly<Record<string, string | undefined>>,
): Result<Allocation, string> {
  const task = environment[VARIABLES.task];
  const file = environment[VARIABLES.nodes];
  if (task === undefined || file === undefined) {
    return err('weft-rsh works inside a job only: WEFT_TASK_ID is not set');
  }
  const key = environment[VARIABLES.key];
  if (key === undefined || key === '') {
    return err(`job ${task} was submitted without --mpi, so its nodes take no steps`);
  }
  const nodes = readNodes(file);
  const self = nodes[Number(environment[VARIABLES.nodeRank])];
  if (self === undefined) return err(`${file} does not name the node of WEFT_NODE_RANK`);
  return ok({ epochId: `${task}#${environment[VARIABLES.epoch]}`, nodes, self, key });
}

/** First words of the lines `n1 slots=4`. */
function readNodes(file: string): string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => line.split(' ')[0] ?? line);
}

/** The node that is meant. Open MPI cuts the domain off the names of its host file. */
export function findNode({ nodes }: Allocation, name: string): Result<string, string> {
  if (nodes.includes(name)) return ok(name);
  const [found, other] = nodes.filter((node) => node.startsWith(`${name}.`));
  if (found !== undefined && other === undefined) return ok(found);
  const shown = nodes.length > 8 ? [...nodes.slice(0, 8), '…'] : nodes;
  return err(`'${name}' is not a node of this job; it has ${shown.join(', ')}`);
}
