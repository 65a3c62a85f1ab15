// Reads the seed's `distribute-nodes.yaml`, as strictly as a batch file.

import { shapeBy, together } from '../../../../kernel/api/schema-problems.ts';
import type { Problem } from '../../../../kernel/files/problem.ts';
import { seedNodesFile } from '../../api/batch-file.ts';
import type { KnownNode } from '../../core/runnable.ts';
import { type Judged, readStrictly } from './strict-file.ts';

/** A node as the seed's head knew it: where it listens and what it can. */
export interface SeedNode extends KnownNode {
  readonly host: string;
  readonly transportPort: number;
  readonly keepalivePort: number;
  readonly cancelPort: number;
}

interface JudgedNodes extends Judged {
  readonly nodes: readonly SeedNode[];
}

/** The nodes that a file lists; throws one failure that lists all problems. */
export function readSeedNodes(file: string): readonly SeedNode[] {
  return readStrictly(file, judge).nodes;
}

function judge(plain: unknown): JudgedNodes {
  const { value, problems } = shapeBy(seedNodesFile, plain ?? {});
  const names = new Map<string, number>();
  const twice: Problem[] = [];
  const nodes = value.nodes.map((node, index): SeedNode => {
    const name = String(node.name);
    const other = names.get(name);
    if (other !== undefined) {
      const what = `'${name}' is the name of node ${other + 1} already`;
      twice.push({ at: ['nodes', index, 'name'], what });
    }
    names.set(name, index);
    return {
      name,
      host: node.ip,
      labels: node.capabilities,
      transportPort: node.transport_port ?? 8953,
      keepalivePort: node.keepalive_port ?? 8954,
      cancelPort: node.cancel_port ?? 8955,
    };
  });
  return { nodes, problems: together(problems, twice) };
}
