// Jobs as `condor_q -json` lists them, and as `condor_history -json` remembers them. A process of a
// cluster is a job of its own; its name is that of its batch.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { ExitStatus } from '../../../../kernel/model/job.ts';
import type { SiteEnd, SiteJob, SiteJobState } from '../../../../kernel/model/site.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { instantOf, unreadable, wholeOf } from '../read.ts';
import { type Ad, adsIn, machinesIn, wordOf } from './ads.ts';

const ATTRIBUTES = [
  ...['ClusterId', 'ProcId', 'Owner', 'JobStatus', 'JobBatchName', 'HoldReason', 'RemoveReason'],
  ...['QDate', 'JobCurrentStartDate', 'CompletionDate', 'EnteredCurrentStatus', 'RemoteHost'],
  ...[
    'LastRemoteHost',
    'AllRemoteHosts',
    'RequestCpus',
    'RequestMemory',
    'MaxHosts',
    'AllowedJobDuration',
  ],
  ...['ExitBySignal', 'ExitCode', 'ExitSignal'],
].join(',');

export const JOBS_WORDS = ['-json', '-attributes', ATTRIBUTES];

const MIB = 1_048_576;

const STATES: Readonly<Record<number, readonly [SiteJobState, string]>> = {
  1: ['waiting', 'Idle'],
  2: ['running', 'Running'],
  3: ['completing', 'Removed'],
  4: ['ended', 'Completed'],
  5: ['held', 'Held'],
  6: ['completing', 'Transferring Output'],
  7: ['suspended', 'Suspended'],
};

/** Numbers of the two that end it. */
const REMOVED = 3;
const COMPLETED = 4;

export function readJobs(
  program: string,
  output: SiteOutput,
): Result<readonly SiteJob[], SiteProblem> {
  const ads = adsIn(program, output);
  if (!ads.ok) return ads;
  const jobs = ads.value.map(jobOf);
  const known = jobs.filter((job) => job !== null);
  if (known.length === jobs.length) return ok(known);
  return unreadable(program, 'a job has no ClusterId, ProcId, Owner or JobStatus');
}

function jobOf(ad: Ad): SiteJob | null {
  const [cluster, proc, status] = [ad.ClusterId, ad.ProcId, ad.JobStatus].map(wholeOf);
  const owner = wordOf(ad.Owner);
  if (cluster == null || proc == null || status == null || owner === null) return null;
  const [state, word] = STATES[status] ?? ['unknown', `JobStatus ${status}`];
  const hasNodes = state === 'running' || state === 'suspended' || state === 'completing';
  const all = machinesIn(wordOf(ad.AllRemoteHosts));
  const nodes = all.length > 0 ? all : machinesIn(hostOf(ad, state));
  const hasBegun = hasNodes || state === 'ended';
  const nodeCount = Math.max(1, nodes.length, hasNodes ? 1 : (wholeOf(ad.MaxHosts) ?? 1));
  const memory = wholeOf(ad.RequestMemory);
  const cpus = wholeOf(ad.RequestCpus);
  const seconds = wholeOf(ad.AllowedJobDuration) || null;
  return {
    id: `${cluster}.${proc}`,
    handle: null,
    name: wordOf(ad.JobBatchName) ?? '',
    owner,
    state,
    word,
    queue: null,
    elements: null,
    reason: wordOf(ad.HoldReason) ?? wordOf(ad.RemoveReason),
    submittedAt: instantOf(wholeOf(ad.QDate)),
    startedAt: hasBegun ? instantOf(wholeOf(ad.JobCurrentStartDate)) : null,
    endedAt: state === 'ended' ? endedAtOf(ad) : null,
    walltimeMs: seconds === null ? null : seconds * 1000,
    nodeCount,
    cpuCount: wholeOf((cpus ?? 0) * nodeCount) || null,
    memoryBytes: memory === null ? null : memory * MIB,
    isExclusive: false,
    nodes: hasBegun ? nodes : [],
    exit: state === 'ended' ? exitOf(ad) : null,
  };
}

function hostOf(ad: Ad, state: SiteJobState): string | null {
  return wordOf(ad.RemoteHost) ?? (state === 'ended' ? wordOf(ad.LastRemoteHost) : null);
}

function endedAtOf(ad: Ad): number | null {
  return instantOf(wholeOf(ad.CompletionDate)) ?? instantOf(wholeOf(ad.EnteredCurrentStatus));
}

function exitOf(ad: Ad): ExitStatus | null {
  const [code, signal] = [wholeOf(ad.ExitCode), wholeOf(ad.ExitSignal)];
  if (ad.ExitBySignal === true)
    return signal !== null && signal >= 1 && signal <= 64 ? { signal } : null;
  return ad.ExitBySignal === false && code !== null && code <= 255 ? { code } : null;
}

const KILL = 9;

/** A job removed after it began has been killed; one that was removed before has no end. */
export function readEnd(output: SiteOutput): Result<SiteEnd | null, SiteProblem> {
  const ads = adsIn('condor_history', output);
  if (!ads.ok) return ads;
  const [ad] = ads.value;
  if (ad === undefined) return ok(null);
  const [status, endedAt] = [wholeOf(ad.JobStatus), endedAtOf(ad)];
  const startedAt = instantOf(wholeOf(ad.JobCurrentStartDate));
  if (status === null || endedAt === null) {
    return unreadable('condor_history', 'a record has no JobStatus and CompletionDate');
  }
  if (status === REMOVED && startedAt !== null) {
    const reason = wordOf(ad.RemoveReason) ?? 'removed';
    return ok({ startedAt, endedAt, exit: { signal: KILL }, reason });
  }
  const exit = status === COMPLETED ? exitOf(ad) : null;
  return ok(exit === null ? null : { startedAt, endedAt, exit, reason: null });
}
