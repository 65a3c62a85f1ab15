// One sentence about a task that has nodes and does not run as it should: its node is silent or
// paused, or it was suspended, by whom or to make room.

import { formatDuration } from '../../base/duration.ts';
import { formatInstant } from '../../base/instant.ts';
import { heldUp } from '../../machine/answers/held-up.ts';
import { type Silence, silenceOf } from '../../machine/answers/silence.ts';
import { type ShortNode, type StoppedTask, stoppedTask } from '../../machine/answers/stopped.ts';
import type { Job, Task } from '../../machine/jobs/facts.ts';
import { isAtSite } from '../../machine/tasks/shown-state.ts';
import { formatEpochId, formatTaskId } from '../../model/ids.ts';
import { LEASE_MARGIN_MS } from '../../model/limits.ts';
import { pauseWords } from '../../model/pause.ts';
import type { Engine } from '../engine.ts';
import { gpuNotice, gpuNoticeOfJob } from './gpu-notice.ts';
import { killedNotice } from './memory.ts';
import { sayAtSite, sayHang } from './words/at-site.ts';
import { sayHeldUp } from './words/held-up.ts';
import { sayWindow } from './words/reason.ts';

type NoticeSource = Pick<Engine, 'state' | 'now' | 'settings'> &
  Partial<Pick<Engine, 'startAtSite' | 'siteHang'>>;

/** Null: all is as it should be. */
export function taskNotice(known: NoticeSource, task: Task): string | null {
  return (
    silenceNotice(known, task) ??
    hangNotice(known, task) ??
    siteNotice(known, task) ??
    stillNotice(known, task) ??
    keepingNotice(known.state, task) ??
    killedNotice(known.state, task) ??
    gpuNotice(known.state, task) ??
    wingNotice(known.state, task) ??
    owedNotice(known, task)
  );
}

export function jobNotice(known: NoticeSource, job: Job): string | null {
  const trouble = jobTrouble(known, job);
  if (trouble !== null) return trouble;
  for (const task of job.active.values()) {
    const notice = suspendedNotice(task);
    if (notice !== null) return notice;
  }
  return null;
}

/** Notice of what nobody asked for: not of tasks that a user or a maintenance has suspended. */
export function jobTrouble(known: NoticeSource, job: Job): string | null {
  for (const task of job.active.values()) {
    const notice =
      silenceNotice(known, task) ??
      hangNotice(known, task) ??
      (job.active.size === 1 ? siteNotice(known, task) : null);
    if (notice !== null) return notice;
  }
  for (const task of keptUp(known.state, job)) {
    const notice = keepingNotice(known.state, task);
    if (notice !== null) return notice;
  }
  for (const task of known.state.scratch.memory.hasKills ? job.active.values() : []) {
    const notice = killedNotice(known.state, task);
    if (notice !== null) return notice;
  }
  const ofGpus = gpuNoticeOfJob(known.state, job);
  if (ofGpus !== null) return ofGpus;
  for (const task of known.state.scratch.taskNotices.size > 0 ? job.active.values() : []) {
    const notice = wingNotice(known.state, task);
    if (notice !== null) return notice;
  }
  for (const task of job.active.values()) {
    const notice = owedNotice(known, task);
    if (notice !== null) return notice;
  }
  // Looked for among the stopped ones: an array may have very many tasks.
  for (const task of known.state.indexes.preempted) {
    const notice = task.job === job ? stillNotice(known, task) : null;
    if (notice !== null) return notice;
  }
  return null;
}

/** Tasks to look at for what cannot be kept: mostly none. */
function keptUp({ scratch }: NoticeSource['state'], job: Job): Iterable<Task> {
  return scratch.keepingTrouble.size === 0 ? [] : job.active.values();
}

/** The node tries again until there is room. */
function keepingNotice({ scratch }: NoticeSource['state'], task: Task): string | null {
  const trouble = scratch.keepingTrouble.get(formatEpochId(task.id, task.epoch));
  if (trouble === undefined) return null;
  const left = [...task.parts.values()].filter(({ state }) => state !== 'ended');
  const where = left.map(({ share }) => share.node).join(', ');
  return `Its output files wait for room on the head: ${trouble} Until then they stay on ${where}.`;
}

/** Sentence of a wing; where a task waits at its site, it is part of the reason. */
function wingNotice({ scratch }: NoticeSource['state'], task: Task): string | null {
  if (isAtSite(task)) return null;
  return scratch.taskNotices.get(formatEpochId(task.id, task.epoch)) ?? null;
}

function silenceNotice(known: NoticeSource, task: Task): string | null {
  const silence = silenceOf(known.state, task);
  return silence === null ? null : saySilence(known, silence);
}

/** What keeps its node from what it was told to do, and for how long it has owed a word. */
function owedNotice(known: NoticeSource, task: Task): string | null {
  const words = [faultNotice(known.state, task), heldUpNotice(known, task)];
  return words.filter((one) => one !== null).join(' ') || null;
}

function faultNotice({ nodes }: NoticeSource['state'], task: Task): string | null {
  for (const [name, { state }] of task.parts) {
    const isOwed = state === 'ordered' || (task.ending !== null && state !== 'ended');
    const fault = isOwed ? (nodes.get(name)?.fault ?? null) : null;
    if (fault !== null) return `Node ${name} takes no new work: ${fault}.`;
  }
  return null;
}

function heldUpNotice(known: NoticeSource, task: Task): string | null {
  const held = heldUp(known.state, known.settings, task, known.now());
  if (held === null) return null;
  const start = known.startAtSite?.(task);
  return sayHeldUp(held, start === undefined ? null : sayAtSite(start.site, start));
}

/** Nobody knows how it stands at its site now: what is shown of it is old. */
function hangNotice(known: NoticeSource, task: Task): string | null {
  const hang = known.siteHang?.(task);
  return hang === undefined ? null : sayHang(hang);
}

/** What the site says of a task that it was told to begin and has not begun. */
function siteNotice(known: NoticeSource, task: Task): string | null {
  if (task.state !== 'starting' || isAtSite(task)) return null;
  const start = known.startAtSite?.(task);
  if (start === undefined) return null;
  const undone = wingNotice(known.state, task);
  return `Site ${sayAtSite(start.site, start)}.${undone === null ? '' : ` ${undone}`}`;
}

/** Notice of every stop but a pause: a user's lasts also when there is room again. */
function stillNotice(known: NoticeSource, task: Task): string | null {
  const words = [suspendedNotice(task), stoppedNotice(known, task)];
  return words.filter((one) => one !== null).join(' ') || null;
}

/** Names of those who have suspended it, and how it goes on; of a pause its node tells. */
function suspendedNotice({ id, job, stops, ending }: Task): string | null {
  if (ending !== null || stops.size === 0) return null;
  const it = job.spec.array === null ? 'it' : `task ${id}`;
  const words = [...stops].map(([stopper, by]) => {
    if (stopper === 'owner')
      return `${by} has suspended ${it}: \`weft resume ${id}\` lets it go on.`;
    if (!stopper.startsWith('maintenance ')) return '';
    const what = stopper.replace(/^m/, 'M');
    return `${what} has suspended ${it}; it goes on when that is over.`;
  });
  return words.filter((one) => one !== '').join(' ') || null;
}

function stoppedNotice(known: NoticeSource, task: Task): string | null {
  const stopped = stoppedTask(known.state, task, known.now());
  if (stopped === null) return null;
  const { job, index } = task;
  const isOne = job.spec.array === null;
  return sayStopped(isOne ? 'It' : `Task ${formatTaskId(job.id, index)}`, stopped);
}

/** What is said of a task whose nodes are silent or paused: since when, and what comes next. */
function saySilence(known: NoticeSource, silence: Silence): string {
  const { kind, node } = silence;
  if (kind === 'paused') {
    return `Node ${node} is ${pauseWords(silence.pause)}; the task resumes when that ends.`;
  }
  if (kind === 'silent') {
    const since = silence.since === null ? 'the head started' : formatInstant(silence.since);
    return `Node ${node} has been silent since ${since}; the task is assumed to run on there.`;
  }
  const since = formatInstant(silence.since);
  return `Node ${node} has been unreachable since ${since}; ${next(known, silence)}`;
}

function next(
  known: Pick<NoticeSource, 'now' | 'settings'>,
  { node, since, spec, isCancelled }: Extract<Silence, { kind: 'unreachable' }>,
): string {
  const goesOn = spec.requeue ? 'is started again' : 'ends as node_fail';
  const then = isCancelled ? 'ends as cancelled' : goesOn;
  const { onNodeLoss } = spec;
  if (onNodeLoss.kind === 'requeue') return `the task ${then}.`;
  if (onNodeLoss.kind === 'lease') {
    const lease = formatDuration(onNodeLoss.leaseMs);
    const { nodeTimeoutMs, killGraceMs } = known.settings;
    const at = since - nodeTimeoutMs + onNodeLoss.leaseMs + killGraceMs + LEASE_MARGIN_MS;
    // A head that was started meanwhile counts the silence anew.
    const about = at > known.now() ? `, about ${formatInstant(at)}` : '';
    return `the task ${then} when the lease of ${lease} and the kill grace have passed${about}.`;
  }
  const otherwise = isCancelled
    ? 'the task, which was cancelled, ends when the node is back or'
    : `the task continues when the node is back; it ${then} only`;
  return (
    `${otherwise} on proof that its processes are gone: a restart of the node, or \`weft node lost ${node}\` by an operator. ` +
    "An operator's `weft cancel` ends it at once."
  );
}

/** Lists of nodes and of jobs end here. */
const NAMES_MAX = 3;

/** `who`: `It`, or a task of an array by its id. */
function sayStopped(who: string, { preempted, waitsFor }: StoppedTask): string {
  return `${who} was ${preempted}. ${sayWait(waitsFor)}`;
}

function sayWait(waitsFor: StoppedTask['waitsFor']): string {
  switch (waitsFor.kind) {
    case 'maintenance':
      return `It resumes after the maintenance of ${waitsFor.node}.`;
    case 'cpus': {
      const { cpuCount, nodes } = waitsFor;
      const words = nodes.slice(0, NAMES_MAX).map((node) => sayLack(node, cpuCount));
      return `It resumes when ${words.join(' and ')}${nodes.length > NAMES_MAX ? ' and so on' : ''}.`;
    }
    case 'window':
      return `There is room, but ${sayWindow(waitsFor.reason)}.`;
    default:
      return 'There is room: it resumes unless a higher tier takes that.';
  }
}

/** `n1 has 2 cpus free (0 now; used by job 3)`. */
function sayLack({ name, cpusFree, jobs }: ShortNode, cpuCount: number): string {
  const some = jobs.slice(0, NAMES_MAX).join(', ');
  const users =
    jobs.length === 0
      ? ''
      : `; used by ${jobs.length === 1 ? 'job' : 'jobs'} ${some}${jobs.length > NAMES_MAX ? ', …' : ''}`;
  return `${name} has ${cpuCount} cpus free (${cpusFree} now${users})`;
}
