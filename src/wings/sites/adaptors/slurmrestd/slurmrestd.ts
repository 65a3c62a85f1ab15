// Slurm by its daemon for HTTP, slurmrestd with openapi/v0.0.38 and tokens (auth/jwt). Jobs and
// nodes are as squeue and sinfo print them.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteJob, SiteNode, SiteQueue } from '../../../../kernel/model/site.ts';
import type { Adaptor, SiteOutput, SiteProblem, SiteSubmission } from '../adaptor.ts';
import { namedIn, nodesOf, recordsOf, textOf, unreadable, wholeOf } from '../read.ts';
import { jobsIn, NO_NAMES } from '../slurm/jobs.ts';
import { nodesIn } from '../slurm/nodes.ts';
import { commandOf, type Request, readAnswer } from './request.ts';

const MIB = 1_048_576;
const MINUTE_MS = 60_000;
/** Proxies and their exceptions, by the names that curl reads. */
const PROXIES = ['http_proxy', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY'];

/**
 * @param program `curl`, with the options that bring its user's token
 * @param base as `http://head:6820/slurm/v0.0.38`
 */
export function slurmrestd(program: readonly string[], base: string): Adaptor {
  const command = (method: Request['method'], path: string, body?: object) => {
    return commandOf(program, { method, url: `${base}/${path}`, ...(body && { body }) });
  };
  const jobs = { command: command('GET', 'jobs'), read: readJobs };
  return {
    system: 'slurmrestd',
    variables: ['CURL_*', 'SSL_CERT_*', ...PROXIES],
    jobs,
    nodes: { command: command('GET', 'nodes'), read: readNodes },
    queues: { command: command('GET', 'partitions'), read: readQueues },
    submit: (job) => ({
      command: command('POST', 'job/submit', submissionOf(job)),
      read: readSubmitted,
    }),
    // An array is one job, with the id of all of it.
    named: (name) => namedIn(jobs, name, (id) => id.replace(/_.*$/, '')),
    cancel: (job) => ({ command: command('DELETE', `job/${job}`), read: readDone }),
    end: null,
    known: (job) => ({ command: command('GET', `job/${job}`), read: readKnown }),
    element: (array, index) => `${array}_${index}`,
    // This version has no request for it, and says so.
    setNode: ({ kind, node }) => {
      const state = kind === 'stop' ? 'drain' : 'undrain';
      return [command('POST', `node/${node}`, { state })];
    },
    steering: null,
  };
}

function readJobs(output: SiteOutput): Result<readonly SiteJob[], SiteProblem> {
  const jobs = readList(output, 'jobs', jobsIn);
  if (!jobs.ok) return jobs;
  return jobs.value === null ? unreadable('slurmrestd', NO_NAMES) : ok(jobs.value);
}

function readNodes(output: SiteOutput): Result<readonly SiteNode[], SiteProblem> {
  return readList(output, 'nodes', nodesIn);
}

type Listed = Readonly<Record<string, unknown>>;

function readList<T>(
  output: SiteOutput,
  name: string,
  read: (listed: readonly Listed[]) => T,
): Result<T, SiteProblem> {
  const answer = readAnswer(output);
  if (!answer.ok) return answer;
  const listed = recordsOf(answer.value[name]);
  return listed === null
    ? unreadable('slurmrestd', `its answer has no list '${name}'`)
    : ok(read(listed));
}

function readQueues(output: SiteOutput): Result<readonly SiteQueue[], SiteProblem> {
  const queues = readList(output, 'partitions', (listed) => listed.map(queueOf));
  if (!queues.ok) return queues;
  const known = queues.value.filter((queue) => queue !== null);
  if (known.length === queues.value.length) return ok(known);
  return unreadable('slurmrestd', 'a partition has no name or state');
}

function queueOf(listed: Listed): SiteQueue | null {
  const [name, state] = [textOf(listed.name), textOf(listed.state)];
  if (name === null || state === null) return null;
  const minutes = wholeOf(listed.max_time_limit);
  return {
    name,
    isOpen: state === 'UP' || state === 'DOWN',
    isStarted: state === 'UP' || state === 'DRAIN',
    walltimeMaxMs: minutes === null ? null : minutes * MINUTE_MS,
    nodes: nodesOf(textOf(listed.nodes)),
  };
}

function submissionOf(job: SiteSubmission): object {
  const { queue, account, walltimeMs, memoryBytes } = job;
  return {
    // What the script has of variables and keys is its user's alone.
    script: `#!/bin/sh\nexec /bin/sh ${quoted(job.scriptFile)}\n`,
    job: {
      name: job.name,
      current_working_directory: job.directory,
      requeue: false,
      standard_output: job.stdout,
      standard_error: job.stderr,
      // It must have one, and gets no other.
      environment: { PATH: '/usr/local/bin:/usr/bin:/bin' },
      // Of two numbers it takes only the first, of this text both.
      nodes: `${job.nodeCount}-${job.nodeCount}`,
      cpus_per_task: job.cpuCount,
      ...(queue === null ? {} : { partition: queue }),
      ...(account === null ? {} : { account }),
      ...(walltimeMs === null ? {} : { time_limit: Math.ceil(walltimeMs / MINUTE_MS) }),
      ...(memoryBytes === null ? {} : { memory_per_node: Math.ceil(memoryBytes / MIB) }),
      ...Object.fromEntries(job.options.map(fieldOf)),
    },
  };
}

/** `qos=low` is a field of the job; numbers are numbers. */
function fieldOf(option: string): [name: string, value: string | number] {
  const at = option.indexOf('=');
  const value = option.slice(at + 1);
  return [option.slice(0, at), /^\d{1,9}$/.test(value) ? Number(value) : value];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function readSubmitted(output: SiteOutput): Result<string, SiteProblem> {
  const answer = readAnswer(output);
  if (!answer.ok) return answer;
  const id = wholeOf(answer.value.job_id);
  if (id !== null && id > 0) return ok(String(id));
  return unreadable('slurmrestd', 'its answer has no job_id');
}

function readDone(output: SiteOutput): Result<null, SiteProblem> {
  const answer = readAnswer(output);
  return answer.ok ? ok(null) : answer;
}

function readKnown(output: SiteOutput): Result<boolean, SiteProblem> {
  const jobs = readJobs(output);
  if (!jobs.ok) return jobs.error.kind === 'no_such_job' ? ok(false) : jobs;
  if (jobs.value.length > 0) return ok(true);
  return unreadable('slurmrestd', 'it says nothing of the job');
}
