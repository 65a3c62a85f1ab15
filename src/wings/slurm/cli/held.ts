// Resources that jobs hold. Of whole nodes that is all that these have: the job's view has only
// what it asked for.

import type { JobView } from '../../../kernel/api/jobs.ts';
import type { NodeView } from '../../../kernel/api/nodes.ts';
import type { Api } from '../../../kernel/connect/api.ts';

export type Amounts = Pick<NodeView['total'], 'cpuCount' | 'memoryBytes' | 'gpuCount'>;

interface Placed {
  readonly job: Pick<JobView, 'request'>;
  readonly nodes: readonly string[];
  /** Sums over its nodes, which it has whole; absent: it has what its job asks for, on each. */
  readonly whole?: Amounts;
}

/** Sums over all nodes of a job: what it holds, or of one that waits what it asks for. */
export function heldBy({ job: { request }, whole }: Placed): Amounts {
  const { nodeCount, perNode } = request;
  return (
    whole ?? {
      cpuCount: perNode.cpuCount * nodeCount,
      memoryBytes: perNode.memoryBytes * nodeCount,
      gpuCount: perNode.gpuCount * nodeCount,
    }
  );
}

/** Rows with the whole nodes that they have; nodes are asked for once, and only if some row has. */
export function wholeNodes(api: Api): <Row extends Placed>(rows: readonly Row[]) => Promise<Row[]> {
  let asked: Promise<ReadonlyMap<string, NodeView>> | null = null;
  return async (rows) => {
    if (!rows.some(hasWhole)) return [...rows];
    asked ??= nodesOf(api);
    const all = await asked;
    return rows.map((row) => {
      const whole = hasWhole(row) ? sumOf(row.nodes.map((name) => all.get(name))) : null;
      return whole === null ? row : { ...row, whole };
    });
  };
}

const hasWhole = ({ job, nodes }: Placed): boolean => job.request.exclusive && nodes.length > 0;

async function nodesOf(api: Api): Promise<ReadonlyMap<string, NodeView>> {
  const { nodes } = await api.call('listNodes');
  return new Map(nodes.map((node) => [node.name, node]));
}

/** Null where one of them is gone, or stands for a site, of which a job has some nodes. */
function sumOf(nodes: readonly (NodeView | undefined)[]): Amounts | null {
  const sum = { cpuCount: 0, memoryBytes: 0, gpuCount: 0 };
  for (const node of nodes) {
    if (node === undefined || node.facts?.['site'] === node.name) return null;
    sum.cpuCount += node.total.cpuCount;
    sum.memoryBytes += node.total.memoryBytes;
    sum.gpuCount += node.total.gpuCount;
  }
  return sum;
}
