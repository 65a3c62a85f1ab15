// Partitions, nodes and reservations as `scontrol show` writes them.

import type { InfoReply } from '../../../kernel/api/cluster.ts';
import { gpusInUse } from '../../../kernel/api/gpus-in-use.ts';
import type { NodeView } from '../../../kernel/api/nodes.ts';
import type { PartitionView } from '../../../kernel/api/partitions.ts';
import type { ReservationView } from '../../../kernel/api/reservations.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { compressHosts } from '../core/hostlist.ts';
import { formatLong } from '../core/times.ts';
import { accountOf } from './accounts.ts';
import { instant } from './instants.ts';
import { groupsOf, slurmNodeStateOf } from './sinfo.ts';
import { RELEASE } from './speaking.ts';

const STATES: Readonly<Record<string, string>> = {
  idle: 'IDLE',
  mix: 'MIXED',
  alloc: 'ALLOCATED',
  drain: 'IDLE+DRAIN',
  drng: 'MIXED+DRAIN',
  'down*': 'DOWN*',
};

const mebibytes = (bytes: number): number => Math.floor(bytes / 1_048_576);
const limit = (ms: number | null, none: string): string => (ms === null ? none : formatLong(ms));

/** `ada(1001)`; the name alone where this machine has no such user. */
export function userWords(name: string): string {
  const account = accountOf(name);
  return account === null ? name : `${name}(${account.uid})`;
}

/** The first group of a user in the same way. */
export function groupWords(name: string): string {
  const account = accountOf(name);
  return account === null ? '(null)' : `${account.group}(${account.gid})`;
}

/** `cpu=8,mem=4000M,node=2`, and what is not none of the rest. */
function tres({ cpuCount, memoryBytes, gpuCount }: NodeView['total'], nodes?: number): string {
  const node = nodes === undefined ? '' : `,node=${nodes}`;
  const gpus = gpuCount === 0 ? '' : `,gres/gpu=${gpuCount}`;
  return cpuCount + memoryBytes === 0
    ? ''
    : `cpu=${cpuCount},mem=${mebibytes(memoryBytes)}M${node}${gpus}`;
}

/** What tasks have of a node. */
function usedOf(node: NodeView): NodeView['total'] {
  const { total, free } = node;
  return {
    ...total,
    cpuCount: total.cpuCount - free.cpuCount,
    memoryBytes: total.memoryBytes - free.memoryBytes,
    gpuCount: gpusInUse(node),
  };
}

export function partitionWords(
  one: PartitionView,
  all: readonly NodeView[],
  usual: string | undefined,
): string {
  const own = all.filter(({ name }) => one.nodes.includes(name)).map(({ total }) => total);
  const sum = (of: 'cpuCount' | 'memoryBytes' | 'gpuCount') =>
    own.reduce((whole, total) => whole + total[of], 0);
  const total = { cpuCount: sum('cpuCount'), memoryBytes: sum('memoryBytes') };
  const memory = one.limits.memoryPerNodeBytes;
  return [
    `PartitionName=${one.name}`,
    `AllowGroups=${groupsOf(one) ?? 'ALL'} AllowAccounts=ALL AllowQos=ALL${usersOf(one)}`,
    `AllocNodes=ALL Default=${one.name === usual ? 'YES' : 'NO'} QoS=N/A`,
    `DefaultTime=${limit(one.limits.walltimeDefaultMs, 'NONE')} DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO`,
    `MaxNodes=${one.limits.nodesPerTask ?? 'UNLIMITED'} MaxTime=${limit(one.limits.walltimeMs, 'UNLIMITED')} MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED`,
    `Nodes=${compressHosts(one.nodes) || '(null)'}`,
    `PriorityJobFactor=1 PriorityTier=${one.tier} RootOnly=NO ReqResv=NO OverSubscribe=NO`,
    `OverTimeLimit=NONE PreemptMode=${one.preempt.toUpperCase()}`,
    `State=${one.state.toUpperCase()} TotalCPUs=${total.cpuCount} TotalNodes=${one.nodes.length} SelectTypeParameters=NONE`,
    `JobDefaults=(null)`,
    `DefMemPerNode=UNLIMITED MaxMemPerNode=${memory === null ? 'UNLIMITED' : mebibytes(memory)}`,
    `TRES=${tres({ ...own[0], ...total, gpuCount: sum('gpuCount') } as NodeView['total'], own.length) || '(null)'}`,
  ].join('\n   ');
}

const usersOf = ({ users }: PartitionView): string =>
  users === null ? '' : ` AllowUsers=${users.join(',') || '(null)'}`;

/** `partitions`: those that it is in. */
export function nodeWords(node: NodeView, partitions: readonly string[]): string {
  const { name, total, free, labels, reason, drained, load, facts } = node;
  const why =
    drained === null ? reason : `${drained.reason} [${drained.by}@${instant(drained.at)}]`;
  const features = labels.join(',') || '(null)';
  const used = usedOf(node);
  const load1 = load?.load1.toFixed(2) ?? 'N/A';
  return [
    `NodeName=${name} Arch=${ARCHITECTURES[String(facts?.['arch'])] ?? 'x86_64'} CoresPerSocket=1`,
    `CPUAlloc=${used.cpuCount} CPUEfctv=${total.cpuCount} CPUTot=${total.cpuCount} CPULoad=${load1}`,
    `AvailableFeatures=${features}`,
    `ActiveFeatures=${features}`,
    `Gres=${total.gpuCount === 0 ? '(null)' : `gpu:${total.gpuCount}`}`,
    `NodeAddr=${name} NodeHostName=${name} Version=${RELEASE.split(' ')[1]}`,
    `OS=Linux`,
    `RealMemory=${mebibytes(total.memoryBytes)} AllocMem=${mebibytes(used.memoryBytes)} FreeMem=${mebibytes(load?.memoryFreeBytes ?? free.memoryBytes)} Sockets=${total.cpuCount} Boards=1`,
    `State=${STATES[slurmNodeStateOf(node)] ?? 'UNKNOWN'} ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A`,
    `Partitions=${partitions.join(',')}`,
    `CfgTRES=${tres(total)}`,
    `AllocTRES=${tres(used)}`,
    ...(reason === null ? [] : [`Reason=${why}`]),
  ].join('\n   ');
}

/** Words of uname(1) for those that Node.js has other names for. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' };

/** Slurm's word for what repeats; of most schedules it has none. */
function repeatsAs(cron: string): string[] {
  const [, hour = '', day, month, weekday = ''] = cron.trim().split(/\s+/);
  if (!/^\d+$/.test(hour) || day !== '*' || month !== '*') return [];
  if (weekday === '*') return ['DAILY'];
  if (/^(?:1-5|mon-fri)$/i.test(weekday)) return ['WEEKDAY'];
  if (/^(?:[06],[06]|6-7|sat,sun)$/i.test(weekday)) return ['WEEKEND'];
  return /^(?:\d|[a-z]{3})$/i.test(weekday) ? ['WEEKLY'] : [];
}

export function reservationWords(one: ReservationView): string {
  const [slot] = one.slots;
  const nodes = slot?.nodes ?? [];
  const times =
    slot === undefined
      ? 'StartTime=Unknown EndTime=Unknown'
      : `StartTime=${instant(slot.from)} EndTime=${instant(slot.until)}`;
  const flags = [
    ...(one.purpose === 'maintenance' ? ['MAINT'] : []),
    ...(one.recurrence === null ? [] : repeatsAs(one.recurrence.cron)),
  ].join(',');
  return [
    `ReservationName=${one.name} ${times} Duration=${formatLong(one.durationMs)}`,
    `Nodes=${compressHosts(nodes) || '(null)'} NodeCnt=${nodes.length} Flags=${flags}`,
    `Users=${one.users.join(',') || '(null)'} Groups=${one.groups.join(',') || '(null)'} State=${one.state === 'active' ? 'ACTIVE' : 'INACTIVE'}`,
  ].join('\n   ');
}

/** Counted resources of the cluster, or the one of this name. */
export function licenseWords(
  all: NonNullable<InfoReply['resources']>,
  wanted: string | undefined,
): string[] {
  const some = all.filter(({ name }) => wanted === undefined || name === wanted);
  if (some.length === 0 && wanted !== undefined) throw usage(`License ${wanted} not found`);
  if (some.length === 0) return ['No licenses configured in Slurm.'];
  return some.map(({ name, total, used }) => {
    const free = Math.max(0, total - used);
    return `LicenseName=${name}\n    Total=${total} Used=${used} Free=${free} Reserved=0 Remote=no`;
  });
}
