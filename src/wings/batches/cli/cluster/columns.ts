// Batches and their jobs, for tables and for people.

import { plural } from '../../../../kernel/base/plural.ts';
import { quoteWord } from '../../../../kernel/base/shell-word.ts';
import { keptWords } from '../../../../kernel/cli/output/kept.ts';
import { type Titled, titledLines } from '../../../../kernel/cli/output/one.ts';
import { colourOf } from '../../../../kernel/cli/output/paint.ts';
import { byOwnClock } from '../../../../kernel/cli/output/prose.ts';
import type { Column } from '../../../../kernel/cli/output/table.ts';
import { instantColumn, spanColumn } from '../../../../kernel/cli/output/times.ts';
import { formatExit, formatInstant } from '../../../../kernel/cli/output/words.ts';
import { endCounts } from '../../../../kernel/cli/progress/end-counts.ts';
import { outsideIn } from '../../../../kernel/files/outside.ts';
import type { BatchDetail, BatchJobView, BatchView } from '../../api/batches.ts';

export function batchColumns(now: number): Column<BatchView>[] {
  return [
    { title: 'BATCH', value: ({ title }) => title, least: 12 },
    { title: 'USER', value: ({ owner }) => owner, least: 8 },
    { title: 'STATE', value: stateWords, colour: colourOf },
    { title: 'JOBS', value: doneWords, align: 'right' },
    { title: 'FAILED', value: (batch) => String(failedCount(batch)), align: 'right' },
    { title: 'RUNNING', value: (batch) => String(runningCount(batch)), align: 'right' },
    spanColumn('TIME', ({ createdAt, endedAt }) => ({ from: createdAt, until: endedAt }), { now }),
    instantColumn('SUBMITTED', ({ createdAt }) => createdAt, { now, wide: true }),
    { title: 'AFTER', value: ({ after }) => after.join(', ') || '-', wide: true },
  ];
}

export function batchJobColumns(now: number): Column<BatchJobView>[] {
  return [
    { title: 'NAME', value: ({ name }) => name, least: 8 },
    { title: 'JOB', value: ({ id }) => id, align: 'right' },
    { title: 'STATE', value: ({ state, outcome }) => outcome ?? state, colour: colourOf },
    spanColumn('TIME', ({ startedAt, endedAt }) => ({ from: startedAt, until: endedAt }), { now }),
    { title: 'NODE', value: ({ nodes }) => nodes.join(',') || '-', least: 6 },
    { title: 'STARTS', value: ({ epoch }) => String(epoch), align: 'right', wide: true },
    { title: 'REMARK', value: remark, least: 12 },
  ];
}

export function batchLines(batch: BatchDetail, now: number): string[] {
  const { title, owner, after, createdAt, endedAt, jobIds, failedBuilds, outputs } = batch;
  const notified = (batch.notifications ?? []).map(({ words }) => byOwnClock(words, now));
  const lines: Titled[] = [
    ['Batch', title],
    ['User', owner],
    ['State', stateWords(batch), colourOf(stateWords(batch))],
    ['Jobs', countWords(batch)],
    ...failedBuilds.map((failed): Titled => {
      return [`Failed on ${failed.node}`, `its build; see \`${buildLogs(failed)}\``];
    }),
    ['After', after.join(', ')],
    ['Runs as', jobsWords(jobIds)],
    ['Submitted', formatInstant(createdAt, now)],
    ['Ended', endedAt === null ? '' : formatInstant(endedAt, now)],
    ['Notify', notified.join('; ')],
    ['Kept', outputs == null ? '' : keptWords(`batch pull ${title}`, { ...outputs, of: 'job' })],
  ];
  return titledLines(lines);
}

/** Numbers in a row are one word: each job of a chain is an array of its own. */
const ROW_MIN = 3;

function jobsWords(ids: readonly number[]): string {
  const rows: { first: number; last: number }[] = [];
  for (const id of ids) {
    const row = rows.at(-1);
    if (row?.last === id - 1) row.last = id;
    else rows.push({ first: id, last: id });
  }
  const words = rows.flatMap(({ first, last }) => {
    const count = last - first + 1;
    if (count >= ROW_MIN) return [`jobs ${first} to ${last}`];
    return Array.from({ length: count }, (_, at) => `job ${first + at}`);
  });
  return words.join(', ');
}

/** The command that shows what a build has printed where it failed. */
function buildLogs({ id, epoch }: BatchView['failedBuilds'][number]): string {
  return `weft logs ${quoteWord(id)} --stderr --epoch ${epoch}`;
}

/** Where the build of a batch failed, and how its log is seen; null: nowhere. */
export function buildWords({ failedBuilds }: Pick<BatchView, 'failedBuilds'>): string | null {
  const [first, ...more] = failedBuilds;
  if (first === undefined) return null;
  const where =
    more.length === 0 ? first.node : `${first.node} and ${plural(more.length, 'other node')}`;
  return `its build failed on ${where}: ${buildLogs(first)}`;
}

/** `3 of 8 completed, 1 failed, 2 running, 2 pending`. */
export function countWords({ jobCount, ended, open }: BatchView): string {
  const { completed = 0, ...others } = ended;
  const counts = Object.entries({ ...others, ...open });
  const rest = counts.map(([word, count]) => `, ${count} ${word}`).join('');
  return `${completed} of ${plural(jobCount, 'job')} completed${rest}`;
}

function stateWords({ state, outcome }: BatchView): string {
  return outcome ?? state;
}

function doneWords({ ended, jobCount }: BatchView): string {
  return `${ended.completed ?? 0}/${jobCount}`;
}

function failedCount({ ended }: BatchView): number {
  return endCounts(0, ended).failed;
}

function runningCount({ open }: BatchView): number {
  return sum(Object.values(open)) - (open.pending ?? 0);
}

function remark({ outcome, detail, exit }: BatchJobView): string {
  if (outcome === null) return detail ?? '';
  const outside = outsideIn(detail ?? '');
  const isTold = outcome === 'failed' || (outcome === 'completed' && outside === '');
  const ended = isTold ? formatExit(exit) : '';
  if (outside === '') return ended || (detail ?? '');
  return ended === '' ? (detail ?? '') : `${ended}; ${outside}`;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((a, b) => a + b, 0);
}
