// `weft node …`: what nodes there are, and what operators do with them.

import { headNow } from '../../api/head-time.ts';
import type { NodeView } from '../../api/nodes.ts';
import { usage } from '../../model/failure.ts';
import { parseNodeName } from '../../model/ids.ts';
import { CPUS_PER_NODE_MAX, GPUS_PER_NODE_MAX } from '../../model/limits.ts';
import { parseCount, parseMemory, parseText } from '../../model/submission-values.ts';
import { forEach } from '../jobs/each.ts';
import { nodeColumns } from '../nodes/columns.ts';
import { describeNode } from '../nodes/describe.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import { formatOne } from '../output/one.ts';
import type { Paint } from '../output/paint.ts';
import { dropUndefined, read } from '../submit/read.ts';
import { defineVerb, type Verb, type VerbGroup } from '../verb.ts';
import { verb as reenroll } from './node-reenroll.ts';

const list = defineVerb<ListingOptions>({
  define: defineListing,
  async run({ context, options }) {
    const api = await context.api();
    const { nodes } = await api.call('listNodes');
    const name = (node: NodeView) => node.name;
    const columns = nodeColumns(headNow());
    await context.list({ rows: nodes, columns, name, empty: 'No nodes.' }, options.output);
    return 0;
  },
});

const show = defineVerb<ListingOptions>({
  define(command) {
    command.argument('<node>', 'name of a node');
    defineListing(command);
  },
  async run({ context, args: [name = ''], options }) {
    const api = await context.api();
    const node = await api.call('getNode', { params: { name: readName(name) } });
    for (const line of formatNode(node, options.output, context.paint)) context.print(line);
    return 0;
  },
});

const drain = defineVerb<{ reason?: string }>({
  define(command) {
    command.argument('<node...>', 'names of nodes');
    command.option(
      '-r, --reason <text>',
      'shown to everybody who waits for the node',
      'maintenance',
    );
  },
  async run({ context, args, options }) {
    const api = await context.api();
    const body = { reason: read('--reason', options.reason ?? 'maintenance', parseText) };
    return forEach(context, args.map(readName), async (name) => {
      await api.call('drainNode', { params: { name }, body });
      context.print(`Node ${name} gets no new work; its running tasks go on to their end.`);
    });
  },
});

const label = defineVerb<{ remove?: string[] }>({
  define(command) {
    command.argument('<node>', 'name of a node');
    command.argument('[labels...]', 'labels to add; with a dash at the end (gpu-) to remove');
    command.option('--remove <labels...>', 'labels to remove');
  },
  async run({ context, args: [name = '', ...labels], options }) {
    const remove = labels.filter((text) => text.endsWith('-')).map((text) => text.slice(0, -1));
    const add = labels.filter((text) => !text.endsWith('-'));
    const body = { add, remove: [...remove, ...(options.remove ?? [])] };
    if ([...body.add, ...body.remove].every((label) => label === ''))
      throw usage('there is no label to add or remove');
    const api = await context.api();
    await api.call('labelNode', { params: { name: readName(name) }, body });
    context.print(`Node ${name} is labelled.`);
    return 0;
  },
});

const modify = defineVerb<SizeOptions>({
  define(command) {
    command.argument('<node...>', 'names of nodes');
    command.option('--cpus <count>', 'cpus that it offers, whatever its agent finds');
    command.option('--memory <size>', 'memory that it offers');
    command.option('--gpus <count>', 'gpus that it offers');
  },
  async run({ context, args, options }) {
    const body = readSize(options);
    if (Object.keys(body).length === 0) {
      throw usage('there is nothing to change; give --cpus, --memory or --gpus');
    }
    const api = await context.api();
    return forEach(context, args.map(readName), async (name) => {
      await api.call('modifyNode', { params: { name }, body });
      context.print(`Node ${name} is changed; its running tasks keep their resources.`);
    });
  },
});

/** A verb that does one thing to each of several nodes. */
function each(route: 'undrainNode' | 'declareNodeLost' | 'removeNode', said: string): Verb {
  return defineVerb({
    define: (command) => void command.argument('<node...>', 'names of nodes'),
    async run({ context, args }) {
      const api = await context.api();
      return forEach(context, args.map(readName), async (name) => {
        await api.call(route, { params: { name } });
        context.print(`Node ${name} ${said}`);
      });
    },
  });
}

export const verb: VerbGroup = {
  verbs: {
    list: { summary: 'list nodes', verb: list },
    show: { summary: 'show one node', verb: show },
    drain: { summary: 'give nodes no new work', verb: drain },
    undrain: {
      summary: 'give nodes work again',
      verb: each('undrainNode', 'gets work again.'),
    },
    label: { summary: 'add and remove labels', verb: label },
    modify: { summary: 'declare what nodes offer', verb: modify },
    lost: {
      summary: 'declare that nothing runs on silent nodes any more',
      verb: each('declareNodeLost', 'is lost; its tasks start again elsewhere, or end.'),
    },
    reenroll: {
      summary: 'make this machine a node of its own, where it is a copy of another one',
      verb: reenroll,
    },
    remove: {
      summary: 'remove nodes from the cluster',
      verb: each('removeNode', 'is removed; its secret is no longer valid.'),
    },
  },
};

function readName(text: string): string {
  const name = parseNodeName(text);
  if (!name.ok) throw usage(name.error);
  return name.value;
}

/** One node in full, as `-o` says. */
export function formatNode(
  node: NodeView,
  output: string | undefined,
  paint: Paint,
): readonly string[] {
  return formatOne(node, output, node.name, () => describeNode(node, paint));
}

interface SizeOptions {
  readonly cpus?: string;
  readonly memory?: string;
  readonly gpus?: string;
}

/** Only what was given. */
function readSize({ cpus, memory, gpus }: SizeOptions) {
  return dropUndefined({
    cpuCount: read('--cpus', cpus, (text) => parseCount(text, 0, CPUS_PER_NODE_MAX)),
    memoryBytes: read('--memory', memory, parseMemory),
    gpuCount: read('--gpus', gpus, (text) => parseCount(text, 0, GPUS_PER_NODE_MAX)),
  });
}
