// OAR 2.5 on PostgreSQL, by its own commands. Its clients are setuid programs: they run as the user
// who submits, never as root.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type {
  Adaptor,
  NodeSwitch,
  SiteCommand,
  SiteOutput,
  SiteProblem,
  SiteQuery,
  SiteSubmission,
  Steering,
} from '../adaptor.ts';
import { saidBy, siteProblem, unreadable } from '../read.ts';
import { failure } from './failure.ts';
import { jobsCommand, readJobs, readPlannedJobs } from './jobs.ts';
import { NODES_COMMAND, QUEUES_COMMAND, readNodes, readQueues } from './nodes.ts';

/** Ends are listed for as long as this. */
const ENDED_S = 3600;
/** What ended before it began has no time of an end. */
const LAST_TIME = 'CASE WHEN stop_time = 0 THEN submission_time ELSE stop_time END';
const JOBS_WANTED = `state NOT IN ('Terminated','Error') OR ${LAST_TIME} > EXTRACT(EPOCH FROM now()) - ${ENDED_S}`;

export function oar(steering: Steering | null): Adaptor {
  return {
    system: 'oar',
    variables: ['OAR*'],
    jobs: {
      command: jobsCommand(JOBS_WANTED),
      read: steering === null ? readJobs : readPlannedJobs,
    },
    nodes: { command: NODES_COMMAND, read: readNodes },
    queues: { command: QUEUES_COMMAND, read: readQueues },
    submit,
    named,
    cancel: (job) => ({ command: { argv: ['oardel', job] }, read: readCancelled }),
    end: (job) => ({ command: jobsCommand(`job_id = ${whole(job)}`), read: readEnd }),
    known: (job) => ({ command: jobsCommand(`job_id = ${whole(job)}`), read: readKnown }),
    // Each element of an array is a job of its own there.
    element: (array) => array,
    setNode,
    steering,
  };
}

/** Nothing but digits goes into a condition. */
function whole(job: string): string {
  return /^\d{1,15}$/.test(job) ? job : '0';
}

function submit(job: SiteSubmission): SiteQuery<string> {
  const { queue, account, walltimeMs, nodeCount, cpuCount } = job;
  const clock = walltimeMs === null ? '' : `,walltime=${clockOf(walltimeMs)}`;
  const argv = [
    ...['oarsub', '-n', job.name, '-d', job.directory],
    ...['-O', job.stdout, '-E', job.stderr],
    ...['-l', `/nodes=${nodeCount}/core=${cpuCount}${clock}`],
    ...(queue === null ? [] : ['-q', queue]),
    ...(account === null ? [] : ['--project', account]),
    ...job.options,
    // It takes one command and no script from its standard input, and shows the command to
    // everybody: what the script has of variables and keys is its user's alone.
    `sh ${quoted(job.scriptFile)}`,
  ];
  return { command: { argv }, read: readSubmitted };
}

function clockOf(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return [seconds / 3600, (seconds % 3600) / 60, seconds % 60].map(Math.floor).join(':');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function readSubmitted(output: SiteOutput): Result<string, SiteProblem> {
  const [, id] = /^OAR_JOB_ID=(\d+)$/m.exec(output.stdout) ?? [];
  if (output.code === 0 && id !== undefined) return ok(id);
  return output.code === 0 ? unreadable('oarsub', 'no OAR_JOB_ID') : failure('oarsub', output);
}

/** A quote would end the name in the condition: such names are none of ours. */
function named(name: string): SiteQuery<readonly string[]> {
  const command = jobsCommand(`job_name = '${name.replaceAll("'", '')}'`);
  return {
    command,
    read(output) {
      const jobs = readJobs(output);
      return jobs.ok ? ok(jobs.value.map(({ id }) => id)) : jobs;
    },
  };
}

function readCancelled(output: SiteOutput): Result<null, SiteProblem> {
  if (output.code === 0) return ok(null);
  const words = saidBy(output);
  if (/already (killed|terminated)|not .*exist/i.test(words)) {
    return siteProblem('no_such_job', `oardel: ${words}`);
  }
  return failure('oardel', output);
}

function readEnd(output: SiteOutput) {
  const jobs = readJobs(output);
  if (!jobs.ok) return jobs;
  const job = jobs.value[0];
  if (job === undefined || job.endedAt === null || job.exit === null) return ok(null);
  const { startedAt, endedAt, exit, reason, nodes } = job;
  return ok({ startedAt, endedAt, exit, reason, ...(nodes.length === 0 ? {} : { nodes }) });
}

/** OAR forgets no job; a job that is over is as good as forgotten. */
function readKnown(output: SiteOutput): Result<boolean, SiteProblem> {
  const jobs = readJobs(output);
  return jobs.ok ? ok(jobs.value.some(({ state }) => state !== 'ended')) : jobs;
}

/** Draining lets what runs go on; the state Absent would end it. */
function setNode({ kind, node }: NodeSwitch): readonly SiteCommand[] {
  return [{ argv: ['oarnodesetting', '-h', node, '-d', kind === 'stop' ? 'on' : 'off'] }];
}
