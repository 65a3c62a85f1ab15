// How Slurm is steered: by an execution partition that only an administrator can use, or by a
// plugin that holds what has not been started yet. Both take its built-in scheduler for the start
// itself, in order of arrival, over jobs of which only those may run that we have let go.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteQueue } from '../../../../kernel/model/site.ts';
import type {
  NotePlace,
  Requirement,
  SiteOutput,
  SiteProblem,
  Steering,
  Suspension,
} from '../adaptor.ts';
import { siteProblem } from '../read.ts';
import { areMarked, MARK, NOTE_START } from './hold-mark.ts';
import { JOBS_COMMAND } from './jobs.ts';
import { failure, NO_SUCH_JOB } from './listing.ts';
import { QUEUES_COMMAND, readQueues } from './nodes.ts';

export interface SlurmQueues {
  /** Where users submit to; down. */
  readonly main: string;
  /** Where jobs run; up, and closed to users by the plugin for submissions. */
  readonly execution: string;
}

export function executionQueue({ main, execution }: SlurmQueues): Steering {
  return {
    takeover: 'execution_queue',
    needsHandle: false,
    execution,
    requirements: [
      builtInScheduler,
      submitPlugin,
      {
        what: `partition ${main} is down and ${execution} is up`,
        query: { command: QUEUES_COMMAND, read: (output) => areSet(output, { main, execution }) },
        remedy: `scontrol update partitionname=${main} state=down; scontrol update partitionname=${execution} state=up`,
      },
      {
        what: `no other partition that has nodes of ${main} or ${execution} is up`,
        query: { command: QUEUES_COMMAND, read: (output) => areAlone(output, { main, execution }) },
        remedy:
          `scontrol update partitionname=NAME state=down for each other one that is up (sinfo -a): its jobs` +
          ` are planned on its nodes, and moved to ${execution}`,
      },
    ],
    start: ({ id }, nodes) => [
      // A requeued job would stay in the execution partition and start again by itself.
      update(id, [`Partition=${execution}`, ...placeOn(nodes), 'Requeue=0']),
    ],
    read: readStart,
    takeBack: (job) => {
      const queue = job.queue === undefined || job.queue === execution ? main : job.queue;
      return [update(job.id, [`Partition=${queue}`, ...freed(job)])];
    },
    notes: administratorsComment(''),
    suspension: byController,
  };
}

export function disabledScheduler(): Steering {
  return {
    takeover: 'disabled_scheduler',
    needsHandle: false,
    requirements: [builtInScheduler, submitPlugin, heldForUs],
    start: ({ id }, nodes) => [
      // A requeued job would start again by itself.
      update(id, [...placeOn(nodes), 'Requeue=0']),
      { argv: ['scontrol', 'release', id] },
    ],
    read: readStart,
    takeBack: (job) => [
      { argv: ['scontrol', 'hold', job.id] },
      ...(freed(job).length === 0 ? [] : [update(job.id, freed(job))]),
    ],
    notes: administratorsComment(MARK),
    suspension: byController,
  };
}

/** For operators only, as the moves of jobs are that steering needs. */
const byController: Suspension = {
  stopsLimit: true,
  isForOwners: false,
  suspend: (job) => [{ argv: ['scontrol', 'suspend', job] }],
  resume: (job) => [{ argv: ['scontrol', 'resume', job] }],
};

/**
 * A job's own comment is its user's.
 * @param free what stands there as long as we say nothing
 */
function administratorsComment(free: string): NotePlace {
  return {
    write: (job, words) => [
      update(job, [`AdminComment=${words === null ? free : NOTE_START + words}`]),
    ],
  };
}

function readStart(output: SiteOutput, program: string): Result<null, SiteProblem> {
  if (output.code === 0) return ok(null);
  if (NO_SUCH_JOB.test(output.stderr)) return siteProblem('no_such_job', output.stderr);
  return failure(program, output);
}

function update(job: string, fields: readonly string[]) {
  return { argv: ['scontrol', 'update', `jobid=${job}`, ...fields] };
}

function placeOn(nodes: readonly string[]): string[] {
  return [`NumNodes=${nodes.length}-${nodes.length}`, `ReqNodeList=${nodes.join(',')}`];
}

/** The nodes of a start that did not take are not its user's wish, where that had none. */
function freed({ isPinned }: { readonly isPinned?: boolean }): string[] {
  return isPinned === false ? ['ReqNodeList='] : [];
}

const CONFIG_COMMAND = { argv: ['scontrol', 'show', 'config'] };

const builtInScheduler: Requirement = {
  what: 'the scheduler is sched/builtin, without backfill',
  query: {
    command: CONFIG_COMMAND,
    read: (output) => says(output, 'SchedulerType', 'sched/builtin'),
  },
  remedy: 'set SchedulerType=sched/builtin in slurm.conf and restart slurmctld',
};

const submitPlugin: Requirement = {
  what: 'a plugin keeps jobs of users from starting (job_submit/lua)',
  query: { command: CONFIG_COMMAND, read: (output) => says(output, 'JobSubmitPlugins', 'lua') },
  remedy: 'set JobSubmitPlugins=lua in slurm.conf; docs/sites/slurm.md has the script',
};

const heldForUs: Requirement = {
  what: "each job is held by the plugin, with 'weft' as its AdminComment",
  query: { command: JOBS_COMMAND, read: areMarked },
  remedy:
    'take the script for disabled_scheduler in docs/sites/slurm.md; each job from before it (squeue -O jobid,admin_comment): ' +
    'scontrol update jobid=JOB AdminComment=weft, and scontrol hold JOB where it waits',
};

/** `Name = a,b` with this word among them. */
function says(output: SiteOutput, name: string, word: string): Result<boolean, SiteProblem> {
  if (output.code !== 0) return failure('scontrol', output);
  const line = output.stdout.split('\n').find((one) => one.startsWith(`${name} `));
  const [, value = ''] = /=\s*(.*)$/.exec(line ?? '') ?? [];
  return ok(value.trim().split(',').includes(word));
}

/** What another partition starts by itself is on nodes that we give to others. */
function areAlone(output: SiteOutput, names: SlurmQueues): Result<boolean, SiteProblem> {
  const queues = readQueues(output);
  if (!queues.ok) return queues;
  const isOwn = ({ name }: SiteQueue) => name === names.main || name === names.execution;
  const own = new Set(queues.value.filter(isOwn).flatMap(({ nodes }) => nodes));
  return ok(
    queues.value.every((queue) => {
      return isOwn(queue) || !queue.isStarted || !queue.nodes.some((node) => own.has(node));
    }),
  );
}

function areSet(output: SiteOutput, names: SlurmQueues): Result<boolean, SiteProblem> {
  const queues = readQueues(output);
  if (!queues.ok) return queues;
  const of = (name: string) => queues.value.find((queue) => queue.name === name);
  return ok(of(names.main)?.isStarted === false && of(names.execution)?.isStarted === true);
}
