// HTCondor, 10 or later, by its own commands. Its forms are read from documents and from its
// source, never from a real one: docs/sites/htcondor.md.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type {
  Adaptor,
  NodeSwitch,
  SiteOutput,
  SiteProblem,
  SiteQuery,
  SiteSubmission,
} from '../adaptor.ts';
import { namedIn, saidBy, siteProblem, unreadable } from '../read.ts';
import { adsIn } from './ads.ts';
import { failure } from './failure.ts';
import { JOBS_WORDS, readEnd, readJobs } from './jobs.ts';
import { NODES_COMMAND, QUEUES_COMMAND, readNodes, readQueues } from './machines.ts';

/** @param schedd the one that has our jobs; null: that of this machine */
export function htcondor(schedd: string | null): Adaptor {
  const there = schedd === null ? [] : ['-name', schedd];
  const command = { argv: ['condor_q', ...there, '-allusers', ...JOBS_WORDS] };
  const jobs = { command, read: (output: SiteOutput) => readJobs('condor_q', output) };
  return {
    system: 'htcondor',
    variables: ['CONDOR_*', '_CONDOR_*', 'KRB5CCNAME'],
    jobs,
    nodes: { command: NODES_COMMAND, read: readNodes },
    queues: { command: QUEUES_COMMAND, read: readQueues },
    submit: (job) => submit(job, schedd),
    named: (name) => namedIn(jobs, name),
    cancel: (job) => ({
      command: { argv: ['condor_rm', ...there, job] },
      read: readCancelled,
    }),
    end: (job) => ({
      command: { argv: ['condor_history', ...there, ...JOBS_WORDS, '-limit', '1', job] },
      read: readEnd,
    }),
    known: (job) => ({
      command: { argv: ['condor_q', ...there, ...JOBS_WORDS, job] },
      read: readKnown,
    }),
    // Each process of a cluster is a job of its own.
    element: (array, index) => `${array.replace(/\..*$/, '')}.${index}`,
    setNode,
    steering: null,
  };
}

/** Asked for one id, it prints that job, or nothing. */
function readKnown(output: SiteOutput): Result<boolean, SiteProblem> {
  const ads = adsIn('condor_q', output);
  return ads.ok ? ok(ads.value.length > 0) : ads;
}

function readCancelled(output: SiteOutput): Result<null, SiteProblem> {
  const words = saidBy(output);
  if (output.code === 0 || /^Job \S+ already marked for removal/m.test(words)) return ok(null);
  if (output.code !== null && /Job \S+ not found/.test(words)) {
    return siteProblem('no_such_job', `condor_rm: ${words}`);
  }
  return failure('condor_rm', output);
}

/** Draining would end what runs; a startd that goes off in peace waits for it. */
function setNode({ kind, node }: NodeSwitch) {
  const off = ['condor_off', '-peaceful'];
  const argv = [...(kind === 'stop' ? off : ['condor_on']), '-daemon', 'startd', '-name', node];
  return [{ argv }];
}

/** What condor_submit reads: lines of `name = value`, in which `$(…)` is expanded. */
const MIB = 1_048_576;

/** @param schedd null: the local one */
function submit(job: SiteSubmission, schedd: string | null): SiteQuery<string> {
  const at = job.queue ?? schedd;
  const argv = [
    ...['condor_submit', '-terse', '-batch-name', job.name],
    ...(at === null ? [] : ['-name', at]),
    ...job.options,
    '-',
  ];
  return { command: { argv, input: descriptionOf(job) }, read: readSubmitted };
}

function descriptionOf(job: SiteSubmission): string {
  const { account, walltimeMs, memoryBytes, nodeCount } = job;
  const seconds = walltimeMs === null ? null : Math.ceil(walltimeMs / 1000);
  // What was begun once is not begun again: a second start of its script would end at once, with
  // code 0. The gateway says when a job is run again.
  const isSpent = 'JobStatus == 1 && NumShadowStarts =!= undefined && NumShadowStarts > 0';
  const isOver =
    seconds === null ? '' : ` || (JobStatus == 2 && time() - JobCurrentStartDate > ${seconds})`;
  const lines = [
    ...(nodeCount > 1
      ? ['universe = parallel', `machine_count = ${nodeCount}`]
      : ['universe = vanilla']),
    ...['executable = /bin/sh', 'transfer_executable = false', 'should_transfer_files = NO'],
    `arguments = "${argument(job.scriptFile)}"`,
    ...[`initialdir = ${value(job.directory)}`, `output = ${value(job.stdout)}`],
    ...[`error = ${value(job.stderr)}`, `request_cpus = ${job.cpuCount}`],
    ...(memoryBytes === null ? [] : [`request_memory = ${Math.ceil(memoryBytes / MIB)}`]),
    'requirements = MY.NumShadowStarts =?= undefined || MY.NumShadowStarts == 0',
    `periodic_remove = (${isSpent})${isOver}`,
    ...(account === null ? [] : [`accounting_group = ${value(account)}`]),
    ...['notification = never', 'queue 1', ''],
  ];
  return lines.join('\n');
}

function value(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ').replaceAll('$', '$(DOLLAR)');
}

/** One word within double quotes: single ones keep its blanks, and each kind is written twice. */
function argument(text: string): string {
  return `'${value(text).replaceAll("'", "''").replaceAll('"', '""')}'`;
}

/** `31.0 - 31.0`, of several processes `32.0 - 32.4`. */
function readSubmitted(output: SiteOutput): Result<string, SiteProblem> {
  if (output.code !== 0) return failure('condor_submit', output);
  const [, cluster, first, , last] = /^(\d+)\.(\d+) - (\d+)\.(\d+)\s*$/m.exec(output.stdout) ?? [];
  if (cluster === undefined) return unreadable('condor_submit', 'its answer has no job id');
  return ok(first === last ? `${cluster}.${first}` : cluster);
}
