// The verbs of `weft`, with what they are for. A verb's file is loaded only when it is used.

import type { Verb, VerbGroup } from './verb.ts';

export interface VerbEntry {
  readonly name: string;
  readonly summary: string;
  readonly group: string;
  readonly load: () => Promise<Verb | VerbGroup>;
}

const entry = (
  group: string,
  name: string,
  summary: string,
  load: () => Promise<{ readonly verb: Verb | VerbGroup }>,
): VerbEntry => ({ group, name, summary, load: async () => (await load()).verb });

const JOBS = 'Jobs:';
const OVERVIEW = 'Overview:';
const CLUSTER = 'Clusters:';
const ADMIN = 'Administration:';

export const VERBS: readonly VerbEntry[] = [
  entry(JOBS, 'run', 'run a command on the cluster', () => import('./commands/run.ts')),
  entry(JOBS, 'submit', 'submit a script', () => import('./commands/submit.ts')),
  entry(
    JOBS,
    'batch',
    'jobs of one file, with their files',
    () => import('../../wings/batches/cli/verb.ts'),
  ),
  entry(
    JOBS,
    'pool',
    'workers that run functions',
    () => import('../../wings/calls/cli/pool-verb.ts'),
  ),
  entry(
    JOBS,
    'calls',
    'what programs and workers do',
    () => import('../../wings/calls/cli/calls-verb.ts'),
  ),
  entry(JOBS, 'wait', 'wait until jobs are done', () => import('./commands/wait.ts')),
  entry(JOBS, 'logs', 'show captured output', () => import('./commands/logs.ts')),
  entry(JOBS, 'pull', 'fetch the files that jobs left', () => import('./commands/pull.ts')),
  entry(JOBS, 'kill', 'cancel jobs, or send them a signal', () => import('./commands/kill.ts')),
  entry(JOBS, 'hold', 'keep pending jobs from starting', () => import('./commands/hold.ts')),
  entry(JOBS, 'release', 'let held jobs start', () => import('./commands/release.ts')),
  entry(JOBS, 'suspend', 'stop running jobs for a while', () => import('./commands/suspend.ts')),
  entry(JOBS, 'resume', 'let suspended jobs go on', () => import('./commands/resume.ts')),
  entry(
    JOBS,
    'requeue',
    'end running jobs and queue them again',
    () => import('./commands/requeue.ts'),
  ),
  entry(JOBS, 'change', 'change jobs that wait', () => import('./commands/change.ts')),
  entry(
    JOBS,
    'retry',
    'run again what did not complete, as a new job',
    () => import('./commands/retry.ts'),
  ),
  entry(OVERVIEW, 'info', 'nodes and jobs at a glance', () => import('./commands/info.ts')),
  entry(OVERVIEW, 'ui', 'open the web page', () => import('./commands/ui.ts')),
  entry(OVERVIEW, 'top', 'nodes and jobs, live', () => import('./commands/top.ts')),
  entry(OVERVIEW, 'jobs', 'list jobs', () => import('./commands/jobs.ts')),
  entry(OVERVIEW, 'job', 'show one job', () => import('./commands/job.ts')),
  entry(OVERVIEW, 'status', 'one word for each job', () => import('./commands/status.ts')),
  entry(OVERVIEW, 'why', 'say why a job waits', () => import('./commands/why.ts')),
  entry(
    OVERVIEW,
    'history',
    'accounting records of past jobs',
    () => import('./commands/history.ts'),
  ),
  entry(
    OVERVIEW,
    'schedule',
    'what ran, runs and comes next, on nodes over time',
    () => import('./commands/schedule.ts'),
  ),
  entry(OVERVIEW, 'usage', 'what jobs used, added up', () => import('./commands/usage.ts')),
  entry(
    OVERVIEW,
    'replay',
    'try a policy on a trace or on the history',
    () => import('../../wings/replay/cli/replay-verb.ts'),
  ),
  entry(
    OVERVIEW,
    'simulate',
    'try a policy on a generated workload',
    () => import('../../wings/replay/cli/simulate-verb.ts'),
  ),
  entry(
    OVERVIEW,
    'reserve',
    'reserve nodes for a future time',
    () => import('./commands/reserve.ts'),
  ),
  entry(CLUSTER, 'up', 'start a cluster on this machine', () => import('./commands/up.ts')),
  entry(CLUSTER, 'down', 'stop the cluster on this machine', () => import('./commands/down.ts')),
  entry(
    CLUSTER,
    'pilot',
    'nodes hosted by Slurm or Grid Engine',
    () => import('../../wings/pilots/cli/verb.ts'),
  ),
  entry(
    CLUSTER,
    'init',
    'prepare a cluster of several machines',
    () => import('./commands/init.ts'),
  ),
  entry(CLUSTER, 'head', 'run the head', () => import('./commands/head.ts')),
  entry(CLUSTER, 'join', 'let this machine join a cluster', () => import('./commands/join.ts')),
  entry(CLUSTER, 'agent', 'run the agent of a node', () => import('./commands/agent.ts')),
  entry(
    CLUSTER,
    'gateway',
    'run the gateway of a site',
    () => import('../../wings/sites/cli/gateway-verb.ts'),
  ),
  entry(
    CLUSTER,
    'pause',
    'take this machine back for a while',
    () => import('../../wings/owner/cli/pause-verb.ts'),
  ),
  entry(
    CLUSTER,
    'unpause',
    'end the pause of this machine',
    () => import('../../wings/owner/cli/unpause-verb.ts'),
  ),
  entry(ADMIN, 'node', 'list, drain, label and remove nodes', () => import('./commands/node.ts')),
  entry(
    ADMIN,
    'site',
    'other clusters behind gateways',
    () => import('../../wings/sites/cli/site-verb.ts'),
  ),
  entry(
    ADMIN,
    'maint',
    'take nodes out of service for a time',
    () => import('./commands/maint.ts'),
  ),
  entry(
    ADMIN,
    'partition',
    'list, set and reset partitions',
    () => import('./commands/partition.ts'),
  ),
  entry(ADMIN, 'goal', 'what nodes are to be like', () => import('../../wings/goals/cli/verb.ts')),
  entry(
    ADMIN,
    'notice',
    'a message that all users see',
    () => import('../../wings/notices/cli/verb.ts'),
  ),
  entry(ADMIN, 'qos', 'list qualities of service', () => import('./commands/qos.ts')),
  entry(ADMIN, 'user', 'roles of users', () => import('./commands/user.ts')),
  entry(ADMIN, 'token', 'tokens of users and for joining', () => import('./commands/token.ts')),
  entry(ADMIN, 'config', 'show and check the configuration', () => import('./commands/config.ts')),
  entry(ADMIN, 'doctor', 'look for problems', () => import('./commands/doctor.ts')),
  entry(ADMIN, 'completion', 'print a completion script', () => import('./commands/completion.ts')),
];
