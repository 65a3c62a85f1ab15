// Jobs as `squeue --json` lists them: of 22.05, where numbers are numbers, and of later ones, where
// they are records that say whether they are set.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { ExitStatus } from '../../../../kernel/model/job.ts';
import type { SiteJob, SiteJobState } from '../../../../kernel/model/site.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { exitOfWaitStatus, instantOf, isRecord, nodesOf, textOf, unreadable } from '../read.ts';
import { isOursToRelease, noteIn } from './hold-mark.ts';
import { listOf } from './listing.ts';
import { numberOf, stringsOf } from './values.ts';
import { whereOf } from './where.ts';

const STATES: Readonly<Record<string, SiteJobState>> = {
  PENDING: 'waiting',
  CONFIGURING: 'starting',
  RUNNING: 'running',
  SUSPENDED: 'suspended',
  STOPPED: 'suspended',
  COMPLETING: 'completing',
  STAGE_OUT: 'completing',
  SIGNALING: 'running',
  RESIZING: 'running',
  REQUEUED: 'waiting',
  REQUEUE_FED: 'waiting',
  REQUEUE_HOLD: 'held',
  SPECIAL_EXIT: 'held',
  RESV_DEL_HOLD: 'held',
  COMPLETED: 'ended',
  CANCELLED: 'ended',
  FAILED: 'ended',
  TIMEOUT: 'ended',
  NODE_FAIL: 'ended',
  PREEMPTED: 'ended',
  BOOT_FAIL: 'ended',
  DEADLINE: 'ended',
  OUT_OF_MEMORY: 'ended',
  REVOKED: 'ended',
};

/** The word among several that says what the job still holds. */
const STRONGEST: readonly SiteJobState[] = ['completing', 'held', 'starting', 'suspended'];

/** Without the variable it cuts the elements of an array short after 64 characters: `1,3,6,...`. */
export const JOBS_COMMAND = {
  argv: ['squeue', '-a', '-t', 'all', '--json'],
  environment: { SLURM_BITSTR_LEN: '0' },
};

export function readJobs(output: SiteOutput): Result<readonly SiteJob[], SiteProblem> {
  return read(output, 'theirs');
}

/** With where they are to run, for a plan of ours. */
export function readPlannedJobs(output: SiteOutput): Result<readonly SiteJob[], SiteProblem> {
  return read(output, 'ours');
}

/** Whose plan starts what waits. */
type Planner = 'theirs' | 'ours';

function read(output: SiteOutput, plan: Planner): Result<readonly SiteJob[], SiteProblem> {
  const listed = listOf('squeue', 'jobs', output);
  if (!listed.ok) return listed;
  const jobs = jobsIn(listed.value, plan);
  return jobs === null ? unreadable('squeue', NO_NAMES) : ok(jobs);
}

type Listed = Readonly<Record<string, unknown>>;

/** Names of fields that no version lacked: a job that lacks one is not to be taken for none. */
export const NO_NAMES = 'a job has no job_id, array_job_id, array_task_id or user_name';

/** Returns null when it is no listing of a version that is known. */
export function jobsIn(
  listed: readonly Listed[],
  plan: Planner = 'theirs',
): readonly SiteJob[] | null {
  return listed.every(isNamed) ? listed.flatMap((job) => jobOf(job, plan)) : null;
}

function isNamed(listed: Listed): boolean {
  const isArrayWhole = 'array_job_id' in listed === 'array_task_id' in listed;
  return isArrayWhole && idOf(listed) !== null && 'user_name' in listed;
}

/** An account that is no more has no name: nobody's job is none of ours. */
function jobOf(listed: Listed, plan: Planner): SiteJob[] {
  const id = idOf(listed);
  const owner = textOf(listed.user_name);
  if (id === null || owner === null) return [];
  const words = stringsOf(listed.job_state);
  const reason = textOf(listed.state_reason);
  const minutes = numberOf(listed.time_limit);
  const memory = numberOf(listed.memory_per_node);
  const state = jobStateOf(words, blockOf(listed, reason));
  const endedAt = state === 'ended' ? instantOf(numberOf(listed.end_time)) : null;
  const nodes = nodesOf(textOf(listed.nodes));
  // A job that waits has the time planned for it, one that was cancelled before it began that of
  // its end: only what has had nodes has started.
  const hasStarted = nodes.length > 0 && state !== 'waiting' && state !== 'held';
  const startedAt = hasStarted ? instantOf(numberOf(listed.start_time)) : null;
  return [
    {
      id,
      owner,
      state,
      handle: null,
      name: textOf(listed.name) ?? '',
      word: words.join('+') || 'no state',
      reason: reasonOf(listed, { state, reason }),
      queue: textOf(listed.partition),
      elements: textOf(listed.array_task_string)?.replace(/%\d+$/, '') ?? null,
      submittedAt: instantOf(numberOf(listed.submit_time)),
      startedAt,
      endedAt,
      walltimeMs: minutes === null || minutes === 0 ? null : minutes * 60_000,
      nodeCount: numberOf(listed.node_count) || 1,
      cpuCount: numberOf(listed.cpus) || null,
      memoryBytes: memory === null ? null : memory * 1_048_576,
      isExclusive: stringsOf(listed.shared).some((word) => /^(none|exclusive)$/i.test(word)),
      nodes,
      exit: state === 'ended' && hasStarted ? exitStatusOf(words, listed.exit_code) : null,
      ...(plan === 'ours' ? placing(listed, state) : {}),
      ...noteIn(listed),
      ...(words.includes('CANCELLED') ? { isCancelled: true } : {}),
    },
  ];
}

/** What a job that waits wants of its nodes; one that wants what nobody plans is held for that. */
function placing(listed: Listed, state: SiteJobState): Pick<SiteJob, 'where'> & Partial<SiteJob> {
  if (state !== 'waiting' && state !== 'held') return {};
  const where = whereOf(listed, numberOf(listed.node_count) || 1);
  if (where === undefined) return {};
  if (typeof where !== 'string') return { where };
  return state === 'held' ? {} : { state: 'held', reason: where, isHeldByUs: true };
}

/** An element by its array and index, as users and all commands name it. */
function idOf(listed: Listed): string | null {
  const array = numberOf(listed.array_job_id) ?? 0;
  const index = numberOf(listed.array_task_id);
  if (array > 0 && index !== null) return `${array}_${index}`;
  const id = numberOf(listed.job_id);
  return id === null ? null : String(id);
}

/** A node that failed, and others that no program ended, leave code 0: that is no success. */
function exitStatusOf(words: readonly string[], code: unknown): ExitStatus | null {
  const exit = exitOf(code);
  return exit?.code === 0 && !words.includes('COMPLETED') ? null : exit;
}

/** A wait status; of later versions its parts. */
function exitOf(value: unknown): ExitStatus | null {
  if (!isRecord(value)) {
    const status = numberOf(value);
    return status === null ? null : exitOfWaitStatus(status);
  }
  const signal = isRecord(value.signal) ? (numberOf(value.signal.id) ?? 0) : 0;
  if (signal > 0) return { signal };
  const code = numberOf(value.return_code);
  return code === null ? null : { code };
}

/** What keeps it beside us: where we keep it, Slurm says only that, as `PartitionDown`. */
function reasonOf(
  listed: Listed,
  { state, reason }: { readonly state: SiteJobState; readonly reason: string | null },
): string | null {
  const dependency = textOf(listed.dependency) ?? '';
  const isSaid = BLOCKED.test(reason ?? '') && !isForUs(listed, reason);
  if (state === 'held' && dependency !== '' && !isSaid) return `Dependency ${dependency}`;
  return reason === 'None' ? null : reason;
}

/** With priority 0 it is held, by its user, by an operator, or so that we let it go. */
function isForUs(listed: Listed, reason: string | null): boolean {
  return /^JobHeld/.test(reason ?? '') && isOursToRelease(listed);
}

/** What keeps a job that waits from being started by anybody; null: nothing. */
function blockOf(listed: Listed, reason: string | null): string | null {
  const dependency = textOf(listed.dependency) ?? '';
  if (dependency !== '') return dependency;
  if (reason === null || !BLOCKED.test(reason)) return null;
  return isForUs(listed, reason) ? null : reason;
}

const BLOCKED = /^(JobHeld|BeginTime|Dependency)/;

function jobStateOf(words: readonly string[], block: string | null): SiteJobState {
  const states = words.map((word) => STATES[word] ?? 'unknown');
  const strongest = STRONGEST.find((state) => states.includes(state)) ?? states[0] ?? 'unknown';
  return strongest === 'waiting' && block !== null ? 'held' : strongest;
}
