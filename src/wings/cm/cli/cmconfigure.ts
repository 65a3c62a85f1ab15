// `cmconfigure ENTITY ACTION …`: users and nodes with the seed's words, and really carried out.

import { headNow } from '../../../kernel/api/head-time.ts';
import type { NodeView } from '../../../kernel/api/nodes.ts';
import type { UserView } from '../../../kernel/api/users.ts';
import { didYouMean } from '../../../kernel/base/nearest-word.ts';
import { formatNode } from '../../../kernel/cli/commands/node.ts';
import { readRole } from '../../../kernel/cli/commands/user.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { nodeColumns } from '../../../kernel/cli/nodes/columns.ts';
import { formatTable } from '../../../kernel/cli/output/table.ts';
import { dropUndefined } from '../../../kernel/cli/submit/read.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import { failure, usage } from '../../../kernel/model/failure.ts';
import { MEGABYTE, seedNumber } from './numbers.ts';

export const summary = 'Create, change, show and remove users and nodes.';

interface Options {
  readonly role?: string;
  readonly numCpus?: string;
  readonly memory?: string;
  readonly numGpus?: string;
  readonly label?: string[];
}

export const verb = defineVerb<Options>({
  define(command) {
    command.argument('<entity>', 'user or node');
    command.argument('<action>', 'create, remove, modify or show');
    command.argument('[names...]', 'of users or nodes; show takes none for all');
    command.option('--role <role>', 'of a user: user, operator or admin');
    command.option('--num-cpus <count>', 'of a node (new: by default what its agent finds)');
    command.option('--memory <megabytes>', 'of a node');
    command.option('--num-gpus <count>', 'of a node');
    command.option('--label <labels...>', 'of a node; a modified one gets these as well');
  },
  async run({ context, args: [entity = '', action = '', ...names], options }) {
    const actions = ACTIONS[entity];
    if (actions === undefined) {
      throw usage(`unknown entity '${entity}'.${didYouMean(entity, Object.keys(ACTIONS))}`);
    }
    const act = actions[action];
    if (act === undefined) {
      const hint = `${entity}: ${Object.keys(actions).join(', ')}`;
      throw usage(`unknown action '${action}'.${didYouMean(action, Object.keys(actions))}`, hint);
    }
    if (names.length === 0 && action !== 'show')
      throw usage(`${entity} ${action}: no ${entity} is named`);
    if (names.length === 0) await act(context, null, options);
    for (const name of names) await act(context, name, options);
    return 0;
  },
});

type Action = (context: Context, name: string | null, options: Options) => Promise<void>;

const ACTIONS: Readonly<Record<string, Readonly<Record<string, Action>>>> = {
  user: {
    create: (context, name, options) => setUser(context, 'createUser', { name, options }),
    modify: (context, name, options) => setUser(context, 'modifyUser', { name, options }),
    remove: async (context, name) => {
      await (await context.api()).call('removeUser', { params: { name: name ?? '' } });
      context.print(`User ${name} removed.`);
    },
    show: showUsers,
  },
  node: {
    create: createNode,
    remove: async (context, name) => {
      await (await context.api()).call('removeNode', { params: { name: name ?? '' } });
      context.print(`Node ${name} removed.`);
    },
    modify: modifyNode,
    show: showNodes,
  },
};

async function setUser(
  context: Context,
  route: 'createUser' | 'modifyUser',
  { name, options }: { name: string | null; options: Options },
): Promise<void> {
  if (route === 'modifyUser' && options.role === undefined) {
    throw usage('user modify: nothing to change; give --role');
  }
  const role = readRole(options.role ?? 'user');
  const api = await context.api();
  const { notice } = await api.call(route, { params: { name: name ?? '' }, body: { role } });
  context.print(`User ${name} ${route === 'createUser' ? 'created' : 'modified'}: ${role}.`);
  if (notice !== null) context.note(notice);
}

async function showUsers(context: Context, name: string | null): Promise<void> {
  const { users } = await (await context.api()).call('listUsers');
  const shown = name === null ? users : users.filter((user) => user.name === name);
  if (name !== null && shown.length === 0) throw failure(refuse('user.not_found', { user: name }));
  if (shown.length === 0) {
    context.print('No users with a role of their own.');
    return;
  }
  const columns = [
    { title: 'User', value: (user: UserView) => user.name },
    { title: 'Role', value: (user: UserView) => user.role },
    { title: 'Jobs', value: (user: UserView) => String(user.activeJobs) },
  ];
  for (const line of formatTable(columns, shown, 'main', context.look)) context.print(line);
}

async function createNode(context: Context, name: string | null, options: Options): Promise<void> {
  const cpuCount = seedNumber('--num-cpus', options.numCpus, 1);
  const memory = seedNumber('--memory', options.memory, 1);
  if ((cpuCount === undefined) !== (memory === undefined)) {
    throw usage('node create: give both --num-cpus and --memory, or none to use what is found');
  }
  const declared = { cpuCount: cpuCount ?? 0, memoryBytes: (memory ?? 0) * MEGABYTE };
  const gpuCount = seedNumber('--num-gpus', options.numGpus);
  if (gpuCount !== undefined && cpuCount === undefined) {
    throw usage('node create: --num-gpus needs --num-cpus and --memory');
  }
  const resources =
    cpuCount === undefined ? null : { ...declared, gpuCount: gpuCount ?? 0, counted: {} };
  const body = { name: name ?? '', resources, labels: options.label ?? [] };
  const { secret } = await (await context.api()).call('createNode', { body });
  context.print(`Node ${name} created. Its secret, shown this once: ${secret}`);
}

/** What its agent finds does not count any more: what is declared does. */
async function modifyNode(context: Context, name: string | null, options: Options): Promise<void> {
  const params = { name: name ?? '' };
  const memory = seedNumber('--memory', options.memory, 1);
  const size = dropUndefined({
    cpuCount: seedNumber('--num-cpus', options.numCpus, 1),
    memoryBytes: memory === undefined ? undefined : memory * MEGABYTE,
    gpuCount: seedNumber('--num-gpus', options.numGpus),
  });
  const add = options.label ?? [];
  if (Object.keys(size).length === 0 && add.length === 0) {
    throw usage('node modify: give --num-cpus, --memory, --num-gpus or --label');
  }
  const api = await context.api();
  if (Object.keys(size).length > 0) await api.call('modifyNode', { params, body: size });
  if (add.length > 0) await api.call('labelNode', { params, body: { add } });
  context.print(`Node ${name} modified.`);
}

async function showNodes(context: Context, name: string | null): Promise<void> {
  const api = await context.api();
  if (name !== null) {
    const node: NodeView = await api.call('getNode', { params: { name } });
    for (const line of formatNode(node, undefined, context.paint)) context.print(line);
    return;
  }
  const { nodes } = await api.call('listNodes');
  for (const line of formatTable(nodeColumns(headNow()), nodes, 'main', context.look))
    context.print(line);
}
