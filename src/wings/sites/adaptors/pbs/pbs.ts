// PBS Professional and OpenPBS, 19 or later, by its own commands. Its forms are read from documents
// and from its source, never from a real one: docs/sites/pbs.md.

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
import { namedIn, saidBy, siteProblem, unreadable } from '../read.ts';
import { failure, NO_SUCH_JOB } from './failure.ts';
import {
  endCommand,
  endsCommand,
  JOBS_COMMAND,
  readEnd,
  readEnds,
  readJobs,
  readPlannedJobs,
} from './jobs.ts';
import { NODES_COMMAND, QUEUES_COMMAND, readNodes, readQueues } from './nodes.ts';

/** Without the elements of arrays. */
const NAMED = { command: { argv: ['qstat', '-f', '-F', 'json'] }, read: readJobs };

export function pbs(steering: Steering | null): Adaptor {
  return {
    system: 'pbs',
    variables: ['PBS_*'],
    jobs: { command: JOBS_COMMAND, read: steering === null ? readJobs : readPlannedJobs },
    nodes: { command: NODES_COMMAND, read: readNodes },
    queues: { command: QUEUES_COMMAND, read: readQueues },
    submit,
    named: (name) => namedIn(NAMED, name),
    cancel: (job) => ({ command: { argv: ['qdel', job] }, read: readCancelled }),
    end: (job) => ({ command: endCommand(job), read: readEnd }),
    ends: (array) => ({ command: endsCommand(array), read: readEnds }),
    known,
    // `13[].server`, and `13[2].server`.
    element: (array, index) => array.replace(/^(\d+)(?:\[\])?/, `$1[${index}]`),
    setNode,
    steering,
  };
}

function submit(job: SiteSubmission): SiteQuery<string> {
  const { queue, account, walltimeMs, memoryBytes, nodeCount } = job;
  const memory = memoryBytes === null ? '' : `:mem=${Math.ceil(memoryBytes / 1024)}kb`;
  const argv = [
    ...['qsub', '-N', job.name, '-S', '/bin/sh', '-r', 'n', '-m', 'n'],
    ...['-o', job.stdout, '-e', job.stderr],
    ...['-l', `select=${nodeCount}:ncpus=${job.cpuCount}${memory}`],
    ...(nodeCount > 1 ? ['-l', 'place=scatter'] : []),
    ...(walltimeMs === null ? [] : ['-l', `walltime=${Math.ceil(walltimeMs / 1000)}`]),
    ...(queue === null ? [] : ['-q', queue]),
    ...(account === null ? [] : ['-A', account]),
    ...job.options,
  ];
  return { command: { argv, input: job.script }, read: readSubmitted };
}

/** `45.server`, of an array `48[].server`. */
function readSubmitted(output: SiteOutput): Result<string, SiteProblem> {
  if (output.code !== 0) return failure('qsub', output);
  const [, id] = /^(\d+(?:\[\])?\.\S+)$/m.exec(output.stdout) ?? [];
  return id === undefined ? unreadable('qsub', 'its answer has no job id') : ok(id);
}

/** Jobs in its history are told as finished. */
function known(job: string): SiteQuery<boolean> {
  return {
    command: { argv: ['qstat', '-f', '-F', 'json', job] },
    read(output) {
      if (output.code === 0) {
        const jobs = readJobs(output);
        return jobs.ok ? ok(true) : jobs;
      }
      const isNone = output.code !== null && NO_SUCH_JOB.test(saidBy(output));
      return isNone ? ok(false) : failure('qstat', output);
    },
  };
}

function readCancelled(output: SiteOutput): Result<null, SiteProblem> {
  if (output.code === 0) return ok(null);
  const words = saidBy(output);
  if (output.code !== null && NO_SUCH_JOB.test(words)) {
    return siteProblem('no_such_job', `qdel: ${words}`);
  }
  return failure('qdel', output);
}

/** Longer comments are refused. */
const COMMENT_MAX = 80;

function setNode(change: NodeSwitch): readonly SiteCommand[] {
  // Of a node of which nothing was said before, what we said goes.
  const reason = (change.reason ?? '').slice(0, COMMENT_MAX);
  if (change.kind === 'restore') {
    return [{ argv: ['pbsnodes', '-C', reason, '-r', change.node] }];
  }
  const comment = reason === '' ? [] : ['-C', reason];
  return [{ argv: ['pbsnodes', ...comment, '-o', change.node] }];
}
