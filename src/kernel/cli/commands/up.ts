// `weft up`: a whole cluster on this machine, for one user, on loopback only.

import type { NodeView } from '../../api/nodes.ts';
import { plural } from '../../base/plural.ts';
import { formatSize } from '../../base/size.ts';
import type { Config, Flags } from '../../config/config.ts';
import { refuseLongDirectory } from '../../config/socket-room.ts';
import { formatAddress } from '../../config/value.ts';
import type { Api } from '../../connect/api.ts';
import type { Resources } from '../../model/resources.ts';
import type { Context } from '../context.ts';
import { type ClusterRecord, DOWN_REASON, LocalCluster } from '../daemons/local-cluster.ts';
import { writeJson } from '../daemons/local-paths.ts';
import { defineOnceOptions, type OnceOptions, onceOptions } from '../daemons/once-options.ts';
import { forgiveDeaths } from '../daemons/restarts.ts';
import { defineVerb } from '../verb.ts';

interface Options extends OnceOptions {
  readonly nodes?: string;
  readonly cpus?: string;
  readonly memory?: string;
  readonly gpus?: string;
  readonly listen?: string;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.option('-n, --nodes <count>', 'virtual nodes that divide this machine (default: 1)');
    command.option('--cpus <count>', "cpus of each (default: the machine's, divided)");
    command.option('--memory <size>', "memory of each (default: the machine's, divided)");
    command.option('--gpus <count>', "gpus of each (default: the machine's, divided)");
    command.option('--listen <address>', 'host:port for agents and users elsewhere, or none');
    defineOnceOptions(command);
  },
  async run({ context, options }) {
    const config = await context.config(flagsOf(options));
    const cluster = new LocalCluster(context, config);
    cluster.paths.make('own');
    const unlock = await cluster.lock();
    forgiveDeaths(cluster.paths);
    try {
      const machine = await context.programs.detectMachine();
      const wished = wishes(cluster.record, { config, machine }, options);
      return await bringUp(context, cluster, { ...wished, once: onceOptions(options) });
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
    ['up.gpus', options.gpus, '--gpus'],
    ['head.listen', options.listen, '--listen'],
  ] as const;
  const given = pairs.filter(([, text]) => text !== undefined);
  return new Map(given.map(([key, text, flag]) => [key, { text: text ?? '', flag }]));
}

const MIB = 1_048_576;

interface UpRequest {
  readonly record: ClusterRecord;
  /** What was asked for and does not change any more: told, not done. */
  readonly notes: readonly string[];
  /** Nodes that are added to those that have divided it may together offer more than it has. */
  readonly machine: Resources | null;
  readonly once?: ReturnType<typeof onceOptions>;
}

interface Means {
  readonly config: Config;
  readonly machine: Resources;
}

/** One node has all of the machine; several have equal parts, and gpus left over lie idle. */
function sizeOfEach(nodeCount: number, { config, machine }: Means): Resources {
  const { cpuCount, memoryBytes, gpuCount } = machine;
  const part = Math.floor(memoryBytes / nodeCount / MIB) * MIB;
  return {
    cpuCount: config.optionalNumber('up.cpus') ?? Math.max(1, Math.floor(cpuCount / nodeCount)),
    memoryBytes: config.optionalNumber('up.memory') ?? part,
    gpuCount: config.optionalNumber('up.gpus') ?? Math.floor(gpuCount / nodeCount),
    counted: {},
  };
}

/** What was made before stays; flags add nodes. */
function wishes(before: ClusterRecord | null, means: Means, options: Options): UpRequest {
  const { config } = means;
  const listen = config.address('head.listen');
  const nodeCount = config.number('up.nodes');
  const whole = sizeOfEach(nodeCount, means);
  // The nodes that are there keep the machine's gpus: one that is added has those that are asked
  // for.
  const isFirst = before === null || config.optionalNumber('up.gpus') !== null;
  const perNode = isFirst ? whole : { ...whole, gpuCount: 0 };
  if (before === null) {
    return {
      record: { listen, nodeCount, perNode },
      notes: overcommitted(nodeCount, means),
      machine: null,
    };
  }
  const asked = options.nodes === undefined ? before.nodeCount : nodeCount;
  const notes: string[] = [];
  if (asked < before.nodeCount) notes.push(`the cluster keeps its ${before.nodeCount} nodes`);
  const isResized = [options.cpus, options.memory, options.gpus].some((text) => text !== undefined);
  if (isResized || asked > before.nodeCount) {
    notes.push(
      'existing nodes keep their cpus, memory and gpus; `weft down --clean` starts afresh',
    );
  }
  const kept = config.isGiven('head.listen') ? listen : before.listen;
  const added = options.nodes === undefined ? before.perNode : perNode;
  const record = { listen: kept, nodeCount: Math.max(asked, before.nodeCount), perNode: added };
  const machine = asked > before.nodeCount && !isSized(config) ? means.machine : null;
  return { record, notes, machine };
}

/** A node has at least one cpu: more nodes than cpus offer more than there is, worth knowing. */
function overcommitted(nodeCount: number, { config, machine: { cpuCount } }: Means): string[] {
  if (nodeCount <= cpuCount || config.optionalNumber('up.cpus') !== null) return [];
  const has = plural(cpuCount, 'cpu');
  return [
    `${nodeCount} nodes divide the ${has} of this machine: each offers 1, and tasks share them`,
  ];
}

function isSized(config: Config): boolean {
  return ['up.cpus', 'up.memory'].some((key) => config.optionalNumber(key) !== null);
}

/** `the 4 nodes offer 5 cpus and 41G memory together; this machine has 2 cpus and 24G, …`. */
function surplusWords(nodes: readonly NodeView[], machine: Resources): string[] {
  const sum = (of: (total: Resources) => number): number =>
    nodes.reduce((all, { total }) => all + of(total), 0);
  const cpuCount = sum((total) => total.cpuCount);
  const memoryBytes = sum((total) => total.memoryBytes);
  if (cpuCount <= machine.cpuCount && memoryBytes <= machine.memoryBytes) return [];
  const offer = `${plural(cpuCount, 'cpu')} and ${formatSize(memoryBytes)} memory`;
  const has = `${plural(machine.cpuCount, 'cpu')} and ${formatSize(machine.memoryBytes)}`;
  return [
    `the ${nodes.length} nodes offer ${offer} together; this machine has ${has}, which tasks share`,
  ];
}

async function bringUp(
  context: Context,
  cluster: LocalCluster,
  { record, notes, machine, once = {} }: UpRequest,
): Promise<number> {
  const directory = cluster.paths.directory;
  for (const name of cluster.nodeNames(record.nodeCount)) {
    refuseLongDirectory(cluster.paths.node(name), directory);
  }
  const api = cluster.connect();
  try {
    const isKnown = cluster.record !== null;
    const head = await bringUpHead(cluster, api, { record, once });
    if (isKnown) for (const note of portNotes(record.listen, head)) context.note(note);
    const now = { ...record, listen: head.listen };
    const names = cluster.nodeNames(now.nodeCount);
    const started = await cluster.startNodes(api, names, now.perNode);
    const nodes = await cluster.untilConnected(api, names);
    await undrain(api, nodes);
    const surplus = machine === null ? [] : surplusWords(nodes, machine);
    const left = isKnown ? [] : leftWords(nodes, now.nodeCount);
    for (const note of [...notes, ...surplus, ...left]) context.note(note);
    describe(context, { head, started, nodes, cluster });
    return 0;
  } finally {
    api.close();
  }
}

/** A head that was put back brings its nodes; how many were of this machine nobody says. */
function leftWords(nodes: readonly NodeView[], count: number): string[] {
  const numbers = nodes.flatMap(({ name, state }) => {
    const number = /^n([1-9]\d*)$/.exec(name)?.[1];
    return number === undefined || state === 'up' ? [] : [Number(number)];
  });
  const left = numbers.filter((number) => number > count);
  if (left.length === 0) return [];
  const names = left.map((number) => `n${number}`);
  const are = left.length === 1 ? 'is' : 'are';
  const them = left.length === 1 ? 'it' : 'them';
  const known = `${names.join(', ')} ${are} known to the head and not started`;
  return [`${known}: \`weft up --nodes ${Math.max(...left)}\` starts ${them} on this machine`];
}

/** The wanted address is kept first: who is killed in between leaves it to the next `weft up`. */
async function bringUpHead(
  cluster: LocalCluster,
  api: Api,
  { record, once }: Required<Pick<UpRequest, 'record' | 'once'>>,
) {
  const { started, listen: wanted } = await cluster.startHead(record.listen, once);
  const keep = (listen: ClusterRecord['listen']) =>
    writeJson(cluster.paths.cluster, { ...record, listen });
  keep(wanted);
  await cluster.untilReady(api);
  if (wanted === null || !cluster.isUnsettled) return { started, listen: wanted };
  const listen = await cluster.settleAddress(api, wanted);
  keep(listen);
  return { started, listen };
}

/** Tokens and scripts name the port of before: another one, or one that stays, is said. */
function portNotes(
  wished: ClusterRecord['listen'],
  head: { readonly started: boolean; readonly listen: ClusterRecord['listen'] },
): string[] {
  const [asked, actual] = [wished, head.listen].map(addressWords);
  if (asked === actual || wished?.port === 0) return [];
  if (!head.started) {
    return [`the head runs and listens on ${actual}; \`weft down\` and \`weft up\` change that`];
  }
  return [`port ${wished?.port} is taken; the head listens on ${actual}`];
}

function addressWords(address: ClusterRecord['listen']): string {
  return address === null ? 'no port' : formatAddress(address);
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
  else if (!head.started) context.print(`The head was running; started ${started.join(', ')}.`);
  else context.print('The cluster is running.');
  if (nodes.length > 0) context.print(`  ${sizeWords(nodes)}`);
  if (head.listen !== null) context.print(`  head on https://${formatAddress(head.listen)}`);
  context.print(`  state in ${cluster.paths.directory}`);
}

/** Existing nodes keep their size, so that they may differ. */
function sizeWords(nodes: readonly NodeView[]): string {
  const sizes = nodes.map(({ total }) => {
    const cpus = plural(total.cpuCount, 'cpu');
    const memory = `${formatSize(total.memoryBytes)} memory`;
    if (total.gpuCount === 0) return `${cpus} and ${memory}`;
    return `${cpus}, ${memory} and ${plural(total.gpuCount, 'gpu')}`;
  });
  const [first = ''] = sizes;
  if (nodes.length === 1) return `1 node with ${first}`;
  if (sizes.every((size) => size === first)) return `${nodes.length} nodes, each with ${first}`;
  return `${nodes.length} nodes: ${nodes.map(({ name }, at) => `${name} with ${sizes[at]}`).join(', ')}`;
}
