// Another Weft, by the program `weft` of its users, told where that cluster is.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import { SITE_JOBS_MAX } from '../../../../kernel/model/limits.ts';
import type { SiteEnd } from '../../../../kernel/model/site.ts';
import type {
  Adaptor,
  NodeSwitch,
  SiteCommand,
  SiteOutput,
  SiteProblem,
  SiteQuery,
  SiteSubmission,
} from '../adaptor.ts';
import { siteProblem, unreadable } from '../read.ts';
import { failure, hasNoJob, isDone } from './failure.ts';
import { readEnd, readJobs, readNodes, readQueues } from './views.ts';

const MIB = 1_048_576;
const NAMED_MAX = 1000;

/** The gateway's own cluster is another: what its environment says of that is not for this one. */
const OUR_OWN = ['HEAD', 'SOCKET', 'DIR', 'TOKEN', 'TOKEN_FILE', 'FINGERPRINT', 'CONFIG'];

/** @param program `weft` with the options that say which cluster */
export function weft(program: readonly string[]): Adaptor {
  const before = ['env', ...OUR_OWN.flatMap((name) => ['-u', `WEFT_${name}`]), ...program];
  const command = (...words: readonly string[]): SiteCommand => ({ argv: [...before, ...words] });
  const listing = (...words: readonly string[]) => command(...words, '-o', 'json');
  // One more than is believed: a listing that was cut is none.
  const everything = ['--limit', String(SITE_JOBS_MAX + 1)];
  return {
    system: 'weft',
    variables: ['NODE_EXTRA_CA_CERTS', 'XDG_*'],
    jobs: { command: listing('jobs', ...everything), read: (output) => whole(readJobs(output)) },
    nodes: { command: listing('node', 'list'), read: readNodes },
    queues: { command: listing('partition', 'list'), read: readQueues },
    submit: (job) => ({ command: command(...submitWords(job)), read: readSubmitted }),
    named: (name) => named(listing('jobs', '--all', '--mine', `--name=${name}`), name),
    cancel: (job) => ({ command: command('kill', job), read: readCancelled }),
    end: (job) => ({ command: listing('job', job), read: readEndOf }),
    known: (job) => ({ command: listing('job', job), read: readKnown }),
    element: (array, index) => `${array}[${index}]`,
    setNode: (change) => [command(...switchWords(change))],
    steering: null,
  };
}

function whole<T>(read: Result<readonly T[], SiteProblem>): Result<readonly T[], SiteProblem> {
  if (!read.ok || read.value.length <= SITE_JOBS_MAX) return read;
  return unreadable('weft', `it has more than ${SITE_JOBS_MAX} jobs`);
}

/**
 * Started once: a second start by that cluster, after the loss of a node, would end at once with
 * code 0, because the first has the claim. The name is the key, too: the same submission is the
 * same job.
 */
function submitWords(job: SiteSubmission): string[] {
  const { name, queue, walltimeMs, memoryBytes } = job;
  return [
    ...['run', `--key=${name}`, `--name=${name}`, '--no-requeue', '--clean-env'],
    ...[`--nodes=${job.nodeCount}`, `--cpus=${job.cpuCount}`, `--chdir=${job.directory}`],
    ...[`--output=${job.stdout}`, `--error=${job.stderr}`],
    ...(queue === null ? [] : [`--partition=${queue}`]),
    ...(walltimeMs === null ? [] : [`--time=${walltimeMs}ms`]),
    ...(memoryBytes === null ? [] : [`--memory=${Math.ceil(memoryBytes / MIB)}M`]),
    ...job.options,
    // What the script has of variables and keys is its user's alone, and command lines are
    // everybody's.
    ...['--', '/bin/sh', job.scriptFile],
  ];
}

function readSubmitted(output: SiteOutput): Result<string, SiteProblem> {
  if (output.code !== 0) return failure(output);
  const [, id] = /^(\d+)\n?$/.exec(output.stdout) ?? [];
  return id === undefined ? unreadable('weft', 'its answer is no job id') : ok(id);
}

function named(command: SiteCommand, name: string): SiteQuery<readonly string[]> {
  return {
    command: { ...command, argv: [...command.argv, '--limit', String(NAMED_MAX)] },
    read(output) {
      const jobs = readJobs(output);
      if (!jobs.ok) return jobs;
      return ok(jobs.value.filter((job) => job.name === name).map(({ id }) => id));
    },
  };
}

function readCancelled(output: SiteOutput): Result<null, SiteProblem> {
  if (output.code === 0) return ok(null);
  if (hasNoJob(output) || isDone(output)) return siteProblem('no_such_job', output.stderr);
  return failure(output);
}

function readEndOf(output: SiteOutput): Result<SiteEnd | null, SiteProblem> {
  return hasNoJob(output) ? ok(null) : readEnd(output);
}

function readKnown(output: SiteOutput): Result<boolean, SiteProblem> {
  if (hasNoJob(output)) return ok(false);
  const read = readEnd(output);
  return read.ok ? ok(true) : read;
}

function switchWords(change: NodeSwitch): string[] {
  if (change.kind === 'restore') return ['node', 'undrain', change.node];
  return ['node', 'drain', change.node, `--reason=${change.reason}`];
}
