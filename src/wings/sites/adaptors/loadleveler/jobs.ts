// Job steps as jobs. Each step of a job is one of its own.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteJob, SiteJobState } from '../../../../kernel/model/site.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { exitOfWaitStatus, unreadable } from '../read.ts';
import { type Step, stepsIn } from './steps.ts';

export const JOBS_COMMAND = { argv: ['llq', '-l'] };

const STATES: Readonly<Record<string, SiteJobState>> = {
  Idle: 'waiting',
  Deferred: 'waiting',
  NotQueued: 'waiting',
  'Not Queued': 'waiting',
  Vacated: 'waiting',
  'User Hold': 'held',
  'System Hold': 'held',
  'User & System Hold': 'held',
  'System User Hold': 'held',
  Pending: 'starting',
  Starting: 'starting',
  Running: 'running',
  Checkpointing: 'running',
  Preempted: 'suspended',
  'Preempt Pending': 'suspended',
  'Resume Pending': 'suspended',
  'Complete Pending': 'completing',
  'Remove Pending': 'completing',
  'Reject Pending': 'completing',
  'Vacate Pending': 'completing',
  Completed: 'ended',
  Removed: 'ended',
  Canceled: 'ended',
  Terminated: 'ended',
  'Not Run': 'ended',
};

export function readJobs(output: SiteOutput): Result<readonly SiteJob[], SiteProblem> {
  const steps = stepsIn(output);
  if (!steps.ok) return steps;
  const jobs = steps.value.map(jobOf);
  const known = jobs.filter((job) => job !== null);
  if (known.length === jobs.length) return ok(known);
  return unreadable('llq', 'a job step has no Owner or Status');
}

function jobOf({ id, fields, hosts }: Step): SiteJob | null {
  const [owner, word] = [textOf(fields, 'Owner'), textOf(fields, 'Status')];
  if (owner === null || word === null) return null;
  const state = STATES[word] ?? 'unknown';
  const isEnded = state === 'ended';
  const hasBegun = state !== 'waiting' && state !== 'held';
  const dispatched = hasBegun ? instantOf(textOf(fields, 'Dispatch Time')) : null;
  const wanted = countOf(fields, 'Node minimum');
  return {
    id,
    handle: null,
    name: textOf(fields, 'Job Name') ?? '',
    owner,
    state,
    word,
    reason: textOf(fields, 'Negotiator Messages'),
    queue: textOf(fields, 'Class'),
    elements: null,
    submittedAt: instantOf(textOf(fields, 'Queue Date')),
    startedAt: dispatched,
    endedAt: isEnded ? instantOf(textOf(fields, 'Completion Date')) : null,
    walltimeMs: secondsOf(textOf(fields, 'Wall Clk Hard Limit')),
    nodeCount: Math.max(1, hosts.length || (wanted ?? 1)),
    cpuCount: countOf(fields, 'Step Cpus') || null,
    memoryBytes: null,
    nodes: hasBegun ? hosts : [],
    isExclusive: /^not[_ ]shared/i.test(textOf(fields, 'Node Usage') ?? ''),
    exit: isEnded && dispatched !== null ? exitOf(word, textOf(fields, 'Completion Code')) : null,
  };
}

function textOf(fields: Step['fields'], name: string): string | null {
  return fields.get(name) || null;
}

function countOf(fields: Step['fields'], name: string): number | null {
  const text = textOf(fields, name);
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : null;
}

/** `Tue Nov  3 18:05:09 UTC 2026`; of another zone than that of the command, TZ=UTC, none is known. */
function instantOf(text: string | null): number | null {
  const [, day, year] =
    /^\w{3} (\w{3} [ \d]?\d \d\d:\d\d:\d\d) (?:UTC|GMT) (\d{4})$/.exec(text ?? '') ?? [];
  const at = day === undefined ? Number.NaN : Date.parse(`${day} ${year} UTC`);
  return Number.isNaN(at) ? null : at;
}

/** `00:01:00 (60 seconds)`. */
function secondsOf(text: string | null): number | null {
  const [, seconds] = /\((\d{1,9}) seconds\)$/.exec(text ?? '') ?? [];
  return seconds === undefined ? null : Number(seconds) * 1000 || null;
}

/** A wait status. Whoever was ended has not completed, though the status may be 0. */
function exitOf(word: string, text: string | null): SiteJob['exit'] {
  if (text === null || !/^\d{1,5}$/.test(text)) return null;
  const exit = exitOfWaitStatus(Number(text));
  return exit.code === 0 && word !== 'Completed' ? null : exit;
}
