// The books agree with what ran: each epoch that ran is recorded once, with the times at which it
// began and ended, and nothing runs over its time limit or after its task is done.

import type { HistoryTask } from '../../src/kernel/api/history.ts';
import { type Case, overlapMs, spanOf, type TaskCase } from './case.ts';
import type { Life, Span, Work } from './evidence.ts';
import { siteOf } from './site/evidence.ts';

/** Between an instant and the one in the books, while nothing is broken. */
const BOOKS_MS = 2000;
/** Until a node that is silent, or its lease, is given up. */
const SILENT_MS = 8000;
/** A site is asked twice a second, starts and ends in its own time, and says whole seconds. */
const SITE_MS = 4000;
const STILL_MS = 600;

export function judgeBooks(all: Case): void {
  for (const task of all.tasks.filter(({ isLost }) => !isLost)) {
    judgeRows(all, task);
    for (const [epoch, lives] of task.epochs) {
      const row = task.rows.find((one) => one.epoch === epoch);
      if (row !== undefined) judgeTimes(all, task, row, lives);
      else if (all.lossOf(lives) !== null) all.count('ran, its record was lost with the store');
      else all.violate('books', `${task.id}#${epoch} ran and is not recorded`);
      judgeLimit(all, task, lives);
    }
  }
}

function judgeRows(all: Case, { id, work, rows }: TaskCase): void {
  // What waits again when its reservation is over ends without a start, and without a record.
  const last = work.reservation === null ? rows.length - 1 : null;
  for (const [at, row] of rows.entries()) {
    const before = rows[at - 1];
    // A number that its node gave back without a start has no record (A39).
    const isNext = row.epoch === (before?.epoch ?? 0) + 1 || isPassedOver(work, before, row);
    if (!isNext && !isAfterLoss(all, before, row)) {
      all.violate('books', `${id}: record ${at + 1} is of #${row.epoch}`);
    }
    if (last !== null && row.final !== (at === last)) {
      all.violate('books', `${id}#${row.epoch} of ${rows.length}: final is ${row.final}`);
    }
  }
}

function isPassedOver({ arraySize }: Work, before: HistoryTask | undefined, row: HistoryTask) {
  return arraySize !== null && row.epoch > (before?.epoch ?? 0);
}

/** Records between them may be lost, and numbers are passed over then. */
function isAfterLoss(all: Case, before: HistoryTask | undefined, row: HistoryTask): boolean {
  if (row.epoch <= (before?.epoch ?? 0)) return false;
  const from = before?.startedAt ?? 0;
  return all.evidence.restores.some(
    ({ copiedAt, endedAt }) => from <= endedAt && copiedAt <= row.endedAt,
  );
}

function judgeTimes(all: Case, task: TaskCase, row: HistoryTask, lives: readonly Life[]): void {
  const ran = spanOf(lives);
  const name = `${task.id}#${row.epoch} ${row.outcome.kind}`;
  if (row.startedAt === null) {
    if (row.outcome.kind === 'completed') all.violate('books', `${name} ran and never began`);
    else all.count('ran, but its start was never reported');
    return;
  }
  const booked = { from: row.startedAt, until: row.endedAt };
  const early = ran.from - booked.from;
  const late = ran.until - booked.until;
  const seenUntil = Math.max(ran.until, ...stoodUntil(all, task, row, ran));
  const silentMs = row.outcome.kind === 'node_fail' ? SILENT_MS : 0;
  const bound =
    BOOKS_MS + silentMs + siteMs(row.nodes) + brokenMs(all, row.nodes, spanOf([booked, ran]));
  if (Math.abs(early) > bound) {
    all.violate('books', `${name} began at ${ran.from}, by the books ${-early} ms later`);
  }
  if (late <= bound && booked.until - seenUntil <= bound) return;
  const words = `${name} was last seen at ${ran.until}, it ended by the books at ${booked.until}`;
  if (late < 0) return all.violate('books', `${words}, on ${row.nodes.join(', ')}`);
  if (!row.final && task.work.onLoss !== 'wait') return all.count('an epoch ran on, unreachable');
  all.violate('ran on', words);
}

/** What stands still shows no sign of life: when its suspensions at the end of a run were over. */
function stoodUntil(all: Case, task: TaskCase, { epoch }: HistoryTask, ran: Span): number[] {
  return all.evidence.stops
    .filter((stop) => stop.task === task.id && stop.epoch === epoch)
    .filter(({ from, until }) => from <= ran.until + BOOKS_MS && until > ran.until)
    .map(({ until }) => until);
}

function siteMs(nodes: readonly string[]): number {
  return nodes.some((node) => siteOf(node) !== null) ? SITE_MS : 0;
}

/**
 * How long something of these nodes, or the head, was out in a time and just before, or all was
 * slow.
 */
function brokenMs(all: Case, nodes: readonly string[], span: Span): number {
  const around = { from: span.from - BOOKS_MS, until: span.until + BOOKS_MS };
  const stalls = all.evidence.stalls.filter((one) => overlapMs(one, around) > 0);
  const outages = [...all.outages([...nodes, 'head'], around), ...stalls];
  return outages.reduce((sum, one) => sum + one.until - one.from, 0);
}

function judgeLimit(all: Case, { id, work }: TaskCase, lives: readonly Life[]): void {
  for (const life of lives) {
    const slackMs = BOOKS_MS + siteMs([life.host]);
    const bound = work.limitMs + all.evidence.killGraceMs + slackMs;
    const ranMs = life.until - life.from - stoodMs(life);
    if (ranMs <= bound) continue;
    const out = all.outages([life.host], life).filter(({ parts }) => !parts.includes('network'));
    if (out.length > 0) all.count('ran over its limit, its agent or launcher was out');
    else {
      const words = `${id}#${life.epoch} on ${life.host} from ${life.from}: ${ranMs} ms`;
      all.violate('ran over its limit', `${words}, its limit is ${work.limitMs}`);
    }
  }
}

/** How long it stood still; what is shorter may be a busy machine. */
function stoodMs({ runs }: Life): number {
  const pauses = runs.slice(1).map((run, at) => run.from - (runs[at] as Span).until);
  return pauses.filter((ms) => ms > STILL_MS).reduce((sum, ms) => sum + ms, 0);
}
