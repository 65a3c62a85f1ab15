// `sacctmgr list`: users, qualities of service and the cluster, as far as they are true here. There
// are no accounts: what belongs to one is empty, and lists of them have no line.

import type { QosView } from '../../../kernel/api/partitions.ts';
import type { UserView } from '../../../kernel/api/users.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { DEFAULT_QOS } from '../../../kernel/model/scheduling.ts';
import type { OptionRow } from '../core/option-table.ts';
import { listOf, readWords, speaking } from './speaking.ts';
import { type Columns, column, printColumns } from './tables.ts';

export const MANAGER_OPTIONS = [
  { long: 'associations', short: 's', words: 'of users with what belongs to them' },
  { long: 'noheader', short: 'n', words: 'without the first lines' },
  { long: 'parsable', short: 'p', words: '| between columns, and behind the last' },
  { long: 'parsable2', short: 'P', words: '| between columns' },
  { long: 'immediate', short: 'i', words: 'nothing is changed anyway' },
  { long: 'readonly', short: 'r', words: 'as it is anyway' },
  { long: 'quiet', short: 'Q', words: 'as it is anyway' },
  { long: 'verbose', short: 'v', words: 'nothing more is said' },
] as const satisfies readonly OptionRow[];

export const summary = 'List users and qualities of service, as sacctmgr of Slurm does.';
export const verb = speaking('sacctmgr', sacctmgr);

interface User {
  readonly name: string;
  readonly role: string;
  readonly cluster: string;
  /** Those that the user may name. */
  readonly qualities: readonly string[];
}

type Kind = 'user' | 'association' | 'qos' | 'cluster' | 'tres' | 'account';
/** By the words of Slurm, each of which may be cut short. */
const KINDS: readonly (readonly [word: string, kind: Kind])[] = [
  ['accounts', 'account'],
  ['associations', 'association'],
  ['clusters', 'cluster'],
  ['qos', 'qos'],
  ['tres', 'tres'],
  ['users', 'user'],
];

async function sacctmgr(context: Context, words: readonly string[]): Promise<number> {
  const { given, operands } = readWords(MANAGER_OPTIONS, words);
  const [command = '', said = '', ...specs] = operands;
  if (!/^(?:list|show)$/i.test(command)) refuseCommand(command);
  const asked = said.toLowerCase();
  const [, kind] = KINDS.find(([word]) => asked !== '' && word.startsWith(asked)) ?? [];
  if (kind === undefined)
    throw usage(
      `Unknown entity: ${said}`,
      'There are user, association, account, qos, cluster and tres.',
    );
  const { format, where, flags } = specsOf(specs);
  const isWith = given.associations !== undefined || flags.has('withassoc');
  await (kind === 'user' || kind === 'association'
    ? listUsers(context, given, { where, format, isWith: isWith || kind === 'association', kind })
    : OTHERS[kind](context, given, { where, format }));
  return 0;
}

function refuseCommand(command: string): never {
  throw usage(
    command === '' ? 'sacctmgr reads no commands here' : `${command}: nothing is changed here`,
    'There are list and show; users are changed by weft user, and the rest stands in weft.yaml.',
  );
}

type Given = ReturnType<typeof readWords<(typeof MANAGER_OPTIONS)[number]['long']>>['given'];

interface Specs {
  readonly format: string | undefined;
  /** Names that are wanted, by what they name. */
  readonly where: ReadonlyMap<string, readonly string[]>;
}

/** `where user=ann,bob format=User%20,QOS withassoc`, and names alone. */
function specsOf(words: readonly string[]): Specs & { readonly flags: ReadonlySet<string> } {
  let format: string | undefined;
  const where = new Map<string, readonly string[]>();
  const flags = new Set<string>();
  for (const word of words) {
    const [key = '', value] = word.split(/=(.*)/s);
    const name = key.toLowerCase();
    if (name === 'where') continue;
    if (value === undefined && /^with/.test(name)) flags.add(name);
    else if (value === undefined)
      where.set('name', [...(where.get('name') ?? []), ...(listOf(key) ?? [])]);
    else if (name.startsWith('form')) format = value;
    else where.set(name === 'qos' ? name : name.replace(/s$/, ''), listOf(value) ?? []);
  }
  return { format, where, flags };
}

/** Conditions that are none here are named: a list that they do not cut would mislead. */
function refuseOthers({ where }: Specs, known: readonly string[]): void {
  const other = [...where.keys()].find((key) => !known.includes(key));
  if (other !== undefined)
    throw usage(`Unknown condition: ${other}`, `There are ${known.join(', ')}.`);
}

const isAmong = ({ where }: Specs, keys: readonly string[], one: string): boolean =>
  keys.every((key) => where.get(key)?.includes(one) ?? true);

const ASSOCIATION: readonly (readonly [name: string, width: number])[] = [
  ...(['Share', 'Fairshare', 'Priority', 'GrpJobs', 'GrpTRES'] as const).map(
    (name) => [name, 9] as const,
  ),
  ...'GrpSubmit GrpSubmitJobs GrpWall GrpTRESMins GrpTRESRunMins GrpJobsAccrue MaxJobs MaxTRES'
    .split(' ')
    .map((name) => [name, 13] as const),
  ...'MaxTRESPerJob MaxTRESPerNode MaxSubmit MaxSubmitJobs MaxWall MaxTRESMins MaxJobsAccrue ID'
    .split(' ')
    .map((name) => [name, 14] as const),
  ...'MaxNodes MaxCPUs MaxCPUMins ParentID ParentName'
    .split(' ')
    .map((name) => [name, 10] as const),
];

const named = <Row>(columns: readonly (readonly [string, Columns<Row>[string]])[]): Columns<Row> =>
  Object.fromEntries(columns);

const defaultOf = ({ qualities }: User): string =>
  qualities.includes(DEFAULT_QOS) ? DEFAULT_QOS : '';

const USERS: Columns<User> = named<User>([
  ['User', column('User', 10, ({ name }) => name)],
  ['DefaultAccount', column('Def Acct', 10, () => '')],
  ['DefaultWCKey', column('Def WCKey', 10, () => '')],
  ['AdminLevel', column('Admin', 9, ({ role }) => ADMIN[role] ?? 'None')],
  ['Coordinators', column('Coord Accounts', 20, () => '')],
  ['Cluster', column('Cluster', 10, ({ cluster }) => cluster)],
  ['Account', column('Account', 10, () => '')],
  ['Partition', column('Partition', 10, () => '')],
  ['QOS', column('QOS', 20, ({ qualities }) => qualities.join(','))],
  ['DefaultQOS', column('Def QOS', 9, defaultOf)],
  ...ASSOCIATION.map(([name, width]) => [name, column<User>(name, width, () => '')] as const),
  // As people write them.
  ['DefAcct', column('Def Acct', 10, () => '')],
  ['DefQOS', column('Def QOS', 9, defaultOf)],
  ['Admin', column('Admin', 9, ({ role }) => ADMIN[role] ?? 'None')],
]);
const ADMIN: Readonly<Record<string, string>> = { operator: 'Operator', admin: 'Administrator' };

async function listUsers(
  context: Context,
  given: Given,
  specs: Specs & { readonly isWith: boolean; readonly kind: 'user' | 'association' },
): Promise<void> {
  refuseOthers(specs, ['user', 'name', 'cluster', 'account', 'partition', 'adminlevel']);
  const api = await context.api();
  const [{ clusterName: cluster }, { qualities }, users] = await Promise.all([
    api.call('info'),
    api.call('listQos'),
    usersKnown(context),
  ]);
  const rows = users
    .map(({ name, role, groups }) => {
      const own = qualities.filter((qos) => mayName(qos, name, groups)).map((qos) => qos.name);
      return { name, role, cluster, qualities: own };
    })
    .filter(({ name }) => isAmong(specs, ['user', 'name'], name))
    .filter(() => isAmong(specs, ['cluster'], cluster))
    .filter(({ role }) => isAmong(specs, ['adminlevel'], ADMIN[role] ?? 'None'))
    .filter(() => isAmong(specs, ['account', 'partition'], ''));
  const usual = specs.kind === 'user' ? USUAL_USER : USUAL_ASSOCIATION;
  const format = specs.format ?? (specs.kind === 'user' && specs.isWith ? USUAL_WITH : usual);
  printColumns(context, given, { format, columns: USERS, rows });
}

const USUAL_USER = 'User,DefAcct,Admin';
const USUAL_WITH = `${USUAL_USER},Cluster,Account,Partition,Share,Priority,MaxJobs,MaxNodes,MaxCPUs,MaxSubmit,MaxWall,MaxCPUMins,QOS,DefQOS`;
const USUAL_ASSOCIATION =
  'Cluster,Account,User,Partition,Share,Priority,GrpJobs,GrpTRES,GrpSubmit,GrpWall,GrpTRESMins,MaxJobs,MaxTRES,MaxTRESPerNode,MaxSubmit,MaxWall,MaxTRESMins,QOS,DefQOS,GrpTRESRunMins';

/** Operators see all that have a role, others themselves. */
async function usersKnown(
  context: Context,
): Promise<readonly Pick<UserView, 'name' | 'role' | 'groups'>[]> {
  const api = await context.api();
  const me = await api.call('whoami');
  const own = { name: me.name, role: me.role ?? 'user', groups: me.groups };
  if (own.role === 'user') return [own];
  const { users } = await api.call('listUsers');
  const others = users.filter(({ name }) => name !== own.name);
  return [own, ...others].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function mayName({ users, groups }: QosView, name: string, own: readonly string[]): boolean {
  if (users === null && groups === null) return true;
  return (users?.includes(name) ?? false) || own.some((one) => groups?.includes(one) ?? false);
}

const perUser = ({ runningCpusPerUser: cpus, gpusPerUser: gpus = {} }: QosView): string =>
  [
    ...(cpus === null ? [] : [`cpu=${cpus}`]),
    ...Object.entries(gpus).map(([key, count]) => `gres/${key.replace('gpus', 'gpu')}=${count}`),
  ].join(',');
const EMPTY_QOS =
  `GraceTime Preempt PreemptExemptTime Flags UsageThres UsageFactor LimitFactor GrpTRES GrpTRESMins GrpTRESRunMins
  GrpJobs GrpJobsAccrue GrpSubmit GrpSubmitJobs GrpWall MaxTRES MaxTRESPerJob MaxTRESPerNode MaxTRESMins MaxWall
  MaxWallDurationPerJob MaxTRESPA MaxTRESPerAccount MaxJobsPA MaxJobsPerAccount MaxSubmitPU MaxSubmitJobsPU
  MaxSubmitJobsPerUser MaxSubmitPA MaxSubmitJobsPA MaxJobsAccruePU MaxJobsAccruePA MinTRES MinPrioThreshold ID Description`.split(
    /\s+/,
  );

const QUALITIES: Columns<QosView> = named<QosView>([
  ['Name', column('Name', 10, ({ name }) => name)],
  ['Priority', column('Priority', 10, ({ priority }) => priority)],
  ['PreemptMode', column('PreemptMode', 11, ({ preempt }) => preempt)],
  ['MaxTRESPU', column('MaxTRESPU', 13, perUser)],
  ['MaxTRESPerUser', column('MaxTRESPU', 13, perUser)],
  ['MaxJobsPU', column('MaxJobsPU', 9, (qos) => qos.runningTasksPerUser ?? '')],
  ['MaxJobsPerUser', column('MaxJobsPU', 9, (qos) => qos.runningTasksPerUser ?? '')],
  ...EMPTY_QOS.map((name) => [name, column<QosView>(name, 10, () => '')] as const),
]);
const USUAL_QOS =
  'Name,Priority,GraceTime,Preempt,PreemptExemptTime,PreemptMode,Flags,UsageThres,UsageFactor,GrpTRES,GrpTRESMins,GrpTRESRunMins,GrpJobs,GrpSubmit,GrpWall,MaxTRES,MaxTRESPerNode,MaxTRESMins,MaxWall,MaxTRESPU,MaxJobsPU,MaxSubmitPU,MaxTRESPA,MaxJobsPA,MaxSubmitPA,MinTRES';

type List = (context: Context, given: Given, specs: Specs) => Promise<void>;

const OTHERS: Readonly<Record<Exclude<Kind, 'user' | 'association'>, List>> = {
  qos: async (context, given, specs) => {
    refuseOthers(specs, ['name', 'qos']);
    const { qualities } = await (await context.api()).call('listQos');
    const rows = qualities.filter(({ name }) => isAmong(specs, ['name', 'qos'], name));
    printColumns(context, given, { format: specs.format ?? USUAL_QOS, columns: QUALITIES, rows });
  },
  cluster: async (context, given, specs) => {
    refuseOthers(specs, ['name', 'cluster']);
    const { clusterName } = await (await context.api()).call('info');
    const rows = [clusterName].filter((one) => isAmong(specs, ['name', 'cluster'], one));
    const empty =
      'ControlHost ControlPort RPC Share GrpJobs GrpTRES GrpSubmit MaxJobs MaxTRES MaxSubmit MaxWall QOS DefQOS Classification ClusterNodes Flags TRES';
    const columns = named<string>([
      ['Cluster', column('Cluster', 10, (name) => name)],
      ...empty.split(' ').map((name) => [name, column<string>(name, 13, () => '')] as const),
    ]);
    const format = specs.format ?? 'Cluster,ControlHost,ControlPort,RPC,QOS,DefQOS';
    printColumns(context, given, { format, columns, rows });
  },
  tres: async (context, given, specs) => {
    refuseOthers(specs, ['type', 'name', 'id']);
    const all = [
      { type: 'cpu', name: '', id: '1' },
      { type: 'mem', name: '', id: '2' },
      { type: 'node', name: '', id: '4' },
      { type: 'gres', name: 'gpu', id: '1001' },
    ];
    const rows = all.filter(
      ({ type, name, id }) =>
        isAmong(specs, ['type'], type) &&
        isAmong(specs, ['name'], name) &&
        isAmong(specs, ['id'], id),
    );
    const columns = named<(typeof all)[number]>([
      ['Type', column('Type', 8, ({ type }) => type)],
      ['Name', column('Name', 15, ({ name }) => name)],
      ['ID', column('ID', 6, ({ id }) => id)],
    ]);
    printColumns(context, given, { format: specs.format ?? 'Type,Name,ID', columns, rows });
  },
  account: async (context, given, { format = 'Account,Descr,Org' }) => {
    const names = ['Account', 'Descr', 'Description', 'Org', 'Organization', 'Coordinators'];
    const columns = named<never>([
      ...names.map((name) => [name, column<never>(name, 20, () => '')] as const),
      ...Object.keys(USERS).map((name) => [name, column<never>(name, 10, () => '')] as const),
    ]);
    printColumns(context, given, { format, columns, rows: [] });
  },
};
