// Grid Engine (Son of Grid Engine 8.1 and its relatives), by its own commands.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type {
  Adaptor,
  SiteOutput,
  SiteProblem,
  SiteQuery,
  SiteSubmission,
  Steering,
} from '../adaptor.ts';
import { namedIn, saidBy, siteProblem, unreadable } from '../read.ts';
import { endCommand, readEnd } from './accounting.ts';
import { failure } from './failure.ts';
import { JOBS_COMMAND, type JobWords, readJobs } from './jobs.ts';
import { NODES_COMMAND, QUEUES_COMMAND, readNodes, readQueues } from './nodes.ts';

export interface SgeSettings extends JobWords {
  /** Queue whose instances are switched off and on with their hosts. */
  readonly queue: string;
}

export function sge(settings: SgeSettings, steering: Steering | null): Adaptor {
  const words = { ...settings, needsTicket: steering?.needsHandle === true };
  const read = (output: SiteOutput) => readJobs(output, words);
  const jobs = { command: JOBS_COMMAND, read };
  return {
    system: 'sge',
    variables: ['SGE_*'],
    jobs,
    nodes: { command: NODES_COMMAND, read: readNodes },
    queues: { command: QUEUES_COMMAND, read: readQueues },
    submit: (job) => submit(job, settings),
    // Only jobs that have not ended have a name in a listing. An array is one job with its
    // elements.
    named: (name) => namedIn(jobs, name, (id) => id.replace(/\..*$/, '')),
    cancel: (job) => ({ command: { argv: cancelArgv(job) }, read: readCancelled }),
    end: (job) => {
      const isOnOneHost = !settings.oneSlotPerHost.includes(settings.environment ?? '');
      const environment = isOnOneHost ? settings.environment : null;
      return { command: endCommand(job), read: (output) => readEnd(output, environment) };
    },
    known,
    element: (array, index) => `${array}.${index}`,
    setNode: ({ kind, node, parts = [settings.queue] }) => [
      { argv: ['qmod', kind === 'stop' ? '-d' : '-e', ...parts.map((one) => `${one}@${node}`)] },
    ],
    steering,
  };
}

function submit(job: SiteSubmission, { environment }: SgeSettings): SiteQuery<string> {
  const { queue, account, walltimeMs, nodeCount } = job;
  const slots = nodeCount > 1 ? nodeCount : job.cpuCount;
  const argv = [
    ...['qsub', '-terse', '-r', 'n', '-S', '/bin/sh', '-N', job.name, '-wd', job.directory],
    ...['-o', job.stdout, '-e', job.stderr],
    ...(queue === null ? [] : ['-q', queue]),
    ...(account === null ? [] : ['-A', account]),
    ...(walltimeMs === null ? [] : ['-l', `h_rt=${Math.ceil(walltimeMs / 1000)}`]),
    ...(slots > 1 && environment !== null ? ['-pe', environment, String(slots)] : []),
    ...job.options,
  ];
  return { command: { argv, input: job.script }, read: readSubmitted };
}

/** `45`, or of an array `48.1-4:1`. */
function readSubmitted(output: SiteOutput): Result<string, SiteProblem> {
  if (output.code !== 0) return failure('qsub', output);
  const [, id] = /^(\d+)(?:\.\S+)?$/m.exec(output.stdout) ?? [];
  return id === undefined ? unreadable('qsub', 'its answer has no job number') : ok(id);
}

function known(job: string): SiteQuery<boolean> {
  const [number = job] = job.split('.');
  return {
    command: { argv: ['qstat', '-j', number] },
    read(output) {
      if (/following jobs do not exist/i.test(saidBy(output))) return ok(false);
      return output.code === 0 ? ok(true) : failure('qstat', output);
    },
  };
}

function cancelArgv(job: string): string[] {
  const [number = job, task] = job.split('.');
  return ['qdel', number, ...(task === undefined ? [] : ['-t', task])];
}

function readCancelled(output: SiteOutput): Result<null, SiteProblem> {
  if (output.code === 0) return ok(null);
  const words = saidBy(output);
  if (/job "\S+" does not exist/.test(words)) return siteProblem('no_such_job', `qdel: ${words}`);
  return failure('qdel', output);
}
