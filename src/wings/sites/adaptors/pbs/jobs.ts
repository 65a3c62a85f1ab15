// Jobs as `qstat -f -F json` lists them: with -t, elements of arrays beside their arrays.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { ExitStatus } from '../../../../kernel/model/job.ts';
import type { SiteEnd, SiteJob, SiteJobState } from '../../../../kernel/model/site.ts';
import { elementOf } from '../../model/site-elements.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { clockOf, elementsOf, instantOfCtime, saidBy, unreadable } from '../read.ts';
import { NO_SUCH_JOB } from './failure.ts';
import { noteIn, othersNote } from './note.ts';
import { bytesOf, countOf, type Listed, partOf, recordsIn, wordOf } from './values.ts';
import { type Placing, placingOf } from './where.ts';

export const JOBS_COMMAND = { argv: ['qstat', '-t', '-f', '-F', 'json'] };

/** With the history, where the server keeps one. */
export function endCommand(job: string) {
  return { argv: ['qstat', '-x', '-f', '-F', 'json', job] };
}

const STATES: Readonly<Record<string, SiteJobState>> = {
  Q: 'waiting',
  H: 'held',
  // Until its time has come; whoever starts it all the same is not kept from it.
  W: 'held',
  T: 'waiting',
  R: 'running',
  S: 'suspended',
  U: 'suspended',
  E: 'completing',
  F: 'ended',
  X: 'ended',
  // An array of which an element has begun; what is listed of it here are those that have not.
  B: 'waiting',
};

export function readJobs(output: SiteOutput): Result<readonly SiteJob[], SiteProblem> {
  return read(output, () => null);
}

/** With where they are to run, for a plan of ours. */
export function readPlannedJobs(output: SiteOutput): Result<readonly SiteJob[], SiteProblem> {
  return read(output, placingOf);
}

function read(
  output: SiteOutput,
  place: (listed: Listed) => Placing | null,
): Result<readonly SiteJob[], SiteProblem> {
  const listed = recordsIn('qstat', 'Jobs', output);
  if (!listed.ok) return listed;
  const jobs: SiteJob[] = [];
  for (const [id, record] of listed.value) {
    const job = jobOf(id, record, place);
    if (job === null) return unreadable('qstat', `job ${id} has no Job_Owner and job_state`);
    if (!isTold(job)) continue;
    jobs.push(job);
  }
  return ok(jobs);
}

/** An element that waits is in the set of its array, and an array without such is its elements. */
function isTold({ id, state, elements }: SiteJob): boolean {
  if (id.includes('[]')) return elements !== null;
  return !id.includes('[') || (state !== 'waiting' && state !== 'held');
}

function jobOf(
  id: string,
  listed: Listed,
  place: (listed: Listed) => Placing | null,
): SiteJob | null {
  const [owner] = (wordOf(listed.Job_Owner) ?? '').split('@');
  const word = wordOf(listed.job_state);
  if (owner === undefined || !/^\S+$/.test(owner) || word === null) return null;
  const state = STATES[word] ?? 'unknown';
  const wants = partOf(listed.Resource_List) ?? {};
  const nodes = nodesIn(wordOf(listed.exec_host) ?? '');
  const isBegun = state !== 'waiting' && state !== 'held';
  const placing = isBegun ? null : place(listed);
  const wanted = placing?.nodeCount ?? countOf(wants.nodect) ?? 1;
  const nodeCount = Math.max(1, nodes.length || wanted);
  const memory = bytesOf(wordOf(wants.mem));
  const remaining = wordOf(listed.array_indices_remaining);
  return {
    id,
    handle: null,
    name: wordOf(listed.Job_Name) ?? '',
    owner,
    state,
    word,
    reason: reasonOf(listed),
    queue: wordOf(listed.queue),
    elements: id.includes('[]') && remaining !== null ? elementsOf(remaining) : null,
    submittedAt: instantOfCtime(wordOf(listed.ctime)),
    startedAt: isBegun ? instantOfCtime(wordOf(listed.stime)) : null,
    endedAt: state === 'ended' ? endedAtOf(listed) : null,
    walltimeMs: clockOf(wordOf(wants.walltime) ?? '') || null,
    nodeCount,
    cpuCount: countOf(wants.ncpus) || null,
    memoryBytes: memory === null ? null : Math.floor(memory / nodeCount),
    isExclusive: /\bexcl/.test(wordOf(wants.place) ?? ''),
    nodes: isBegun ? nodes : [],
    exit: state === 'ended' ? exitOf(listed.Exit_status) : null,
    ...(placing === null
      ? {}
      : { ...placed(placing, state), ...othersNote(wordOf(listed.comment)) }),
  };
}

/** One that wants what nobody plans is held for that. */
function placed(placing: Placing | null, state: SiteJobState): Partial<SiteJob> {
  const where = placing?.where;
  if (where === undefined) return {};
  if (typeof where !== 'string') return { where };
  return state === 'held' ? {} : { state: 'held', reason: where, isHeldByUs: true };
}

/** What we have written there is no word of PBS. */
function reasonOf(listed: Listed): string | null {
  const comment = wordOf(listed.comment);
  if (noteIn(comment) === null && comment !== null) return comment;
  const time = wordOf(listed.Execution_Time);
  return listed.job_state === 'W' && time !== null ? `until ${time} (qsub -a)` : null;
}

/** `n1/0*2+n2/1`. */
function nodesIn(text: string): readonly string[] {
  const names = text.split('+').map((part) => part.replace(/\/.*$/, ''));
  return [...new Set(names.filter((name) => /^\S+$/.test(name)))];
}

/** Servers before 20 do not say when the job ended, but when they last had to do with it. */
function endedAtOf(listed: Listed): number | null {
  return instantOfCtime(wordOf(listed.obittime)) ?? instantOfCtime(wordOf(listed.mtime));
}

/** Limits for which pbs_mom ends a job (JOB_EXEC_KILL_…): cpus twice, vmem, mem, cput, walltime. */
const KILLED_FROM = -29;
const KILLED_TO = -24;
const KILL = 9;

/**
 * From 256 on a signal; below 0 what kept the job from running, which is no end of a program, or
 * the limit for which it was killed.
 */
function exitOf(value: unknown): ExitStatus | null {
  const text = wordOf(value) ?? '';
  if (!/^-?\d{1,4}$/.test(text)) return null;
  const status = Number(text);
  if (status >= 256) {
    const signal = status - 256;
    return signal >= 1 && signal <= 64 ? { signal } : null;
  }
  if (status >= 0) return { code: status };
  return status >= KILLED_FROM && status <= KILLED_TO ? { signal: KILL } : null;
}

/** A job that was deleted before it began has no status. */
export function readEnd(output: SiteOutput): Result<SiteEnd | null, SiteProblem> {
  const jobs = readPast(output);
  if (!jobs.ok) return jobs;
  const [job] = jobs.value;
  return ok(job === undefined ? null : endOf(job));
}

/** With the elements of the array. */
export function endsCommand(array: string) {
  return { argv: ['qstat', '-x', '-t', '-f', '-F', 'json', array] };
}

/** Ends of the elements that have ended by themselves. */
export function readEnds(output: SiteOutput): Result<ReadonlyMap<number, SiteEnd>, SiteProblem> {
  const jobs = readPast(output);
  if (!jobs.ok) return jobs;
  const ends = new Map<number, SiteEnd>();
  for (const job of jobs.value) {
    const index = elementOf(job.id)?.index;
    const end = endOf(job);
    if (index !== undefined && end !== null) ends.set(index, end);
  }
  return ok(ends);
}

function readPast(output: SiteOutput): Result<readonly SiteJob[], SiteProblem> {
  const isNone = output.code !== 0 && output.code !== null && NO_SUCH_JOB.test(saidBy(output));
  return isNone ? ok([]) : readJobs(output);
}

function endOf({ startedAt, endedAt, exit, reason }: SiteJob): SiteEnd | null {
  if (endedAt === null || exit === null) return null;
  return { startedAt, endedAt, exit, reason: exit.signal === undefined ? null : reason };
}
