// Jobs as `oarstat -f -J` lists them. It prints nothing at all when there is none.

import { ok, type Result } from '../../core/base/result.ts';
import type { SiteJob, SiteJobState } from '../../core/model/site.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import {
  exitOfWaitStatus,
  instantOf,
  isRecord,
  parseJson,
  recordsOf,
  textOf,
  unreadable,
  wholeOf,
} from '../read.ts';
import { failure } from './failure.ts';

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
  if (output.code !== 0) return failure('oarstat', output);
  if (output.stdout.trim() === '') return ok([]);
  const document = parseJson(output.stdout);
  const listed = isRecord(document) ? recordsOf(Object.values(document)) : null;
  if (listed === null) return unreadable('oarstat', 'its answer is no JSON of jobs');
  const jobs = listed.map(jobOf);
  const known = jobs.filter((job) => job !== null);
  if (known.length === jobs.length) return ok(known);
  return unreadable('oarstat', 'a job has no Job_Id, owner or state');
}

function jobOf(listed: Readonly<Record<string, unknown>>): SiteJob | null {
  const number = wholeOf(listed.Job_Id);
  const [owner, word] = [textOf(listed.owner), textOf(listed.state)];
  if (number === null || owner === null || word === null) return null;
  const state = STATES[word] ?? 'unknown';
  const [seconds, status] = [wholeOf(listed.walltime), wholeOf(listed.exit_code)];
  const nodes = [...new Set(textsOf(listed.assigned_network_address))];
  const resources = Array.isArray(listed.assigned_resources) ? listed.assigned_resources.length : 0;
  const isEnded = state === 'ended';
  return {
    ...{ id: String(number), handle: null, name: textOf(listed.name) ?? '', owner, state, word },
    reason: isEnded ? endReason(listed.events) : null,
    queue: textOf(listed.queue),
    elements: null,
    submittedAt: instantOf(wholeOf(listed.submissionTime)),
    startedAt: instantOf(wholeOf(listed.startTime)),
    endedAt: isEnded ? instantOf(wholeOf(listed.stopTime)) : null,
    walltimeMs: seconds === null || seconds === 0 ? null : seconds * 1000,
    nodeCount: Math.max(1, nodes.length),
    cpuCount: resources === 0 ? null : resources,
    ...{ memoryBytes: null, isExclusive: false, nodes },
    exit: isEnded && status !== null ? exitOfWaitStatus(status) : null,
  };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** Events that every end has say nothing. */
const USUAL = /^(SWITCH_INTO_|SEND_KILL_JOB|CHECK_JOB_END)/;

function endReason(events: unknown): string | null {
  const types = (recordsOf(events) ?? []).flatMap((event) => textOf(event.type) ?? []);
  return types.filter((type) => !USUAL.test(type)).at(-1) ?? null;
}
