// What notifications say, and what is said of them.

import { formatDuration } from '../../../kernel/base/duration.ts';
import { formatInstant } from '../../../kernel/base/instant.ts';
import { toPlainLine } from '../../../kernel/base/plain-line.ts';
import { plural } from '../../../kernel/base/plural.ts';
import type { OutcomeKind } from '../../../kernel/model/job.ts';
import { type News, shownTarget } from '../../../kernel/model/notification.ts';
import type { Delivery } from '../machine/facts.ts';

/** Characters of a title: more is no line that anybody reads. */
const TITLE_LENGTH_MAX = 400;

/** One line: `Job 42 (train) failed: exit code 3`. */
export function titleOf(news: News): string {
  return toPlainLine(newsTextOf(news)).slice(0, TITLE_LENGTH_MAX);
}

function newsTextOf(news: News): string {
  const { subject, name, counts, outcome } = news;
  const isJob = subject.kind === 'job';
  const what = isJob ? `Job ${subject.jobId} (${name})` : `Batch ${subject.batch}`;
  const total = Object.values(counts ?? {}).reduce((sum, count) => sum + count, 0);
  const isUnbuilt = !isJob && outcome === 'build_failed';
  if (counts !== undefined && total > 1 && !isUnbuilt) {
    return `${what}: ${countWords(counts, total, isJob ? 'task' : 'job')}`;
  }
  return `${what} ${ENDINGS[outcome]}${whyWords(news)}`;
}

const ENDINGS: Readonly<Record<OutcomeKind, string>> = {
  completed: 'completed',
  failed: 'failed',
  cancelled: 'was cancelled',
  timeout: 'exceeded its time limit',
  out_of_memory: 'exceeded its memory limit',
  node_fail: 'lost its node',
  launch_failed: 'could not be started',
  build_failed: 'failed to build on every node',
  stage_failed: 'could not get its files',
  deadline: 'missed its deadline',
};

function countWords(counts: NonNullable<News['counts']>, total: number, one: string): string {
  const { completed = 0, ...others } = counts;
  if (completed === total) return `all ${plural(total, one)} completed`;
  const bad = Object.entries(others)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${kind.replaceAll('_', ' ')}`);
  return `${completed} of ${plural(total, one)} completed, ${bad.join(', ')}`;
}

function whyWords({ outcome, exit, detail }: News): string {
  if (outcome === 'completed') return '';
  if (detail !== undefined) return `: ${detail}`;
  if (exit?.code !== undefined) return `: exit code ${exit.code}`;
  return exit?.signal === undefined ? '' : `: signal ${exit.signal}`;
}

/** A few lines for people. */
export function textOf(news: News, cluster: string): string {
  const { subject, owner, submittedAt, startedAt, endedAt } = news;
  const ran =
    startedAt === null
      ? 'never started'
      : `ran ${endedAt - startedAt < 1000 ? 'less than 1s' : formatDuration(endedAt - startedAt)}`;
  const lines = [
    `${titleOf(news)}`,
    `Cluster ${cluster}, user ${owner}; submitted ${formatInstant(submittedAt)}, ${ran}, ended ${formatInstant(endedAt)}.`,
  ];
  if (subject.kind === 'job' && startedAt !== null)
    lines.push(`Output: weft logs ${subject.jobId}`);
  return lines.join('\n');
}

/** Several that have gathered, one line each. */
export function textOfMany(all: readonly News[], cluster: string): string {
  return [`${plural(all.length, 'message')} from cluster ${cluster}:`, ...all.map(titleOf)].join(
    '\n',
  );
}

/** `notified matrix:@ann:lab`; by the head's clock, instants in UTC. */
export function sayDelivery(delivery: Delivery, now: number): string {
  const { state, tries, triedAt, nextAt, why } = delivery;
  const target = shownTarget(delivery.target);
  const at = triedAt === null ? '' : ` at ${formatInstant(triedAt)}`;
  const times = plural(tries, 'attempt');
  if (state === 'told') return `notified ${target}${at}`;
  if (state === 'given_up') return `gave up notifying ${target}${at} after ${times}: ${why ?? ''}`;
  if (why === null) return `not yet notified ${target}`;
  const wait = Math.max(0, Math.ceil((nextAt - now) / 1000) * 1000);
  const next = wait === 0 ? 'next one now' : `next one in ${formatDuration(wait)}`;
  return `not yet notified ${target}: ${why}; ${times}, ${next}`;
}
