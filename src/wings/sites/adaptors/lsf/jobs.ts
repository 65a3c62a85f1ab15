// Jobs as `bjobs -json` lists them, with those that have ended of late. Each element of an array is
// listed by itself; those that wait are told here as one set.

import { IntervalSet } from '../../../../kernel/base/interval-set.ts';
import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { ExitStatus } from '../../../../kernel/model/job.ts';
import type { SiteJob, SiteJobState } from '../../../../kernel/model/site.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { saidBy, unreadable } from '../read.ts';
import { countOf, type Fields, fieldOf, instantOf, recordsIn } from './records.ts';

const FIELDS = [
  ...['jobid', 'jobindex', 'job_name', 'user', 'stat', 'queue', 'submit_time', 'start_time'],
  ...['finish_time', 'exec_host', 'nalloc_slot', 'nreq_slot', 'runtimelimit', 'memlimit'],
  ...['exit_code', 'exit_reason', 'pend_reason'],
].join(' ');

export const YEAR = { LSB_DISPLAY_YEAR: 'Y' };

export const JOBS_COMMAND = {
  argv: ['bjobs', '-u', 'all', '-a', '-o', FIELDS, '-json'],
  environment: YEAR,
};

const STATES: Readonly<Record<string, SiteJobState>> = {
  PEND: 'waiting',
  WAIT: 'waiting',
  FWD_PEND: 'waiting',
  PSUSP: 'held',
  PROV: 'starting',
  RUN: 'running',
  USUSP: 'suspended',
  SSUSP: 'suspended',
  DONE: 'ended',
  EXIT: 'ended',
};

/** Said in the place of a listing, with one code or the other as lsf.conf has it. */
const NO_JOB = /^no (unfinished )?job found\.?$/i;
const NO_JOB_CODES: readonly (number | null)[] = [0, 255];

export function readJobs(output: SiteOutput): Result<readonly SiteJob[], SiteProblem> {
  if (NO_JOB_CODES.includes(output.code) && NO_JOB.test(saidBy(output))) return ok([]);
  const records = recordsIn('bjobs', 'JOBS', output);
  if (!records.ok) return records;
  const jobs = records.value.map(jobOf);
  const known = jobs.filter((job) => job !== null);
  if (known.length < jobs.length) {
    return unreadable('bjobs', 'a job has no JOBID, JOBINDEX, USER or STAT');
  }
  return ok(gathered(known));
}

interface Element {
  readonly job: SiteJob;
  /** Null when the job is no element. */
  readonly index: number | null;
}

/** Elements that wait are told by the first of them, held ones apart. */
function gathered(all: readonly Element[]): readonly SiteJob[] {
  const told: SiteJob[] = [];
  const waiting = new Map<string, { readonly first: SiteJob; readonly set: IntervalSet }>();
  for (const { job, index } of all) {
    if (index === null || (job.state !== 'waiting' && job.state !== 'held')) {
      told.push(job);
      continue;
    }
    const [id = job.id] = job.id.split('[');
    const kept = waiting.get(id) ?? { first: { ...job, id }, set: new IntervalSet() };
    kept.set.add(index);
    waiting.set(id, kept);
  }
  for (const { first, set } of waiting.values()) told.push({ ...first, elements: set.toString() });
  return told;
}

function jobOf(fields: Fields): Element | null {
  const number = countOf(fields, 'JOBID');
  const [owner, word] = [fieldOf(fields, 'USER'), fieldOf(fields, 'STAT')];
  if (number === null || owner === null || word === null) return null;
  if (fields.JOBINDEX === undefined) return null;
  const index = countOf(fields, 'JOBINDEX') || null;
  const state = STATES[word] ?? 'unknown';
  const hasNodes = state !== 'waiting' && state !== 'held';
  const nodes = hasNodes ? hostsIn(fieldOf(fields, 'EXEC_HOST') ?? '') : [];
  const startedAt = hasNodes ? instantOf(fieldOf(fields, 'START_TIME')) : null;
  const slots = countOf(fields, 'NALLOC_SLOT') || countOf(fields, 'NREQ_SLOT');
  const job: SiteJob = {
    id: index === null ? String(number) : `${number}[${index}]`,
    handle: null,
    name: nameOf(fields, index),
    owner,
    state,
    word,
    reason: fieldOf(fields, state === 'ended' ? 'EXIT_REASON' : 'PEND_REASON'),
    queue: fieldOf(fields, 'QUEUE'),
    elements: null,
    startedAt,
    submittedAt: instantOf(fieldOf(fields, 'SUBMIT_TIME')),
    // Of one that runs it is the end of its limit.
    endedAt: state === 'ended' ? instantOf(fieldOf(fields, 'FINISH_TIME')) : null,
    walltimeMs: minutesOf(fieldOf(fields, 'RUNTIMELIMIT')),
    nodeCount: Math.max(1, nodes.length),
    cpuCount: slots || null,
    memoryBytes: sizeOf(fieldOf(fields, 'MEMLIMIT')),
    isExclusive: false,
    nodes,
    exit: exitOf(word, fields, startedAt),
  };
  return { job, index };
}

/** An element's has its index behind it. */
function nameOf(fields: Fields, index: number | null): string {
  const name = fieldOf(fields, 'JOB_NAME') ?? '';
  const end = `[${index}]`;
  return index !== null && name.endsWith(end) ? name.slice(0, -end.length) : name;
}

/** `2*n1:n2`, or `n1:n1:n2`. */
function hostsIn(text: string): readonly string[] {
  const names = text.split(':').map((part) => part.replace(/^\d+\*/, ''));
  return [...new Set(names.filter((name) => /^\S+$/.test(name)))];
}

/** `1440.0`, or `1440.0/n1` where it is of that host's speed. */
function minutesOf(text: string | null): number | null {
  const [, minutes] = /^(\d{1,9}(?:\.\d+)?)(?:\/\S*)?$/.exec(text ?? '') ?? [];
  return minutes === undefined ? null : Math.round(Number(minutes) * 60_000) || null;
}

const UNITS: Readonly<Record<string, number>> = { K: 1, M: 2, G: 3, T: 4 };

/** `4 Gbytes`. */
function sizeOf(text: string | null): number | null {
  const [, count, unit = ''] = /^(\d{1,9}(?:\.\d+)?) ?([KMGT])/i.exec(text ?? '') ?? [];
  if (count === undefined) return null;
  return Math.round(Number(count) * 1024 ** (UNITS[unit.toUpperCase()] ?? 0));
}

/** From 129 on a signal, as a shell has it. A job that LSF ended before it began has no code. */
function exitOf(word: string, fields: Fields, startedAt: number | null): ExitStatus | null {
  if (word === 'DONE') return { code: 0 };
  const code = countOf(fields, 'EXIT_CODE');
  if (word !== 'EXIT' || startedAt === null || code === null || code === 0) return null;
  if (code > 128 && code <= 128 + 64) return { signal: code - 128 };
  return code <= 255 ? { code } : null;
}
