// `scontrol`: what it shows and does to jobs, and to nodes for operators.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { headNow } from '../../../kernel/api/head-time.ts';
import type { JobDetail } from '../../../kernel/api/jobs.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import type { Api } from '../../../kernel/connect/api.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { stdinFile } from '../../../kernel/model/job.ts';
import { ARRAY_TASKS_MAX } from '../../../kernel/model/limits.ts';
import { PARTITION_STATES } from '../../../kernel/model/scheduling.ts';
import type { StepView } from '../../steps/api/step-view.ts';
import { outputName } from '../../steps/cli/output-name.ts';
import { compressHosts, expandHosts, hostsInOrder } from '../core/hostlist.ts';
import { readId, readStep, slurmId } from '../core/ids.ts';
import { SCRIPT } from '../core/mark.ts';
import type { OptionRow } from '../core/option-table.ts';
import { beginOf, niceOf } from '../core/request.ts';
import { endedAs } from '../core/states.ts';
import { formatLong, parseLimit } from '../core/times.ts';
import { stepsBetween } from './account-rows.ts';
import { heldBy, wholeNodes } from './held.ts';
import { instant } from './instants.ts';
import {
  apart,
  askedFeatures,
  endOf,
  type JobRow,
  licensesOf,
  listJobs,
  openDependencies,
  priorityOf,
  reasonOf,
  rowsOf,
} from './job-rows.ts';
import { tres } from './queue-fields.ts';
import { createReservation, deleteReservation } from './reservations.ts';
import {
  groupWords,
  nodeWords,
  partitionWords,
  reservationWords,
  userWords,
} from './scontrol-records.ts';
import {
  clusterOf,
  fieldsOf,
  hostsOf,
  type Line,
  RELEASE,
  readWords,
  runOurs,
  speaking,
} from './speaking.ts';

export const summary = 'Show and change jobs and nodes, as scontrol of Slurm does.';
export const verb = speaking('scontrol', scontrol);

export const CONTROL_OPTIONS = [
  { long: 'oneliner', short: 'o', words: 'a line for each record' },
  { long: 'details', short: 'd', words: 'nothing more is shown' },
  { long: 'all', short: 'a', words: 'as it is anyway' },
  { long: 'hide', words: 'as it is anyway' },
  { long: 'local', words: 'there is one cluster' },
  { long: 'federation', words: 'there is one cluster' },
  { long: 'clusters', short: 'M', value: 'always', words: 'the name of this one, or `all`' },
  { long: 'quiet', short: 'Q', words: 'as it is anyway' },
  { long: 'verbose', short: 'v', words: 'nothing more is said' },
  { long: 'json', value: 'maybe', kind: 'refused', words: 'say squeue or sinfo --json' },
  { long: 'yaml', value: 'maybe', kind: 'refused', words: 'say squeue or sinfo --json' },
] as const satisfies readonly OptionRow[];

/** What is done to jobs, by our commands. */
const ON_JOBS: Readonly<Record<string, Line>> = {
  hold: 'hold',
  uhold: 'hold',
  release: 'release',
  suspend: 'suspend',
  resume: 'resume',
  requeue: 'requeue',
};

async function scontrol(context: Context, words: readonly string[]): Promise<number> {
  const { given, operands } = readWords(CONTROL_OPTIONS, words);
  await clusterOf(context, given.clusters);
  const isOneLine = given.oneliner !== undefined;
  const [command = '', ...rest] = operands;
  const ours = ON_JOBS[command.toLowerCase()];
  if (ours !== undefined) return onJobs(context, ours, rest);
  if (command === 'show') return show(context, rest, isOneLine);
  if (command === 'write') return write(context, rest);
  if (command === 'version') {
    context.print(RELEASE);
    return 0;
  }
  if (command === 'update') return update(context, rest);
  if (command === 'create') return createReservation(context, rest);
  if (command === 'delete') return deleteReservation(context, rest);
  if (command === 'wait_job') return waitJob(context, rest);
  if (command === 'ping') {
    await (await context.api()).call('info');
    context.print('Slurmctld(primary) at weft is UP');
    return 0;
  }
  throw usage(
    `invalid keyword: ${command}`,
    `There are show, update, create, delete, ping, wait_job, ${Object.keys(ON_JOBS).join(', ')}.`,
  );
}

async function onJobs(context: Context, command: Line, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) throw usage(`too few arguments for keyword:${command}`);
  const [, name] = /^(?:job)?name=(.+)$/is.exec(ids[0] ?? '') ?? [];
  const isRequeue = command === 'requeue';
  // A job that puts itself back ends by that, and this with it: its script is to hear that it is
  // done.
  if (isRequeue) process.on('SIGTERM', () => undefined);
  return name === undefined
    ? runOurs(context, [command, '--', ...idList(ids.join(','))])
    : runOurs(context, [command, `--name=${name}`, ...(isRequeue ? ['--yes'] : [])]);
}

/** `42`, `42,43_[1-3]` and `jobid=42`, in our words. */
function idList(text: string): string[] {
  const ids = text.replace(/(^|,)job(?:id)?=/gi, '$1').split(/,(?![^[]*\])/);
  return ids.filter((one) => one !== '').map(ourId);
}

/** Nodes of a job that runs are ready here: nothing is booted. */
async function waitJob(context: Context, [job = '']: readonly string[]): Promise<number> {
  const params = { id: ourId(job).replace(/\[.*/, '') };
  const { state } = await (await context.api()).call('getJob', { params });
  if (state === 'done') throw usage(`Job ${job} no longer running`);
  return runOurs(context, ['wait', '--quiet', '--started', '--', ourId(job)]);
}

function ourId(text: string): string {
  const id = readId(text);
  if (!id.ok) throw usage(id.error);
  return id.value;
}

/** `write batch_script 42 [FILE]`; `-` is standard output. */
async function write(context: Context, [what = '', job, file]: readonly string[]): Promise<number> {
  if (what.toLowerCase() !== 'batch_script' || job === undefined)
    throw usage(
      `invalid entity:${what} for keyword:write`,
      'There is write batch_script JOB [FILE].',
    );
  const id = ourId(job).replace(/\[.*/, '');
  const { program } = await (await context.api()).call('getJob', { params: { id } });
  const text = scriptOf(program);
  if (text === '') throw usage(`job script retrieval failed: job ${id} has none that you may see`);
  if (file === '-') {
    context.out(text);
    return 0;
  }
  const name = file ?? `slurm-${id}.sh`;
  try {
    writeFileSync(path.resolve(context.cwd, name), text);
  } catch (error) {
    throw usage(`${name} cannot be written: ${fileProblem(error)}`);
  }
  context.print(`batch script for job ${id} written to ${name}`);
  return 0;
}

function scriptOf(program: unknown): string {
  const { kind, text, line } = program as { kind?: unknown; text?: unknown; line?: unknown };
  if (kind === 'script' && typeof text === 'string') return text;
  return kind === 'shell' && typeof line === 'string' ? `#!/bin/sh\n${line}\n` : '';
}

const ENTITIES = [
  ...([
    'job',
    'jobid',
    'step',
    'node',
    'partition',
    'reservation',
    'hostname',
    'hostlist',
    'hostlistsorted',
  ] as const),
  ...(['config', 'version'] as const),
];

async function show(
  context: Context,
  [said = '', ...more]: readonly string[],
  isOneLine: boolean,
): Promise<number> {
  // `show job=42` is `show job 42`, and beginnings of the words will do.
  const [what = '', value] = said.split(/=(.*)/s);
  const name = value ?? more[0];
  const asked = what.toLowerCase();
  const entity = ENTITIES.find((one) => asked !== '' && `${one}s`.startsWith(asked));
  const api = await context.api();
  const print = (texts: readonly string[]): number => {
    const oneLine = texts.map((text) => text.replaceAll('\n   ', ' '));
    context.print(isOneLine ? oneLine.join('\n') : texts.join('\n\n'));
    return 0;
  };
  switch (entity) {
    case 'step':
      return print(name === undefined ? await stepsNow(api) : await stepsOf(api, name));
    case 'job':
    case 'jobid': {
      const ids =
        name === undefined
          ? (await listJobs(api, { state: 'active' })).map(({ id }) => String(id))
          : [ourId(name)];
      if (ids.length === 0) return print(['No jobs in the system']);
      const records: string[] = [];
      const withWhole = wholeNodes(api);
      for (const id of ids) records.push(...(await recordsOf(api, id, withWhole)));
      return print(records);
    }
    case 'node': {
      const { partitions } = await api.call('listPartitions');
      const { nodes } = await api.call('listNodes');
      const named = hostsOf(name);
      const missing = named?.find((one) => nodes.every((node) => node.name !== one));
      if (missing !== undefined) throw usage(`Node ${missing} not found`);
      const some = nodes.filter((node) => named?.includes(node.name) ?? true);
      const ofNode = (own: string) => partitions.filter(({ nodes: all }) => all.includes(own));
      return print(
        some.map((node) =>
          nodeWords(
            node,
            ofNode(node.name).map((one) => one.name),
          ),
        ),
      );
    }
    case 'partition': {
      const { partitions } = await api.call('listPartitions');
      const { nodes } = await api.call('listNodes');
      const some = partitions.filter((one) => name === undefined || one.name === name);
      if (some.length === 0) throw usage(`Partition ${name} not found`);
      return print(some.map((one) => partitionWords(one, nodes, partitions[0]?.name)));
    }
    case 'hostname': {
      const list = name ?? context.environment['SLURM_JOB_NODELIST'] ?? '';
      const names = expandHosts(list);
      if (names === null || list === '') throw usage('Invalid hostlist');
      return print([names.join('\n')]);
    }
    case 'hostlist':
    case 'hostlistsorted': {
      const names = expandHosts(name ?? '');
      if (names === null || names.length === 0) throw usage('Invalid hostlist');
      return print([entity === 'hostlist' ? hostsInOrder(names) : compressHosts(names)]);
    }
    case 'reservation': {
      const { reservations } = await api.call('listReservations');
      const some = reservations.filter((one) => name === undefined || one.name === name);
      if (some.length === 0 && name !== undefined) throw usage(`Reservation ${name} not found`);
      return print(
        some.length === 0 ? ['No reservations in the system'] : some.map(reservationWords),
      );
    }
    case 'version':
      return print([RELEASE]);
    case 'config':
      return print([
        [
          `Configuration data as of ${instant(headNow())}`,
          'AccountingStorageType   = accounting_storage/slurmdbd',
          `ClusterName             = ${(await api.call('info')).clusterName}`,
          `MaxArraySize            = ${ARRAY_TASKS_MAX}`,
          'SelectType              = select/cons_tres',
          'SLURM_VERSION           = 22.05.8',
        ].join('\n'),
      ]);
    default:
      throw usage(
        `invalid entity:${what} for keyword:show`,
        'There are job, step, node, partition, reservation, hostnames, hostlist, config.',
      );
  }
}

type WithWhole = ReturnType<typeof wholeNodes>;

/** A record for each task that has begun, and one for those that wait together. */
async function recordsOf(api: Api, id: string, withWhole: WithWhole): Promise<string[]> {
  const [, jobId = id, index] = /^(\d+)\[(\d+)\]$/.exec(id) ?? [];
  const job = await api.call('getJob', { params: { id: jobId } });
  const rows = await withWhole(await rowsOf(api, job));
  if (index !== undefined) {
    const [row] = rows.flatMap(apart).filter((one) => one.index === Number(index));
    if (row === undefined) throw usage(`Invalid job id specified: ${slurmId(id)}`);
    return [jobWords(job, row)];
  }
  const left = rows.filter(({ isOver }) => !isOver);
  const shown = left.length > 0 ? left : rows;
  const [first] = shown;
  if (job.array !== null || first === undefined) return shown.map((row) => jobWords(job, row));
  const { tasks } = await api.call('listTasks', { params: { id: jobId }, query: { limit: 1 } });
  return [jobWords(job, { ...first, starts: tasks[0]?.epoch ?? 0 })];
}

/** Steps that run now: of one's own jobs, or, for operators, of all. */
async function stepsNow(api: Api): Promise<string[]> {
  const texts: string[] = [];
  const jobs = await listJobs(api, { state: 'active' });
  const [first, last] = [jobs.at(0)?.id, jobs.at(-1)?.id];
  if (first !== undefined && last !== undefined)
    for await (const step of stepsBetween(api, first, last))
      if (step.state === 'running') texts.push(stepWords(step));
  return texts.length === 0 ? ['No job steps in the system'] : texts;
}

/** All steps of `42` that are known, or `42.1`. */
async function stepsOf(api: Api, name: string): Promise<string[]> {
  const step = readStep(name);
  const id = step?.replace(/\.\d+$/, '') ?? ourId(name);
  const { steps } = await api.call('listSteps', { params: { id } });
  const some = steps.filter((one) => step === null || step === id || one.id === step);
  if (some.length === 0) throw usage(`job step ${name} not found`);
  return some.map(stepWords);
}

function stepWords(one: StepView): string {
  return [
    `StepId=${slurmId(one.id)} UserId=${one.by} StartTime=${instant(one.startedAt)} TimeLimit=UNLIMITED`,
    `State=${stepState(one)} NodeList=${compressHosts(one.nodes)}`,
    `Nodes=${new Set(one.nodes).size} Tasks=${one.processes} Name=${one.command}`,
  ].join('\n   ');
}

function stepState({ state, exit }: StepView): string {
  if (state === 'running') return 'RUNNING';
  return exit === null || exit.code === 0 ? 'COMPLETED' : 'FAILED';
}

function jobWords(job: JobDetail, row: JobRow): string {
  const { request, walltimeMs } = job;
  const { code, signal } = endedAs(row.isOver ? row.kind : null, row.exit).job;
  const { startedAt, starts = 0 } = row;
  const ranMs = startedAt === null ? 0 : (row.endedAt ?? headNow()) - startedAt;
  const memory = `${Math.floor(request.perNode.memoryBytes / 1_048_576)}M`;
  const ranks = job.ranksPerNode ?? request.processesPerNode;
  const nodes = compressHosts(row.nodes);
  const end = endOf(row);
  const [, indices] = /_\[?([^\]]+)\]?$/.exec(row.id) ?? [];
  const array = indices === undefined ? '' : ` ArrayJobId=${job.id} ArrayTaskId=${indices}`;
  const lines = [
    `JobId=${job.id}${array} JobName=${job.name}`,
    `UserId=${userWords(job.owner)} GroupId=${groupWords(job.owner)} MCS_label=N/A`,
    `Priority=${priorityOf(job)} Nice=${job.nice} Account=(null) QOS=${job.qos}`,
    `JobState=${row.state.long} Reason=${reasonOf(row)} Dependency=${openDependencies(job)}`,
    `Requeue=${job.requeue ? 1 : 0} Restarts=${Math.max(0, starts - 1)} BatchFlag=1 Reboot=0 ExitCode=${code}:${signal}`,
    `RunTime=${formatLong(ranMs)} TimeLimit=${walltimeMs === null ? 'UNLIMITED' : formatLong(walltimeMs)} TimeMin=N/A`,
    `SubmitTime=${instant(job.submittedAt)} EligibleTime=${eligibleOf(job)}`,
    `StartTime=${startWords(job, row)} EndTime=${end === null ? 'Unknown' : instant(end)} Deadline=N/A`,
    `Partition=${job.partition}`,
    `ReqNodeList=${request.nodeNames.length === 0 ? '(null)' : compressHosts(request.nodeNames)} ExcNodeList=(null)`,
    `NodeList=${nodes || '(null)'}${row.nodes[0] === undefined ? '' : `\n   BatchHost=${row.nodes[0]}`}`,
    `NumNodes=${request.nodeCount} NumCPUs=${heldBy(row).cpuCount} NumTasks=${job.ranks ?? request.nodeCount * ranks} CPUs/Task=${Math.max(1, Math.floor(request.perNode.cpuCount / ranks))}`,
    `TRES=${tres(row)}`,
    `MinCPUsNode=${request.perNode.cpuCount} MinMemoryNode=${memory} MinTmpDiskNode=0`,
    `Features=${askedFeatures(request.labels).join('&') || '(null)'}`,
    `OverSubscribe=${request.exclusive ? 'NO' : 'OK'} Contiguous=0 Licenses=${licensesOf(request)} Network=(null)`,
    ...(job.comment == null ? [] : [`Comment=${job.comment}`]),
    `Command=${commandOf(job)}`,
    `WorkDir=${job.directory ?? '(null)'}`,
    `StdErr=${fileOf(job, job.files.stderr, row)}`,
    `StdIn=${stdinFile(job.files) ?? '/dev/null'}`,
    `StdOut=${fileOf(job, job.files.stdout, row)}`,
  ];
  return lines.join('\n   ');
}

/** When it may start; nobody knows of what waits for another. */
function eligibleOf(job: JobDetail): string {
  const isOpen = job.state === 'pending' && openDependencies(job) !== '(null)';
  return isOpen ? 'Unknown' : instant(job.beginAt ?? job.submittedAt);
}

/** A job that is not to begin yet begins then, as far as anybody knows. */
function startWords({ beginAt }: JobDetail, { startedAt, isOver }: JobRow): string {
  if (startedAt !== null) return instant(startedAt);
  return !isOver && beginAt !== null && beginAt > headNow() ? instant(beginAt) : 'Unknown';
}

/** The path of a script that came by sbatch, with its words; one from elsewhere has none. */
function commandOf({ command, environment, program, scriptPath }: JobDetail): string {
  const script = scriptPath ?? environment?.[SCRIPT];
  if (script === undefined) return command;
  if (script === '') return '(null)';
  const { args } = program as { readonly args?: readonly string[] };
  return [script, ...(args ?? [])].join(' ');
}

function fileOf(job: JobDetail, file: string | undefined, { index }: JobRow): string {
  return file === undefined
    ? '(null)'
    : path.resolve(job.directory ?? '/', outputName(job, file, index));
}

/** `update JobId=42 TimeLimit=2:00:00`, `update NodeName=n1 State=DRAIN Reason=disk`. */
async function update(context: Context, words: readonly string[]): Promise<number> {
  // `update job 42 nice=5` is meant, too.
  const [first = '', second = '', ...more] = words;
  const isApart = /^(?:job(?:id)?|node(?:name)?|partition(?:name)?)$/i.test(first);
  const said = fieldsOf(isApart ? [`${first}=${second}`, ...more] : words);
  const job = said.get('jobid') ?? said.get('job');
  const node = said.get('nodename') ?? said.get('node');
  const partition = said.get('partitionname') ?? said.get('partition');
  if (job !== undefined) {
    let code = 0;
    for (const id of idList(job)) code = (await updateJob(context, id, said)) || code;
    return code;
  }
  if (node !== undefined) return updateNode(context, node, said);
  if (partition !== undefined) return updatePartition(context, partition, said);
  throw usage(
    'No valid entity in update command',
    'There are JobId=…, NodeName=… and PartitionName=….',
  );
}

async function updatePartition(
  context: Context,
  name: string,
  said: ReadonlyMap<string, string>,
): Promise<number> {
  const other = [...said.keys()].find((key) => !/^(?:partition(?:name)?|state)$/.test(key));
  const state = PARTITION_STATES.find((one) => one === said.get('state')?.toLowerCase());
  if (other !== undefined || state === undefined)
    throw usage(
      `Update of this parameter is not supported: ${other ?? 'state'}`,
      'There is State=UP, DOWN, DRAIN and INACTIVE; see weft partition set.',
    );
  await (await context.api()).call('changePartition', { params: { name }, body: { state } });
  return 0;
}

const CHANGES: Readonly<Record<string, string>> = {
  timelimit: '--time',
  partition: '--partition',
  nice: '--nice',
  jobname: '--name',
  name: '--name',
  qos: '--qos',
  comment: '--comment',
  starttime: '--begin',
  arraytaskthrottle: '--at-once',
  numnodes: '--nodes',
  gres: '--gpus',
  trespernode: '--gpus',
  mincpusnode: '--cpus',
  minmemorynode: '--memory',
};

/** A value as our options have it. */
function changed(key: string, text: string): string {
  if (key === 'timelimit') return limitWords(text);
  if (key === 'starttime') return beginOf(text);
  if (key === 'nice') return niceOf(text);
  if (key === 'gres' || key === 'trespernode') return gpusOf(text);
  if (key === 'arraytaskthrottle') return text === '0' ? 'none' : text;
  return key === 'minmemorynode' && /^\d+$/.test(text) ? `${text}M` : text;
}

async function updateJob(
  context: Context,
  id: string,
  said: ReadonlyMap<string, string>,
): Promise<number> {
  const move = moveIn(said);
  const moved = move === null ? null : await movedLimit(context, id, move);
  const flags = [...said].flatMap(([key, text]) => {
    if (key === 'jobid' || key === 'job') return [];
    if (moved !== null && /^timelimit[+-]?$/.test(key)) return [`--time=${moved}`];
    if (key === 'priority' && text === '0') return ['--hold'];
    const flag = CHANGES[key];
    if (flag === undefined)
      throw usage(
        `Update of this parameter is not supported: ${key}=${text}`,
        `There are ${Object.keys(CHANGES).join(', ')} and priority=0.`,
      );
    return [`${flag}=${changed(key, text)}`];
  });
  return runOurs(context, ['change', ...flags, '--', id]);
}

/** `+5` of `TimeLimit=+5` and of `TimeLimit+=5`; null: none, or -1, which is no limit at all. */
function moveIn(said: ReadonlyMap<string, string>): string | null {
  const limit = said.get('timelimit') ?? '';
  if (/^[+-]/.test(limit) && limit !== '-1') return limit;
  const sign = ['+', '-'].find((one) => said.has(`timelimit${one}`));
  return sign === undefined ? null : `${sign}${said.get(`timelimit${sign}`)}`;
}

/** The limit of a job with so much more or less than it has: `+5`, `-1:00:00`. */
async function movedLimit(context: Context, id: string, text: string): Promise<string> {
  const limit = parseLimit(text.slice(1));
  if (!limit.ok) throw usage(limit.error);
  const params = { id: id.replace(/\[.*/, '') };
  const { walltimeMs } = await (await context.api()).call('getJob', { params });
  if (limit.value === null || walltimeMs === null)
    throw usage(`Invalid time limit specification: ${text}`, 'It has none to add to.');
  const ms = text.startsWith('+') ? walltimeMs + limit.value : walltimeMs - limit.value;
  return `${Math.round(ms / 1000)}s`;
}

/** `gpu:2`, `gres:gpu:a100:2`; nothing else is of nodes. */
function gpusOf(text: string): string {
  const [, gpus] = /^(?:gres[:/])?gpu[:=]((?:[\w.-]+:)?\d+)$/i.exec(text) ?? [];
  return gpus ?? refuseGres(text);
}

function refuseGres(text: string): never {
  throw usage(`Invalid generic resource (gres) specification: ${text}`);
}

function limitWords(text: string): string {
  const limit = parseLimit(text);
  if (!limit.ok) throw usage(limit.error);
  return limit.value === null ? 'none' : `${Math.round(limit.value / 1000)}s`;
}

async function updateNode(
  context: Context,
  list: string,
  said: ReadonlyMap<string, string>,
): Promise<number> {
  const names = expandHosts(list);
  if (names === null) throw usage(`Invalid node name specified: ${list}`);
  const state = said.get('state')?.toUpperCase();
  const reason = said.get('reason');
  if (state === 'DRAIN' || state === 'DOWN') {
    if (state === 'DOWN')
      throw usage(
        'State=DOWN is not honoured here',
        'State=DRAIN keeps new work away; `weft node lost` gives up what runs.',
      );
    if (reason === undefined) throw usage('You must specify a reason when DRAINING a node');
    return runOurs(context, ['node', 'drain', `--reason=${reason}`, '--', ...names]);
  }
  if (state !== 'RESUME' && state !== 'IDLE')
    throw usage(`Invalid node state specified: ${state ?? ''}`, 'There are DRAIN and RESUME.');
  return runOurs(context, ['node', 'undrain', '--', ...names]);
}
