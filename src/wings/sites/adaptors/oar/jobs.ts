// Jobs as `oarstat -f -J` lists them. It prints nothing at all when there is none.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteJob, SiteJobState } from '../../../../kernel/model/site.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import {
  clockOf,
  exitOfWaitStatus,
  instantOf,
  isRecord,
  parseJson,
  recordsOf,
  textOf,
  unreadable,
  wholeIn,
  wholeOf,
} from '../read.ts';
import { failure } from './failure.ts';
import { whereOf } from './where.ts';

/** @param condition SQL over the table of jobs */
export function jobsCommand(condition: string) {
  return { argv: ['oarstat', '-f', '-J', '--sql', condition] };
}

const STATES: Readonly<Record<string, SiteJobState>> = {
  Waiting: 'waiting',
  Hold: 'held',
  toAckReservation: 'waiting',
  toLaunch: 'starting',
  Launching: 'starting',
  Running: 'running',
  Suspended: 'suspended',
  Resuming: 'suspended',
  Finishing: 'completing',
  toError: 'completing',
  Terminated: 'ended',
  Error: 'ended',
};

export function readJobs(output: SiteOutput): Result<readonly SiteJob[], SiteProblem> {
  return read(output, () => undefined);
}

/** With where they are to run, for a plan of ours. */
export function readPlannedJobs(output: SiteOutput): Result<readonly SiteJob[], SiteProblem> {
  return read(output, whereOf);
}

function read(output: SiteOutput, place: typeof whereOf): Result<readonly SiteJob[], SiteProblem> {
  if (output.code !== 0) return failure('oarstat', output);
  if (output.stdout.trim() === '') return ok([]);
  const document = parseJson(output.stdout);
  const listed = isRecord(document) ? recordsOf(Object.values(document)) : null;
  if (listed === null) return unreadable('oarstat', 'its answer is no JSON of jobs');
  const jobs = listed.map(jobOf);
  const known = jobs.filter((job) => job !== null);
  if (known.length !== jobs.length) {
    return unreadable('oarstat', 'a job has no Job_Id, owner or state');
  }
  const unfinished = new Set(known.filter(({ state }) => state !== 'ended').map(({ id }) => id));
  return ok(known.map((job, at) => kept(job, listed[at] ?? {}, { unfinished, place })));
}

type Listed = Readonly<Record<string, unknown>>;

/**
 * A waiting job that is not for us to start: one behind another job; one with a reservation, which
 * OAR starts at its time, also with its queues off; and one that says of where it runs what no plan
 * of ours has.
 */
function kept(
  job: SiteJob,
  listed: Listed,
  {
    unfinished,
    place,
  }: { readonly unfinished: ReadonlySet<string>; readonly place: typeof whereOf },
): SiteJob {
  if (job.state !== 'waiting') return job;
  const held = (reason: string): SiteJob => ({ ...job, state: 'held', reason });
  const behind = Array.isArray(listed.dependencies) ? listed.dependencies.map(String) : [];
  const before = behind.filter((id) => unfinished.has(id));
  if (before.length > 0) return held(`it waits for job ${before.join(', ')} (oarsub -a)`);
  const reservation = textOf(listed.reservation) ?? 'None';
  if (reservation !== 'None') return held('OAR itself starts it at its time (oarsub -r)');
  const where = place(listed);
  if (where === undefined) return job;
  return typeof where === 'string' ? held(where) : { ...job, where };
}

function jobOf(listed: Listed): SiteJob | null {
  const number = wholeOf(listed.Job_Id);
  const [owner, word] = [textOf(listed.owner), textOf(listed.state)];
  if (number === null || owner === null || word === null) return null;
  const state = STATES[word] ?? 'unknown';
  const wants = wantsOf(listed);
  const seconds = wholeOf(listed.walltime);
  const nodes = [...new Set(textsOf(listed.assigned_network_address))];
  const resources = Array.isArray(listed.assigned_resources) ? listed.assigned_resources.length : 0;
  const isEnded = state === 'ended';
  return {
    id: String(number),
    handle: null,
    name: textOf(listed.name) ?? '',
    owner,
    state,
    word,
    reason: isEnded ? endReason(listed.events) : null,
    queue: textOf(listed.queue),
    elements: null,
    submittedAt: instantOf(wholeOf(listed.submissionTime)),
    startedAt: instantOf(wholeOf(listed.startTime)),
    endedAt: isEnded ? instantOf(wholeOf(listed.stopTime)) : null,
    walltimeMs: (seconds === null ? wants.walltimeMs : seconds * 1000) || null,
    nodeCount: nodes.length === 0 ? wants.nodeCount : nodes.length,
    cpuCount: resources === 0 ? wants.cpuCount : resources,
    memoryBytes: null,
    isExclusive: false,
    nodes,
    exit: isEnded ? exitOf(listed) : null,
  };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** What it asks for in the first alternative, and how many cores OAR has counted for that. */
function wantsOf(listed: Listed): {
  readonly nodeCount: number;
  readonly cpuCount: number | null;
  readonly walltimeMs: number | null;
} {
  const [first = ''] = (textOf(listed.wanted_resources) ?? '').split(/" (?=-l )/);
  const [, nodes = '1'] = /\/(?:network_address|host)=(\d+)/.exec(first) ?? [];
  const [, clock = ''] = /walltime=(\d+:\d+:\d+)/.exec(first) ?? [];
  const [, cores] = /^R=(\d+),/.exec(textOf(listed.message) ?? '') ?? [];
  return {
    nodeCount: wholeIn(nodes) || 1,
    cpuCount: wholeIn(cores) || null,
    walltimeMs: clockOf(clock),
  };
}

/** Events that every end has say nothing. */
const USUAL = /^(SWITCH_INTO_|SEND_KILL_JOB|CHECK_JOB_END)/;

function eventTypes(events: unknown): string[] {
  return (recordsOf(events) ?? []).flatMap((event) => textOf(event.type) ?? []);
}

function endReason(events: unknown): string | null {
  return eventTypes(events).findLast((type) => !USUAL.test(type)) ?? null;
}

const SIGKILL = 9;

/**
 * OAR keeps no exit code of what it has killed (a job deleted or past its limit), but that its node
 * has said so. What it calls exterminated has ended without a word of the node.
 */
function exitOf({ exit_code: status, events }: Listed): SiteJob['exit'] {
  const known = wholeOf(status);
  if (known !== null) return exitOfWaitStatus(known);
  const types = eventTypes(events);
  const isKilled = ['SEND_KILL_JOB', 'SWITCH_INTO_ERROR_STATE'].every((one) => types.includes(one));
  return isKilled && !types.includes('EXTERMINATE_JOB') ? { signal: SIGKILL } : null;
}
