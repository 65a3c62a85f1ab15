// What owners ask of their jobs: cancel, hold, release, suspend, resume, requeue, signal.

import { IntervalSet } from '../../base/interval-set.ts';
import { ok, type Result } from '../../base/result.ts';
import { isWhole } from '../../base/whole.ts';
import { type Actor, hasRole } from '../../model/actor.ts';
import type { Refusal } from '../../model/errors.ts';
import { formatTaskId, type JobId, type NodeName, type TaskPlace } from '../../model/ids.ts';
import type { TaskState } from '../../model/job.ts';
import type { SiteSkills } from '../../model/site.ts';
import { nameOf, ownJob } from '../authority.ts';
import { waitingOf, waitingSize } from '../jobs/behind.ts';
import type { Job, Task } from '../jobs/facts.ts';
import { placeOf } from '../jobs/place.ts';
import { siteOf } from '../nodes/members.ts';
import type { State } from '../state.ts';
import type { Answer, Step } from '../step.ts';
import { askCancel } from './cancel.ts';
import type { CancelTask, RequeueTask, SignalTask } from './commands.ts';
import { abandonEpoch, endPending } from './ending.ts';
import { isNext, isStoring, shownState } from './shown-state.ts';
import { limitOf } from './time-limit.ts';
import { cancelOutcome } from './verdict.ts';

/**
 * Tasks that wait end at once; tasks that hold resources end when their processes have and what
 * they leave is kept. Cancelled while it is kept, that has the kill grace to end; once more, none.
 */
export function decideCancel(
  step: Step,
  { place: whole, because, closes }: Pick<CancelTask, 'place' | 'because' | 'closes'>,
  actor: Actor,
): Answer {
  const found = targets(step, whole, actor);
  if (!found.ok) return found;
  const { job, waiting, holding } = found.value;
  const by = nameOf(actor);
  for (const task of holding) {
    const cancelled = task.ending?.kind === 'cancel' ? task.ending : null;
    if (cancelled === null || (isStoring(task) && !cancelled.discards)) {
      const why = { ...(because === undefined ? {} : { because }), ...(closes ? { closes } : {}) };
      askCancel(step, task, { by, ...why, ...(cancelled?.hastens ? { discards: true } : {}) });
    }
    if (hasRole(actor, 'operator') && waitsForDead(step, task)) {
      abandonEpoch(step, task, `cancelled by ${by}`);
    }
  }
  const ended = cancelOutcome({ by, ...(closes ? { closes } : {}) });
  if (waiting.size > 0) endPending(step, job, waiting, ended);
  return ok({ kind: 'changed', count: waiting.size + holding.length });
}

/** Nobody can end it: what may be left of it is ended when its nodes come back (N8). */
function waitsForDead({ state }: Step, { parts }: Task): boolean {
  const open = [...parts.values()].filter((part) => part.state !== 'ended');
  const isDead = (name: NodeName): boolean => {
    const node = state.nodes.get(name);
    // What runs at a site goes on without its gateway.
    return node !== undefined && node.unreachableSince !== null && node.facts?.site === undefined;
  };
  return open.length > 0 && open.every(({ share }) => isDead(share.node));
}

export function decideSignal(step: Step, command: SignalTask, actor: Actor): Answer {
  const { place, signal, to } = command;
  if (!isWhole(signal, 1, 64)) {
    return step.refuse('argument.invalid', { what: `${signal} is not a signal number (1-64)` });
  }
  const found = targets(step, place, actor);
  if (!found.ok) return found;
  const { job, holding } = found.value;
  const running = holding.filter((task) => SIGNALLED.has(task.state) && !isStoring(task));
  if (running.length === 0) return notRunning(step, found.value, place);
  const refused = refuseAtSite(step, running, (task) => {
    return atSites(step.state, task).every((one) => one?.signals) ? null : 'passes no signals on';
  });
  if (refused !== null) return refused;
  for (const task of running) {
    const by = nameOf(actor);
    const asked = { kind: 'signal_asked', place: placeOf(job, task.index), signal, by } as const;
    step.emit(to === undefined ? asked : { ...asked, to });
  }
  return ok({ kind: 'changed', count: running.length });
}

/** Null when it can be done for all. Else none is touched: none is counted for nothing. */
function refuseAtSite(
  step: Step,
  tasks: readonly Task[],
  lackOf: (task: Task) => string | null,
  hint?: string,
): Answer | null {
  for (const task of tasks) {
    const site = siteOf(step.state, task);
    const lack = site === null ? null : lackOf(task);
    if (site === null || lack === null) continue;
    const { foreign, array } = task.job.spec;
    const job = formatTaskId(task.job.id, array === null ? null : task.index);
    const there = foreign === undefined ? '' : `, job ${foreign.job} there`;
    return step.refuse('job.at_site', { job: `${job}${there}`, site, lack }, hint);
  }
  return null;
}

/** What the sites of its nodes do for us; null: nothing, as far as their gateways have said. */
function atSites({ nodes }: State, { parts }: Task): (SiteSkills | null)[] {
  return [...parts.keys()].map((name) => nodes.get(name)?.facts?.siteSkills ?? null);
}

function whyNotSuspended(state: State, task: Task): string | null {
  const ways = atSites(state, task).map((one) => one?.suspends ?? null);
  if (ways.includes(null)) return 'suspends no jobs';
  const goesOn = limitOf(task) !== null && ways.includes('unlimited');
  return goesOn ? 'suspends no jobs that have a time limit, as it goes on there,' : null;
}

const SIGNALLED: ReadonlySet<TaskState> = new Set(['running', 'suspended']);

/** Only what still waits can be held; running tasks go on. */
export function decideHold(step: Step, jobId: JobId, actor: Actor): Answer {
  const found = targets(step, { jobId, index: null }, actor);
  if (!found.ok) return found;
  const { job, waiting, holding } = found.value;
  const count = waiting.size + holding.filter(isNext).length;
  if (count === 0) {
    const state = holding[0]?.state ?? 'running';
    return step.refuse('job.not_pending', { job: String(jobId), state });
  }
  if (!job.held) step.emit({ kind: 'job_held', jobId, by: nameOf(actor) });
  return ok({ kind: 'changed', count });
}

export function decideRelease(step: Step, jobId: JobId, actor: Actor): Answer {
  const found = targets(step, { jobId, index: null }, actor);
  if (!found.ok) return found;
  const { job } = found.value;
  const heldTasks = [...job.active.values()].filter((task) => task.heldBecause !== null);
  if (!job.held && heldTasks.length === 0) {
    return step.refuse('job.not_held', { job: String(jobId) });
  }
  step.emit({ kind: 'job_released', jobId, by: nameOf(actor) });
  return ok({ kind: 'changed', count: Math.max(heldTasks.length, waitingSize(job)) });
}

const SUSPENDABLE: ReadonlySet<TaskState> = new Set(['starting', 'running', 'suspended']);

/** Also where another keeps it stopped: when that one lets go, the owner's stop stays. */
export function decideSuspend(step: Step, place: TaskPlace, actor: Actor): Answer {
  const found = targets(step, place, actor);
  if (!found.ok) return found;
  const { job, holding } = found.value;
  const alive = holding.filter((task) => {
    return SUSPENDABLE.has(task.state) && !isStoring(task) && !isNext(task);
  });
  if (alive.length === 0) return notRunning(step, found.value, place);
  const refused = refuseAtSite(step, alive, (task) => whyNotSuspended(step.state, task));
  if (refused !== null) return refused;
  const fresh = alive.filter((task) => !task.stops.has('owner'));
  for (const task of fresh) {
    const by = nameOf(actor);
    const own = placeOf(job, task.index);
    step.emit({ kind: 'suspend_asked', place: own, by, stopper: 'owner' });
  }
  return ok({ kind: 'changed', count: fresh.length });
}

export function decideResume(step: Step, place: TaskPlace, actor: Actor): Answer {
  const found = targets(step, place, actor);
  if (!found.ok) return found;
  const { job, holding } = found.value;
  const suspended = holding.filter((task) => task.stops.has('owner'));
  if (suspended.length === 0) return resumeOthers(step, found.value, { place, actor });
  for (const task of suspended) {
    const by = nameOf(actor);
    const own = placeOf(job, task.index);
    step.emit({ kind: 'resume_asked', place: own, by, stopper: 'owner' });
  }
  return ok({ kind: 'changed', count: suspended.length });
}

/** What a site's operators suspended goes on where the site lets the asker do that. */
function resumeOthers(
  step: Step,
  { job, holding }: Targets,
  { place, actor }: { readonly place: TaskPlace; readonly actor: Actor },
): Answer {
  const tasks = holding.filter((task) => isStoppedThere(step.state, task));
  if (tasks.length === 0) {
    const text = formatTaskId(place.jobId, place.index);
    return step.refuse('job.not_suspended', { job: text }, whyStopped(holding));
  }
  const refused = refuseAtSite(step, tasks, (task) => whyNotResumed(step.state, task, actor), ASK);
  if (refused !== null) return refused;
  for (const task of tasks) {
    const own = placeOf(job, task.index);
    step.emit({
      kind: 'resume_asked',
      place: own,
      by: nameOf(actor),
      stopper: 'owner',
      isOthers: true,
    });
  }
  return ok({ kind: 'changed', count: tasks.length });
}

const ASK = 'It was suspended there; ask the operators of the site to let it go on.';

function isStoppedThere(state: State, task: Task): boolean {
  if (task.stops.size > 0 || siteOf(state, task) === null) return false;
  return [...task.parts.values()].some((part) => part.state === 'suspended');
}

function whyNotResumed(state: State, task: Task, actor: Actor): string | null {
  const skills = atSites(state, task);
  if (skills.some((one) => (one?.suspends ?? null) === null)) return 'resumes no jobs';
  if (hasRole(actor, 'operator') || skills.every((one) => one?.ownersResume)) return null;
  return 'lets only its operators resume what was suspended there, none of its users,';
}

/** What keeps them stopped though their owner does not. */
function whyStopped(tasks: readonly Task[]): string | undefined {
  for (const { stops } of tasks) {
    for (const [stopper, why] of stops) {
      if (stopper === 'scheduler') return `It was ${why}; it resumes when there is room.`;
      return `It is suspended for ${why}; it resumes when that ends.`;
    }
  }
  return undefined;
}

export function decideRequeue(
  step: Step,
  { place, because, holds }: Omit<RequeueTask, 'kind'>,
  actor: Actor,
): Answer {
  const found = targets(step, place, actor);
  if (!found.ok) return found;
  const { job, holding } = found.value;
  const running = holding.filter((task) => task.ending === null && !isNext(task));
  if (running.length === 0) return notRunning(step, found.value, place);
  for (const task of running) {
    const by = nameOf(actor);
    const asked = {
      kind: 'end_asked',
      place: placeOf(job, task.index),
      why: 'requeue',
      by,
    } as const;
    const wish = because === undefined ? asked : { ...asked, because };
    step.emit(holds === true ? { ...wish, holds } : wish);
  }
  return ok({ kind: 'changed', count: running.length });
}

interface Targets {
  readonly job: Job;
  /** Indices that wait and hold nothing. */
  readonly waiting: IntervalSet;
  readonly holding: readonly Task[];
}

/** The tasks meant by `42` or `42[7]`; refused when there is none left to act on. */
function targets(step: Step, place: TaskPlace, actor: Actor): Result<Targets, Refusal> {
  const owned = ownJob(step, place.jobId, actor);
  if (!owned.ok) return owned;
  const job = owned.value;
  const text = formatTaskId(place.jobId, place.index);
  const waiting = waitingOf(job);
  for (const task of job.active.values()) if (task.heldBecause !== null) waiting.add(task.index);
  let holding = [...job.active.values()].filter((task) => task.parts.size > 0);
  if (place.index === null) {
    if (job.outcome === null) return ok({ job, waiting, holding });
    return step.refuse('job.already_done', { job: text, outcome: job.outcome.kind });
  }
  const { index } = place;
  const ended = [...job.ended].find(([, indices]) => indices.has(index));
  if (ended !== undefined) return step.refuse('job.already_done', { job: text, outcome: ended[0] });
  holding = holding.filter((task) => task.index === index);
  const waits = waiting.has(index);
  if (job.spec.array === null || (!waits && holding.length === 0)) {
    return step.refuse('job.not_found', { job: text });
  }
  return ok({ job, waiting: IntervalSet.of(waits ? [[index, index]] : []), holding });
}

function notRunning(step: Step, { holding }: Targets, place: TaskPlace): Answer {
  const [first] = holding;
  const state = first === undefined ? 'pending' : shownState(first);
  return step.refuse('job.not_running', { job: formatTaskId(place.jobId, place.index), state });
}
