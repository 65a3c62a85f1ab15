// Slurm, 22.05 or later, by its own commands.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type {
  Adaptor,
  NodeSwitch,
  SiteOutput,
  SiteProblem,
  SiteQuery,
  SiteSubmission,
  Steering,
} from '../adaptor.ts';
import { siteProblem, unreadable } from '../read.ts';
import { JOBS_COMMAND, readJobs, readPlannedJobs } from './jobs.ts';
import { failure, NO_SUCH_JOB } from './listing.ts';
import { NODES_COMMAND, QUEUES_COMMAND, readNodes, readQueues } from './nodes.ts';
import { formatLimit } from './time.ts';

const MIB = 1_048_576;

export function slurm(steering: Steering | null): Adaptor {
  return {
    system: 'slurm',
    variables: ['SLURM_CONF', 'SLURM_CLUSTERS'],
    jobs: { command: JOBS_COMMAND, read: steering === null ? readJobs : readPlannedJobs },
    nodes: { command: NODES_COMMAND, read: readNodes },
    queues: { command: QUEUES_COMMAND, read: readQueues },
    submit,
    named,
    cancel,
    signal,
    end: null,
    known,
    element: (array, index) => `${array}_${index}`,
    setNode: (change) =>
      nodeFields(change).map((fields) => {
        return { argv: ['scontrol', 'update', `nodename=${change.node}`, ...fields] };
      }),
    steering,
  };
}

function submit(job: SiteSubmission): SiteQuery<string> {
  const { queue, account, walltimeMs, memoryBytes } = job;
  const argv = [
    ...['sbatch', '--parsable', '--no-requeue', `--job-name=${job.name}`],
    // What it runs with is chosen already. NIL and NONE have Slurm run the user's login shell on
    // the node first, and a job whose profile is slow or broken start late or not at all.
    '--export=ALL',
    ...[`--nodes=${job.nodeCount}-${job.nodeCount}`, '--ntasks-per-node=1'],
    ...[`--cpus-per-task=${job.cpuCount}`, `--chdir=${job.directory}`],
    ...[`--output=${job.stdout}`, `--error=${job.stderr}`],
    ...(queue === null ? [] : [`--partition=${queue}`]),
    ...(account === null ? [] : [`--account=${account}`]),
    ...(walltimeMs === null ? [] : [`--time=${formatLimit(walltimeMs)}`]),
    ...(memoryBytes === null ? [] : [`--mem=${Math.ceil(memoryBytes / MIB)}M`]),
    ...job.options,
  ];
  return { command: { argv, input: job.script }, read: readSubmitted };
}

/** `4711`, or `4711;cluster`. */
function readSubmitted(output: SiteOutput): Result<string, SiteProblem> {
  if (output.code !== 0) return failure('sbatch', output);
  const [, id] = /^(\d+)(?:;\S*)?$/m.exec(output.stdout) ?? [];
  return id === undefined ? unreadable('sbatch', 'its answer has no job id') : ok(id);
}

/** An array is one job, whatever ids its elements have got: `%F` is that of all of them. */
function named(name: string): SiteQuery<readonly string[]> {
  const argv = ['squeue', '-a', '-h', '-t', 'all', `--name=${name}`, '-o', '%F'];
  return { command: { argv }, read: readNamed };
}

function readNamed(output: SiteOutput): Result<readonly string[], SiteProblem> {
  if (output.code !== 0) return failure('squeue', output);
  const lines = output.stdout.split('\n').filter((line) => line.trim() !== '');
  if (!lines.every((line) => /^\d+$/.test(line.trim()))) {
    return unreadable('squeue', 'a line of its answer is no job id');
  }
  return ok([...new Set(lines.map((line) => line.trim()))]);
}

/** Asked for one id, squeue says that it does not know it, or has a line of it. */
function known(job: string): SiteQuery<boolean> {
  const argv = ['squeue', '-a', '-h', '-t', 'all', '-j', job, '-o', '%A'];
  return {
    command: { argv },
    read(output) {
      if (output.code !== 0 && NO_SUCH_JOB.test(output.stderr)) return ok(false);
      const listed = readNamed(output);
      if (!listed.ok) return listed;
      return listed.value.length > 0
        ? ok(true)
        : unreadable('squeue', 'it says nothing of the job');
    },
  };
}

function cancel(job: string): SiteQuery<null> {
  return { command: { argv: ['scancel', job] }, read: readCancelled };
}

/** Also to the batch script, and to what is no step of it, as our tasks. */
function signal(job: string, number: number): SiteQuery<null> {
  const argv = ['scancel', '--full', `--signal=${number}`, job];
  return { command: { argv }, read: readCancelled };
}

/** About an id that it does not know, scancel says nothing. */
function readCancelled(output: SiteOutput): Result<null, SiteProblem> {
  if (output.code === 0) return ok(null);
  if (NO_SUCH_JOB.test(output.stderr)) return siteProblem('no_such_job', output.stderr);
  return failure('scancel', output);
}

/** What is down keeps its reason beside the drain, which takes its place; other nodes lose it. */
function nodeFields(change: NodeSwitch): string[][] {
  if (change.kind === 'stop') return [['state=drain', `reason=${change.reason}`]];
  const { reason } = change;
  return [['state=undrain'], ...(reason === undefined ? [] : [[`reason=${reason}`]])];
}
