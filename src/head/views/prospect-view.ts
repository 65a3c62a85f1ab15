// What a waiting task can expect, in figures and in lines for people.

import type { ExplainReply, PriorityView } from '../../api/jobs.ts';
import { formatDuration } from '../../core/base/duration.ts';
import { formatInstant } from '../../core/base/instant.ts';
import type { PendingReason } from '../../core/model/job.ts';
import type { Forecast } from '../../core/scheduler/forecast.ts';
import { sumOf } from '../../core/scheduler/priority.ts';
import { UNKNOWN_END } from '../../core/scheduler/profile.ts';
import type { Behind, Prospect } from '../../core/scheduler/prospect.ts';
import type { LookAhead } from '../explain.ts';

/** Of what waits for nothing. */
export const NO_PROSPECT = {
  ...{ startsAt: null, startNodes: [], smaller: [], priority: null },
} satisfies Partial<ExplainReply>;

/** Lists of nodes in a line end here. */
const NAMES_MAX = 8;
/** Changes to the request that a line offers. */
const SMALLER_MAX = 3;

/** Of a task that waits, of the next one of a job that runs, or of one that was not submitted. */
export type About = 'task' | 'next_task' | 'rehearsal';

const OPENINGS: Readonly<Record<About, string>> = {
  task: 'It is pending',
  next_task: 'Its next task waits',
  rehearsal: 'It would wait',
};

export function viewLookAhead(
  { reason, prospect, at }: LookAhead,
  about: About,
): Omit<ExplainReply, 'state'> {
  const isRehearsal = about === 'rehearsal';
  const sharper = prospect === null ? reason : sharpen(reason, prospect, at);
  const would = isRehearsal ? 'would start' : 'starts';
  const waits = OPENINGS[about];
  if (prospect === null) {
    return { reason: sharper, ...NO_PROSPECT, words: `${waits}: ${sharper.words}.` };
  }
  const { forecast, smaller, startsNow } = prospect;
  const startsAt = forecast?.at ?? null;
  const lines = [
    startsNow && isRehearsal ? null : `${waits}: ${sharper.words}.`,
    startsNow ? startsNowWords(prospect, would) : forecastWords(forecast, at, would),
    smaller.length > 0 ? `It would start now with ${orList(smaller)}.` : null,
    priorityWords(prospect),
  ];
  return {
    reason: startsNow && isRehearsal ? null : sharper,
    startsAt: startsAt === null || startsAt >= UNKNOWN_END ? null : Math.round(startsAt),
    startNodes: [...(forecast?.nodes ?? [])],
    smaller: [...smaller],
    priority: viewPriority(prospect),
    words: lines.filter((line) => line !== null).join('\n'),
  };
}

/** Names the job that it waits behind, where the scheduler only says that others are first. */
function sharpen(reason: PendingReason, { behind }: Prospect, at: number): PendingReason {
  return behind === null ? reason : { kind: 'priority', words: behindWords(behind, at) };
}

function behindWords(behind: Behind, at: number): string {
  if (behind.kind === 'turn') {
    return `waits behind job ${behind.jobId}, which nobody passes in this partition (fifo)`;
  }
  const when =
    behind.at >= UNKNOWN_END
      ? 'when tasks without a time limit have ended'
      : `at ${instantWords(behind.at, at)}`;
  return `what is free now is kept for job ${behind.jobId}, which is to start ${when}`;
}

function startsNowWords({ forecast }: Prospect, would: string): string {
  const { nodes } = forecast ?? { nodes: [] };
  const where = nodes.length === 0 ? '' : ` on ${namesOf(nodes)}`;
  return would === 'starts' ? `It starts now${where}.` : `It would start now${where}.`;
}

function forecastWords(forecast: Forecast | null, now: number, would: string): string {
  if (forecast === null)
    return `By today's plan it never ${would}: no end of any task makes room on nodes in use.`;
  const { at, nodes, unplannedAfter } = forecast;
  const where = ` on ${namesOf(nodes)}`;
  const isUnsure = at === null || at <= now + 1 || at >= UNKNOWN_END;
  if (unplannedAfter !== null && isUnsure) {
    return `When it ${would} is not worked out: more than ${unplannedAfter} tasks go before it.`;
  }
  if (at === null) {
    return `When it ${would} is not worked out: too many nodes would have to be looked at.`;
  }
  if (at >= UNKNOWN_END) {
    return `By today's plan it ${would} only when tasks without a time limit have ended${where}.`;
  }
  if (unplannedAfter !== null) {
    const tasks = `more than ${unplannedAfter} tasks go before it`;
    return `By today's plan it ${would} after ${instantWords(at, now)}; ${tasks}.`;
  }
  return `By today's plan it ${would} at ${instantWords(at, now)}${where}.`;
}

/** `2026-01-01T10:00:00Z, in 25m`. */
function instantWords(at: number, now: number): string {
  const seconds = Math.max(0, Math.ceil((at - now) / 1000));
  const span = seconds === 0 ? 'now' : `in ${formatDuration(seconds * 1000)}`;
  return `${formatInstant(at)}, ${span}`;
}

function viewPriority({ priority, tier }: Prospect): PriorityView {
  return { tier, sum: sumOf(priority), ...priority };
}

const PARTS = [
  ['age', 'age'],
  ['size', 'size'],
  ['fairShare', 'fair share'],
  ['partition', 'partition'],
  ['qos', 'QoS'],
  ['nice', 'nice'],
] as const;

function priorityWords({ priority, tier }: Prospect): string {
  const parts = PARTS.filter(([key]) => Math.round(priority[key]) !== 0).map(([key, name], at) => {
    const points = Math.round(priority[key]);
    const sign = at === 0 ? '' : points < 0 ? '- ' : '+ ';
    return `${sign}${name} ${groups(at === 0 ? points : Math.abs(points))}`;
  });
  const sum = `Priority ${groups(Math.round(sumOf(priority)))}`;
  const ofTier = tier === 0 ? '' : `, tier ${tier}`;
  return `${sum}${parts.length === 0 ? '' : ` = ${parts.join(' ')}`}${ofTier}.`;
}

/** `1,234`, whatever the language of the machine. */
function groups(points: number): string {
  return String(points).replace(/\B(?=(\d{3})+$)/g, ',');
}

function orList(words: readonly string[]): string {
  return words.slice(0, SMALLER_MAX).join(', or ');
}

function namesOf(nodes: readonly string[]): string {
  const shown = nodes.slice(0, NAMES_MAX).join(', ');
  return nodes.length > NAMES_MAX ? `${shown}, … (${nodes.length} nodes)` : shown;
}
