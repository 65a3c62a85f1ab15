// The verbs of `weft`, with what they are for. A verb's file is loaded only when it is used.

import { withPlaced } from '../base/placed.ts';
import type { CliWing, InnerVerb, VerbEntry } from './part.ts';
import type { VerbGroup } from './verb.ts';

const entry = (
  group: VerbEntry['group'],
  name: string,
  summary: string,
  load: VerbEntry['load'],
): VerbEntry => ({ group, name, summary, load });

const JOBS = 'Jobs:';
const OVERVIEW = 'Overview:';
const CLUSTER = 'Clusters:';
const ADMIN = 'Administration:';

const OWN: readonly VerbEntry[] = [
  entry(JOBS, 'run', 'run a command on the cluster', () => import('./commands/run.ts')),
  entry(JOBS, 'submit', 'submit a script', () => import('./commands/submit.ts')),
  entry(JOBS, 'wait', 'wait until jobs are done', () => import('./commands/wait.ts')),
  entry(JOBS, 'logs', 'show captured output', () => import('./commands/logs.ts')),
  entry(JOBS, 'pull', 'fetch the files that jobs left', () => import('./commands/pull.ts')),
  entry(JOBS, 'cancel', 'end jobs that wait or run', () => import('./commands/cancel.ts')),
  entry(JOBS, 'kill', 'send jobs a signal, or cancel them', () => import('./commands/kill.ts')),
  entry(JOBS, 'hold', 'keep pending jobs from starting', () => import('./commands/hold.ts')),
  entry(JOBS, 'release', 'let held jobs start', () => import('./commands/release.ts')),
  entry(JOBS, 'suspend', 'stop running jobs for a while', () => import('./commands/suspend.ts')),
  entry(JOBS, 'resume', 'resume suspended jobs', () => import('./commands/resume.ts')),
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
    'reserve',
    'reserve nodes for a future time',
    () => import('./commands/reserve.ts'),
  ),
  entry(CLUSTER, 'up', 'start a cluster on this machine', () => import('./commands/up.ts')),
  entry(CLUSTER, 'down', 'stop the cluster on this machine', () => import('./commands/down.ts')),
  entry(
    CLUSTER,
    'init',
    'prepare a cluster of several machines',
    () => import('./commands/init.ts'),
  ),
  entry(CLUSTER, 'head', 'run the head', () => import('./commands/head.ts')),
  entry(CLUSTER, 'join', 'let this machine join a cluster', () => import('./commands/join.ts')),
  entry(CLUSTER, 'agent', 'run the agent of a node', () => import('./commands/agent.ts')),
  entry(ADMIN, 'node', 'list, drain, label and remove nodes', () => import('./commands/node.ts')),
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
  entry(ADMIN, 'qos', 'list qualities of service', () => import('./commands/qos.ts')),
  entry(ADMIN, 'user', 'roles of users', () => import('./commands/user.ts')),
  entry(ADMIN, 'token', 'tokens of users and for joining', () => import('./commands/token.ts')),
  entry(ADMIN, 'config', 'show and check the configuration', () => import('./commands/config.ts')),
  entry(ADMIN, 'doctor', 'look for problems', () => import('./commands/doctor.ts')),
  entry(ADMIN, 'completion', 'print a completion script', () => import('./commands/completion.ts')),
];

/** All verbs, those of wings in their places. */
export function verbsOf(wings: readonly CliWing[]): readonly VerbEntry[] {
  return withPlaced(
    OWN,
    wings.flatMap(({ cli }) => cli?.verbs ?? []),
  );
}

/** A group of the kernel, with the verbs that wings add to it. */
export async function withInner(
  name: string,
  group: VerbGroup,
  wings: readonly CliWing[],
): Promise<VerbGroup> {
  const added = wings.flatMap(({ cli }) => (cli?.innerVerbs ?? []).filter(isIn(name)));
  const own = Object.entries(group.verbs).map(([title, inner]) => ({ name: title, ...inner }));
  const more = await Promise.all(
    added.map(async ({ load, ...where }) => ({ ...where, verb: (await load()).verb })),
  );
  const all = withPlaced(own, more);
  return { verbs: Object.fromEntries(all.map(({ name: title, ...inner }) => [title, inner])) };
}

const isIn =
  (name: string) =>
  ({ within }: InnerVerb): boolean =>
    within === name;
