// `scontrol show`: records of jobs, steps, nodes, partitions and the like.

import { headNow } from '../../../kernel/api/head-time.ts';
import type { JobDetail } from '../../../kernel/api/jobs.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import type { Api } from '../../../kernel/connect/api.ts';
import { Failure, usage } from '../../../kernel/model/failure.ts';
import { ARRAY_TASKS_MAX } from '../../../kernel/model/limits.ts';
import type { StepView } from '../../steps/api/step-view.ts';
import { compressHosts, expandHosts, hostsInOrder } from '../core/hostlist.ts';
import { readStep, slurmId } from '../core/ids.ts';
import { stepsBetween } from './account-rows.ts';
import { wholeNodes } from './held.ts';
import { instant } from './instants.ts';
import { apart, commandLine, listJobs, rowsOf } from './job-rows.ts';
import { ourId } from './our-ids.ts';
import { jobWords } from './scontrol-job.ts';
import { licenseWords, nodeWords, partitionWords, reservationWords } from './scontrol-records.ts';
import { hostsOf, RELEASE } from './speaking.ts';

const ENTITIES = [
  'job',
  'jobid',
  'step',
  'node',
  'partition',
  'reservation',
  'hostname',
  'hostlist',
  'hostlistsorted',
  'config',
  'version',
  'license',
] as const;

export async function show(
  context: Context,
  [said = '', ...more]: readonly string[],
  lines: 'one each' | 'many',
): Promise<number> {
  // `show job=42` is `show job 42`, and beginnings of the words will do.
  const [what = '', value] = said.split(/=(.*)/s);
  const name = value ?? more[0];
  const asked = what.toLowerCase();
  const entity = ENTITIES.find((one) => asked !== '' && `${one}s`.startsWith(asked));
  const api = await context.api();
  const print = (texts: readonly string[]): number => {
    const oneLine = texts.map((text) => text.replace(/\n {3,}/g, ' '));
    context.print(lines === 'one each' ? oneLine.join('\n') : texts.join('\n\n'));
    return 0;
  };
  switch (entity) {
    case 'step':
      return print(name === undefined ? await stepsNow(api) : await stepsOf(api, name));
    case 'job':
    case 'jobid':
      return print(await jobsShown(api, name));
    case 'node':
      return print(await nodesShown(api, name));
    case 'partition':
      return print(await partitionsShown(api, name));
    case 'hostname':
      return print([hostnameWords(name ?? context.environment['SLURM_JOB_NODELIST'])]);
    case 'hostlist':
    case 'hostlistsorted':
      return print([hostlistWords(name, entity)]);
    case 'reservation':
      return print(await reservationsShown(api, name));
    case 'license':
      return print(licenseWords((await api.call('info')).resources ?? [], name));
    case 'version':
      return print([RELEASE]);
    case 'config':
      return print([await configWords(api)]);
    default:
      throw usage(
        `invalid entity:${what} for keyword:show`,
        'There are job, step, node, partition, reservation, licenses, hostnames, hostlist, config.',
      );
  }
}

/** The job that is named, or all that have not ended. */
async function jobsShown(api: Api, name: string | undefined): Promise<string[]> {
  const ids =
    name === undefined
      ? (await listJobs(api, { state: 'active' })).map(({ id }) => String(id))
      : [ourId(name)];
  if (ids.length === 0) return ['No jobs in the system'];
  const records: string[] = [];
  const withWhole = wholeNodes(api);
  for (const id of ids) records.push(...(await recordsOf(api, id, withWhole)));
  return records;
}

async function nodesShown(api: Api, name: string | undefined): Promise<string[]> {
  const all = await api.call('listPartitions');
  const known = (await api.call('listNodes')).nodes;
  const named = hostsOf(name);
  const missing = named?.find((one) => known.every((node) => node.name !== one));
  if (missing !== undefined) throw usage(`Node ${missing} not found`);
  const some = known.filter((node) => named?.includes(node.name) ?? true);
  return some.map((node) => {
    const own = all.partitions.filter((one) => one.nodes.includes(node.name));
    return nodeWords(
      node,
      own.map((one) => one.name),
    );
  });
}

async function partitionsShown(api: Api, name: string | undefined): Promise<string[]> {
  const all = (await api.call('listPartitions')).partitions;
  const known = (await api.call('listNodes')).nodes;
  const some = all.filter((one) => name === undefined || one.name === name);
  if (some.length === 0) throw usage(`Partition ${name} not found`);
  return some.map((one) => partitionWords(one, known, all[0]?.name));
}

function hostnameWords(list = ''): string {
  const names = expandHosts(list);
  if (names === null || list === '') throw usage('Invalid hostlist');
  return names.join('\n');
}

function hostlistWords(list = '', order: 'hostlist' | 'hostlistsorted'): string {
  const names = expandHosts(list);
  if (names === null || names.length === 0) throw usage('Invalid hostlist');
  return order === 'hostlist' ? hostsInOrder(names) : compressHosts(names);
}

async function reservationsShown(api: Api, name: string | undefined): Promise<string[]> {
  const all = (await api.call('listReservations')).reservations;
  const some = all.filter((one) => name === undefined || one.name === name);
  if (some.length > 0) return some.map(reservationWords);
  if (name === undefined) return ['No reservations in the system'];
  throw usage(`Reservation ${name} not found`);
}

async function configWords(api: Api): Promise<string> {
  const lines = [
    `Configuration data as of ${instant(headNow())}`,
    'AccountingStorageType   = accounting_storage/slurmdbd',
    `ClusterName             = ${(await api.call('info')).clusterName}`,
    `MaxArraySize            = ${ARRAY_TASKS_MAX}`,
    'SelectType              = select/cons_tres',
    'SLURM_VERSION           = 22.05.8',
  ];
  return lines.join('\n');
}

type WithWhole = ReturnType<typeof wholeNodes>;

/** Programs look for these words of Slurm where a job is gone. */
async function jobNamed(api: Api, id: string): Promise<JobDetail> {
  try {
    return await api.call('getJob', { params: { id } });
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'not_found') throw error;
    throw usage('Invalid job id specified', error.message);
  }
}

/** A record for each task that has begun, and one for those that wait together. */
async function recordsOf(api: Api, id: string, withWhole: WithWhole): Promise<string[]> {
  const [, jobId = id, index] = /^(\d+)\[(\d+)\]$/.exec(id) ?? [];
  const job = await jobNamed(api, jobId);
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
    `Nodes=${new Set(one.nodes).size} Tasks=${one.processes} Name=${commandLine(one.command)}`,
  ].join('\n   ');
}

function stepState({ state, exit }: StepView): string {
  if (state === 'running') return 'RUNNING';
  return exit === null || exit.code === 0 ? 'COMPLETED' : 'FAILED';
}
