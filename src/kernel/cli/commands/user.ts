// `weft user …`: who may do what.

import type { UsageView, UserView } from '../../api/users.ts';
import { formatDuration } from '../../base/duration.ts';
import { didYouMean } from '../../base/nearest-word.ts';
import { formatSize, parseSize } from '../../base/size.ts';
import { ROLES, type Role } from '../../model/actor.ts';
import {
  CAP_KINDS,
  type CapKind,
  type CapsChange,
  describeCaps,
  mayGet,
  NO_CAPS,
  typedKind,
  typeOfKind,
} from '../../model/caps.ts';
import { Failure, usage } from '../../model/failure.ts';
import { parseGpuType } from '../../model/gpu-wish.ts';
import { CAP_MAX } from '../../model/limits.ts';
import type { Context } from '../context.ts';
import { forEach } from '../jobs/each.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import type { Column } from '../output/table.ts';
import { formatSpan } from '../output/words.ts';
import { defineVerb, type Verb, type VerbGroup } from '../verb.ts';

const COLUMNS: Column<UserView>[] = [
  { title: 'USER', value: (user) => user.name },
  { title: 'ROLE', value: ({ role, hasRole }) => (hasRole === false ? '-' : role) },
  { title: 'GROUPS', value: (user) => user.groups.join(',') || '-' },
  { title: 'TOKENS', value: (user) => String(user.tokenCount), align: 'right' },
  {
    title: 'FILES',
    value: ({ filesBytes }) => (filesBytes === undefined ? '-' : formatSize(filesBytes)),
    raw: ({ filesBytes }) => filesBytes ?? null,
    align: 'right',
  },
  {
    title: 'AT MOST',
    value: ({ filesBytesMax }) => (filesBytesMax == null ? '-' : formatSize(filesBytesMax)),
    raw: ({ filesBytesMax }) => filesBytesMax ?? null,
    align: 'right',
  },
  {
    title: 'CAPS',
    value: ({ caps }) => describeCaps(caps ?? NO_CAPS) || '-',
    raw: ({ caps }) => describeCaps(caps ?? NO_CAPS) || null,
  },
  { title: 'ACTIVE JOBS', value: (user) => String(user.activeJobs), align: 'right' },
];

const list = defineVerb<ListingOptions>({
  define: defineListing,
  async run({ context, options }) {
    const { users } = await (await context.api()).call('listUsers');
    const name = (user: UserView) => user.name;
    const empty =
      'Nobody has a role of their own: local users submit jobs, the head’s own user is admin.';
    await context.list({ rows: users, columns: COLUMNS, name, empty }, options.output);
    return 0;
  },
});

const USAGE_COLUMNS: Column<UsageView>[] = [
  { title: 'USER', value: (row) => row.user },
  {
    title: 'USAGE',
    value: (row) => formatSpan(row.usageSeconds * 1000),
    raw: (row) => row.usageSeconds,
    align: 'right',
  },
  {
    title: 'SHARE',
    value: (row) => `${(row.share * 100).toFixed(1)}%`,
    raw: (row) => row.share,
    align: 'right',
  },
  {
    title: 'FACTOR',
    value: (row) => row.factor.toFixed(3),
    raw: (row) => row.factor,
    align: 'right',
  },
];

const used = defineVerb<ListingOptions>({
  define: defineListing,
  async run({ context, options }) {
    const { users, halfLifeMs } = await (await context.api()).call('listUsage');
    const name = ({ user }: UsageView) => user;
    const empty = `No user has any usage left; the half-life is ${formatDuration(halfLifeMs)}.`;
    await context.list({ rows: users, columns: USAGE_COLUMNS, name, empty }, options.output);
    return 0;
  },
});

/** Creating and changing differ in what they refuse, not in what they do. */
function set(route: 'createUser' | 'modifyUser', said: string): Verb {
  return defineVerb<SetOptions>({
    define(command) {
      command.argument('<name>', 'login name');
      const usual = route === 'createUser' ? ' (default: user)' : '';
      command.option('--role <role>', `one of ${ROLES.join(', ')}${usual}`);
      const more = "beside those of the head's machine; '' for none";
      command.option('--groups <names>', `groups for partitions and QoS, ${more}`);
      const files = "limit of files on the head, such as 20G; 'default': the limit of all users";
      command.option('--files <size>', files);
    },
    async run({ context, args: [name = ''], options }) {
      const body = readUser(options);
      if (route === 'modifyUser' && Object.keys(body).length === 0) {
        throw usage('there is nothing to change; give --role, --groups or --files');
      }
      const api = await context.api();
      const { notice } = await api.call(route, { params: { name }, body });
      context.print(`User ${name} ${said} ${userWords(body)}.`);
      if (notice !== null) context.note(notice);
      return 0;
    },
  });
}

/** Caps in one line, also of somebody who has no role yet. */
const caps = defineVerb<CapOptions>({
  define(command) {
    command.argument('<name>', 'login name');
    const more = "a number, 'none' for any number, 'default': as others (`caps` in weft.yaml)";
    command.option('--cpus <count>', `cpus at once, in the whole cluster: ${more}`);
    command.option(
      '--gpus <count>',
      'gpus at once; of types: h100:2,a100:none; default: of types, too',
    );
    command.option('--running <count>', 'running tasks at once');
  },
  async run({ context, args: [name = ''], options }) {
    const change = readCaps(options);
    if (Object.keys(change).length === 0) {
      throw usage('there is nothing to set; give --cpus, --gpus or --running', 'As --cpus 16.');
    }
    const api = await context.api();
    const call = { params: { name }, body: { caps: change } };
    const { notice } = await api.call('modifyUser', call).catch((error: unknown) => {
      if (error instanceof Failure && error.code === 'user.not_found') {
        return api.call('createUser', call);
      }
      throw error;
    });
    const { users } = await api.call('listUsers');
    const words = describeCaps(users.find((user) => user.name === name)?.caps ?? NO_CAPS);
    context.print(`User ${name} may hold at once: ${words || 'as much as others'}.`);
    await noteUnmet(context, change);
    if (notice !== null) context.note(notice);
    return 0;
  },
});

/** A type may be misspelt, or its nodes may come later: such a cap holds once one has it. */
async function noteUnmet(context: Context, change: CapsChange): Promise<void> {
  const asked = Object.keys(change).flatMap((kind) => typeOfKind(kind) ?? []);
  if (asked.length === 0) return;
  const { nodes } = await (await context.api()).call('listNodes');
  const there = new Set(nodes.flatMap(({ gpus }) => gpus?.cards.map(({ type }) => type) ?? []));
  const unmet = asked.filter((type) => ![...there].some((one) => mayGet([one], type)));
  if (unmet.length === 0) return;
  const known = there.size === 0 ? 'no node tells of types' : `nodes have ${[...there].join(', ')}`;
  context.note(`no node has gpus of the type ${unmet.join(' or ')}: ${known}`);
}

const remove = defineVerb({
  define: (command) => void command.argument('<name...>', 'login names'),
  async run({ context, args }) {
    const api = await context.api();
    return forEach(context, args, async (name) => {
      await api.call('removeUser', { params: { name } });
      context.print(`User ${name} is removed, with role and tokens.`);
    });
  },
});

const whoami = defineVerb<ListingOptions>({
  define: defineListing,
  async run({ context, options }) {
    const who = await (await context.api()).call('whoami');
    if (options.output === 'json') context.print(JSON.stringify(who, null, 2));
    else context.print(`${who.name} (${who.role ?? who.kind})`);
    return 0;
  },
});

export const verb: VerbGroup = {
  verbs: {
    list: { summary: 'list users with a role', verb: list },
    create: { summary: 'give a user a role', verb: set('createUser', 'is') },
    modify: {
      summary: "change a user's role, groups or room for files",
      verb: set('modifyUser', 'is now'),
    },
    set: { summary: 'limit what a user holds at once: cpus, gpus, running tasks', verb: caps },
    remove: { summary: 'remove users, with role and tokens', verb: remove },
    usage: { summary: 'what users have used lately, and their fair share', verb: used },
    whoami: { summary: 'show who you are for the head', verb: whoami },
  },
};

interface SetOptions {
  readonly role?: string;
  readonly groups?: string;
  readonly files?: string;
}

function readUser({ role, groups, files }: SetOptions) {
  const names = groups?.split(',').map((name) => name.trim());
  return {
    ...(role === undefined ? {} : { role: readRole(role) }),
    ...(names === undefined ? {} : { groups: names.filter((name) => name !== '') }),
    ...(files === undefined ? {} : { filesBytesMax: readFiles(files) }),
  };
}

type OptionName = (typeof CAP_KINDS)[number];
type CapOptions = { readonly [kind in OptionName]?: string };

function readCaps(options: CapOptions): CapsChange {
  const change: { [kind in CapKind]?: CapsChange[kind] } = {};
  for (const name of CAP_KINDS) {
    for (const part of options[name]?.split(',') ?? []) {
      const [, type, text = ''] = /^(?:([^:]*):)?([^:]*)$/.exec(part.trim()) ?? [];
      const kind = kindOf(name, type);
      if (Object.hasOwn(change, kind)) throw usage(`--${name}: two caps of ${type ?? name}`);
      change[kind] = readCap(name, text);
    }
  }
  return change;
}

function kindOf(name: OptionName, type: string | undefined): CapKind {
  if (type === undefined) return name;
  const read = parseGpuType(type);
  if (name === 'gpus' && read.ok) return typedKind(read.value);
  const words = read.ok ? `there are no types of ${name}` : read.error;
  throw usage(`--${name}: ${words}`, 'As --gpus 4,h100:2.');
}

function readCap(kind: OptionName, text: string): number | 'none' | 'default' {
  if (text === 'none' || text === 'default') return text;
  if (/^\d{1,8}$/.test(text) && Number(text) <= CAP_MAX) return Number(text);
  throw usage(
    `--${kind}: expected a number, 'none' or 'default', not '${text}'`,
    `As --${kind} 16.`,
  );
}

/** Null: as others. */
function readFiles(text: string): number | null {
  if (text === 'default') return null;
  const size = parseSize(text);
  if (size.ok) return size.value;
  throw usage(`--files: ${size.error}`, "Write a size, as 20G, or 'default'.");
}

function userWords({ role, groups, filesBytesMax: files }: ReturnType<typeof readUser>): string {
  const words: string[] = [];
  const isOther = groups !== undefined || files !== undefined;
  if (role !== undefined || !isOther) words.push(role ?? 'user');
  if (groups !== undefined) words.push(`in the groups ${groups.join(', ') || '(none)'}`);
  if (files === null) words.push('with as much room for files as others');
  else if (files !== undefined) words.push(`with room for ${formatSize(files)} of files`);
  return words.join(', ');
}

/** One of the three roles. */
export function readRole(text: string): Role {
  const role = ROLES.find((known) => known === text);
  if (role !== undefined) return role;
  throw usage(`--role: '${text}' is not a role.${didYouMean(text, ROLES)}`, ROLES.join(', '));
}
