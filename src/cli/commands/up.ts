// `weft up`: a whole cluster on this machine, for one user, on loopback only.

import type { NodeView } from '../../api/nodes.ts';
import { formatSize } from '../../core/base/size.ts';
import type { Resources } from '../../core/model/resources.ts';
import type { Config, Flags } from '../config/config.ts';
import { formatAddress } from '../config/value.ts';
import type { Api } from '../connection/api.ts';
import type { Context } from '../context.ts';
import { type ClusterRecord, DOWN_REASON, LocalCluster } from '../daemons/local-cluster.ts';
import { writeJson } from '../daemons/local-paths.ts';
import { defineVerb } from '../verb.ts';

interface Options {
  readonly nodes?: string;
  readonly cpus?: string;
  readonly memory?: string;
  readonly listen?: string;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.option('-n, --nodes <count>', 'virtual nodes (default: 4)');
    command.option('--cpus <count>', 'cpus of each (default: 2)');
    command.option('--memory <size>', 'memory of each (default: 512M)');
    command.option('--listen <address>', 'host:port for agents and users elsewhere, or none');
  },
  async run({ context, options }) {
    const config = await context.config(flagsOf(options));
    const cluster = new LocalCluster(context, config);
    cluster.paths.make('own');
    const unlock = cluster.lock();
    try {
      return await bringUp(context, cluster, wishes(cluster.record, config, options));
    } finally {
      unlock();
    }
  },
});

function flagsOf(options: Options): Flags {
  const pairs = [
    ['up.nodes', options.nodes, '--nodes'],
    ['up.cpus', options.cpus, '--cpus'],
    ['up.memory', options.memory, '--memory'],
    ['head.listen', options.listen, '--listen'],
  ] as const;
  const given = pairs.filter(([, text]) => text !== undefined);
  return new Map(given.map(([key, text, flag]) => [key, { text: text ?? '', flag }]));
}

/** Each time another program has to be faster by milliseconds. */
const PORT_TRIES_MAX = 5;

interface Wishes {
  readonly record: ClusterRecord;
  /** What was asked for and does not change any more: told, not done. */
  readonly notes: readonly string[];
}

/** What was made before stays; flags add nodes. */
function wishes(before: ClusterRecord | null, config: Config, options: Options): Wishes {
  const perNode: Resources = {
    cpuCount: config.number('up.cpus'),
    memoryBytes: config.number('up.memory'),
    gpuCount: 0,
    counted: {},
  };
  const listen = config.address('head.listen');
  const nodeCount = config.number('up.nodes');
  if (before === null) return { record: { listen, nodeCount, perNode }, notes: [] };
  const notes = [];
  const asked = options.nodes === undefined ? before.nodeCount : nodeCount;
  if (asked < before.nodeCount)
    notes.push(`there are ${before.nodeCount} nodes already, and they stay`);
  if (options.cpus !== undefined || options.memory !== undefined) {
    notes.push('existing nodes keep their cpus and memory; `weft down --clean` starts afresh');
  }
  const kept = options.listen === undefined ? before.listen : listen;
  const added = options.nodes === undefined ? before.perNode : perNode;
  const record = { listen: kept, nodeCount: Math.max(asked, before.nodeCount), perNode: added };
  return { record, notes };
}

async function bringUp(
  context: Context,
  cluster: LocalCluster,
  { record, notes }: Wishes,
): Promise<number> {
  const api = cluster.connect();
  try {
    const head = await bringUpHead(cluster, api, record);
    const now = { ...record, listen: head.listen };
    const names = cluster.nodeNames(now.nodeCount);
    const started = await cluster.startNodes(api, names, now.perNode);
    const nodes = await cluster.untilConnected(api, names);
    await undrain(api, nodes);
    for (const note of notes) context.note(note);
    describe(context, { head, started, nodes, cluster });
    return 0;
  } finally {
    api.close();
  }
}

/** The port was free a moment ago: should another program have been faster, there is a next one. */
async function bringUpHead(cluster: LocalCluster, api: Api, record: ClusterRecord) {
  for (let triesLeft = PORT_TRIES_MAX - 1; ; triesLeft -= 1) {
    const head = await cluster.startHead(record.listen);
    writeJson(cluster.paths.cluster, { ...record, listen: head.listen });
    try {
      await cluster.untilReady(api);
      return head;
    } catch (error) {
      if (triesLeft === 0 || !cluster.hasLostItsPort) throw error;
    }
  }
}

async function undrain(api: Api, nodes: readonly NodeView[]): Promise<void> {
  for (const { name, drained } of nodes) {
    if (drained?.reason === DOWN_REASON) await api.call('undrainNode', { params: { name } });
  }
}

function describe(
  context: Context,
  of: {
    head: { started: boolean; listen: ClusterRecord['listen'] };
    started: readonly string[];
    nodes: readonly NodeView[];
    cluster: LocalCluster;
  },
): void {
  const { head, started, nodes, cluster } = of;
  if (!head.started && started.length === 0) context.print('The cluster is already running.');
  else if (!head.started) context.print(`Head was running; started ${started.join(', ')}.`);
  else context.print('The cluster is running.');
  if (nodes.length > 0) context.print(`  ${sizeWords(nodes)}`);
  if (head.listen !== null) context.print(`  head on https://${formatAddress(head.listen)}`);
  context.print(`  state in ${cluster.paths.directory}`);
}

/** Existing nodes keep their size, so that they may differ. */
function sizeWords(nodes: readonly NodeView[]): string {
  const sizes = nodes.map(({ total }) => {
    return `${total.cpuCount} cpus and ${formatSize(total.memoryBytes)} memory`;
  });
  const [first = ''] = sizes;
  if (nodes.length === 1) return `1 node with ${first}`;
  if (sizes.every((size) => size === first)) return `${nodes.length} nodes, each with ${first}`;
  return `${nodes.length} nodes: ${nodes.map(({ name }, at) => `${name} with ${sizes[at]}`).join(', ')}`;
}
