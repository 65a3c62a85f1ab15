// HTCondor, 10 or later, by its own commands. Its forms are read from documents and from its source,
// never from a real one: docs/sites/htcondor.md.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { Adaptor, NodeSwitch, SiteOutput, SiteProblem } from '../adaptor.ts';
import { namedIn, saidBy, siteProblem } from '../read.ts';
import { adsIn } from './ads.ts';
import { failure } from './failure.ts';
import { JOBS_WORDS, readEnd, readJobs } from './jobs.ts';
import { NODES_COMMAND, QUEUES_COMMAND, readNodes, readQueues } from './machines.ts';
import { submit } from './submit.ts';

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
