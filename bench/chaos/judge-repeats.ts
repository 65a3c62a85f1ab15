// Nothing runs twice: no epoch is started again, no two epochs of a `wait` or `lease` task live at
// once, and one follows another only for a reason.

import type { HistoryTask } from '../../src/kernel/api/history.ts';
import { type Case, isWhole, overlapMs, spanOf, type TaskCase } from './case.ts';
import type { Life, Span } from './evidence.ts';

/** From the end of a process to its report, on a busy machine. */
const LATE_MS = 500;
/** The detail of a start that was taken back, as the head words it. */
const TAKEN_BACK = 'its order came late';
/** The same of one that made room for what the head has lost. */
const REQUEUED = 'requeued; by whom was lost';
/** The same of one that a node was told to end, the head having moved on. */
const REPLACED = /^(a newer epoch has replaced it|replaced by epoch \d+)$/;

export function judgeRepeats(all: Case): void {
  for (const task of all.tasks) {
    for (const lives of task.epochs.values()) judgeEpoch(all, task, lives);
    judgeOverlaps(all, task);
    if (!task.isLost) judgeReruns(all, task);
  }
}

function judgeEpoch(all: Case, task: TaskCase, lives: readonly Life[]): void {
  const seen = new Map<string, Life>();
  for (const life of lives) {
    const place = `${life.nodeRank}.${life.rank}`;
    const other = seen.get(place);
    seen.set(place, life);
    if (other === undefined) continue;
    const where = `on ${other.host} at ${other.from}, on ${life.host} at ${life.from}`;
    all.violate('started twice', `${task.id}#${life.epoch} rank ${place}: ${where}`);
  }
}

function judgeOverlaps(all: Case, task: TaskCase): void {
  const lives = [...task.epochs.values()].flat();
  const seen = new Set<string>();
  for (const a of lives) {
    for (const b of lives) {
      const pair = `${a.epoch} ${b.epoch}`;
      if (a.epoch >= b.epoch || overlapMs(a, b) < 0 || seen.has(pair)) continue;
      seen.add(pair);
      judgeOverlap(all, task, a, b);
    }
  }
}

function judgeOverlap(all: Case, { id, work }: TaskCase, a: Life, b: Life): void {
  if (work.onLoss === 'requeue') return all.count('epochs of a requeue task at once');
  if (work.onLoss === 'lease' && bothOut(all, a, { from: a.from, until: b.from })) {
    return all.count('lease tasks at once, agent and launcher out');
  }
  if (wasLostAndOut(all, a, b)) return all.count('twice at once: start lost, its node was out');
  const first = `#${a.epoch} on ${a.host} from ${a.from} to ${a.until}`;
  const second = `#${b.epoch} on ${b.host} from ${b.from} to ${b.until}`;
  all.violate('twice at once', `${work.onLoss} task ${id}: ${first}; ${second}`);
}

/** At some instant neither agent nor launcher of its host was there to end it. */
function bothOut(all: Case, life: Life, span: Span): boolean {
  const out = all.outages([life.host], span);
  const agents = out.filter(({ parts }) => parts.includes('agent'));
  const launchers = out.filter(({ parts }) => parts.includes('launcher'));
  return agents.some((a) => launchers.some((b) => overlapMs(a, b) >= 0));
}

/** The head lost the record of its start, and could not hear of it from the node that has it. */
function wasLostAndOut(all: Case, a: Life, b: Life): boolean {
  const restore = all.lossOf([a]);
  if (restore === null || b.from < restore.putBackAt) return false;
  return all.outages([a.host], { from: restore.putBackAt, until: b.from }).length > 0;
}

function judgeReruns(all: Case, task: TaskCase): void {
  const epochs = [...task.epochs].sort(([a], [b]) => a - b);
  for (const [at, [epoch, lives]] of epochs.slice(0, -1).entries()) {
    const next = epochs[at + 1]?.[1] ?? [];
    const row = task.rows.find((one) => one.epoch === epoch);
    judgeRerun(all, task, { epoch, lives, row, nextFrom: spanOf(next).from });
  }
}

interface Rerun {
  readonly epoch: number;
  readonly lives: readonly Life[];
  readonly row: HistoryTask | undefined;
  readonly nextFrom: number;
}

function judgeRerun(all: Case, task: TaskCase, { epoch, lives, row, nextFrom }: Rerun): void {
  const { id, work } = task;
  const hosts = new Set([...lives.map((life) => life.host), ...(row?.nodes ?? [])]);
  const between = { from: spanOf(lives).from, until: nextFrom };
  const whole = isWhole(work, lives) && work.exitCode === 0;
  const what = whole ? 'done twice' : 'begun again';
  if (work.onLoss === 'requeue') return all.count(`${what}: requeue`);
  if (row === undefined && all.lossOf(lives) !== null) {
    return all.count(`${what}: its start was lost with the store`);
  }
  // It was told to end by a head that has lost why; the word of its order is what is left.
  const said = row?.outcome.detail ?? '';
  const wasTold = said.startsWith(REQUEUED) || REPLACED.test(said);
  if (row !== undefined && wasTold && all.lossAt(row.endedAt) !== null) {
    return all.count(`${what}: why it was requeued was lost with the store`);
  }
  if ([...hosts].some((host) => all.nodeOf(host) !== host)) {
    return all.count(`${what}: a clone that was the node is gone`);
  }
  if (all.lostLauncher(hosts, between)) {
    return all.count(`${what}: ${work.onLoss}, launcher or power lost`);
  }
  if (row?.outcome.detail?.startsWith('preempted by') === true) {
    if (!whole) return all.count('begun again: it made room');
    // Exit code 0 of what was told to end does not say that its work is done.
    const lateMs = row.endedAt - spanOf(lives).until;
    if (lateMs < all.evidence.killGraceMs + LATE_MS || all.launcherOut(hosts, between)) {
      return all.count('done twice: it ended while it was to make room');
    }
  }
  // One of its nodes came back late, and the job may be requeued to keep a reservation free.
  if (work.requeue && row?.outcome.detail?.startsWith(TAKEN_BACK) === true) {
    return all.count(`${what}: one of its nodes was late for a reservation`);
  }
  if (work.exitCode !== 0 && row?.outcome.kind === 'failed') return all.count('begun again: retry');
  if (work.onLoss === 'lease' && all.outages([...hosts, 'head'], between).length > 0) {
    return all.count(`${what}: lease over`);
  }
  const words = row === undefined ? 'no record' : `${row.outcome.kind}, ${row.outcome.detail}`;
  const where = `on ${[...hosts].join(', ')} from ${between.from}`;
  all.violate('run again', `${work.onLoss} task ${id}: #${epoch} ${where} was ${what}: ${words}`);
}
