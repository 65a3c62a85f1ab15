// `distribute node-status`: the nodes of the file and of the cluster, and which of them are there.

import type { NodeView } from '../../../kernel/api/nodes.ts';
import { plural } from '../../../kernel/base/plural.ts';
import { type Column, formatTable } from '../../../kernel/cli/output/table.ts';
import type { SeedNode } from '../../batches/batch/read/read-nodes.ts';
import { headVerb } from './head-flags.ts';
import { NODES_FILE_FLAGS, NODES_FILE_TEXT, nodesOf } from './nodes-file.ts';

interface Row {
  readonly name: string;
  readonly address: string;
  readonly version: string;
  readonly isThere: boolean;
}

const COLUMNS: Column<Row>[] = [
  { title: 'Node Name', value: ({ name }) => name },
  { title: 'Address', value: ({ address }) => address },
  { title: 'Version', value: ({ version }) => version },
];

export const nodeStatus = headVerb<{ readonly nodesFile?: string }>({
  define: (command) => void command.option(NODES_FILE_FLAGS, NODES_FILE_TEXT),
  async run({ context, options }) {
    const listed = await nodesOf(context, options.nodesFile);
    const { nodes } = await (await context.api()).call('listNodes');
    const rows = rowsOf(listed, nodes);
    for (const line of formatTable(COLUMNS, rows, 'main', context.look)) context.print(line);
    const missing = rows.filter(({ isThere }) => !isThere);
    if (missing.length === 0) return 0;
    context.note(`${missing.length} of ${plural(rows.length, 'node')} cannot be used now`);
    return 1;
  },
});

/** Those of the file in its order, then the others of the cluster. */
function rowsOf(listed: readonly SeedNode[], nodes: readonly NodeView[]): Row[] {
  const known = new Map(nodes.map((node) => [node.name, node]));
  const named = new Set(listed.map(({ name }) => name));
  const others = nodes.filter(({ name }) => !named.has(name));
  return [
    ...listed.map(({ name, host }) => rowOf(name, host, known.get(name))),
    ...others.map((node) => rowOf(node.name, String(node.facts?.['hostname'] ?? '-'), node)),
  ];
}

function rowOf(name: string, address: string, node: NodeView | undefined): Row {
  if (node === undefined) return { name, address, version: 'NOT JOINED', isThere: false };
  if (node.state !== 'up') return { name, address, version: 'OFFLINE', isThere: false };
  const version = String(node.facts?.['agentVersion'] ?? 'unknown');
  return { name, address, version, isThere: true };
}
