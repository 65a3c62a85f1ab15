// What a waiting task can expect, in figures and in lines for people.

import type { ExplainReply, PriorityView } from '../../api/jobs.ts';
import type { LookAhead } from '../../core/controller/answers/explain.ts';
import type { UserName } from '../../core/model/ids.ts';
import type { Reason } from '../../core/model/reason.ts';
import type { Awaited } from '../../core/scheduler/answers/explain.ts';
import type { Forecast } from '../../core/scheduler/answers/forecast.ts';
import type { Prospect } from '../../core/scheduler/answers/prospect.ts';
import { sumOf } from '../../core/scheduler/line/priority.ts';
import { UNKNOWN_END } from '../../core/scheduler/room/profile.ts';
import { viewReason } from './reasons.ts';
import { instantWords } from './words/instants.ts';

/** The prospect of what waits for nothing. */
export const NO_PROSPECT = {
  ...{ startsAt: null, startNodes: [], smaller: [], priority: null },
} satisfies Partial<ExplainReply>;

/** Lists of nodes in a line end here. */
const NAMES_MAX = 8;
/** Changes to the request that a line offers. */
const SMALLER_MAX = 3;

/**
 * What is explained: a task that waits, the next one of a job that runs, or one that was not
 * submitted.
 */
export type About = 'task' | 'next_task' | 'rehearsal';

const OPENINGS: Readonly<Record<About, string>> = {
  task: 'It is pending',
  next_task: 'Its next task waits',
  rehearsal: 'It would wait',
};

export function viewLookAhead(
  { reason, prospect, at, awaited }: LookAhead,
  about: About,
  reader: UserName | null = null,
): Omit<ExplainReply, 'state'> {
  const isRehearsal = about === 'rehearsal';
  const known = prospect === null ? reason : sharpen(reason, prospect);
  const sharper = viewReason(known, { name: reader, now: at });
  const would = isRehearsal ? 'would start' : 'starts';
  const waits = OPENINGS[about];
  if (prospect === null) {
    return { reason: sharper, ...NO_PROSPECT, words: `${waits}: ${sharper.words}.` };
  }
  const { forecast, smaller, startsNow } = prospect;
  const startsAt = forecast?.at ?? null;
  const lines = [
    startsNow && isRehearsal ? null : `${waits}: ${sharper.words}.`,
    startsNow
      ? startsNowWords(prospect, would)
      : forecast === null
        ? cannotStartWords(awaited)
        : forecastWords(forecast, at, would),
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
function sharpen(reason: Reason, { behind }: Prospect): Reason {
  return behind === null ? reason : { kind: 'priority', behind };
}

function startsNowWords({ forecast }: Prospect, would: string): string {
  const { nodes } = forecast ?? { nodes: [] };
  const where = nodes.length === 0 ? '' : ` on ${namesOf(nodes)}`;
  return would === 'starts' ? `It starts now${where}.` : `It would start now${where}.`;
}

function forecastWords(forecast: Forecast, now: number, would: string): string {
  const { at, nodes, unplannedAfter } = forecast;
  const where = ` on ${namesOf(nodes)}`;
  const isUnsure = at === null || at <= now + 1 || at >= UNKNOWN_END;
  if (unplannedAfter !== null && isUnsure) {
    return `Its start is not known: more than ${unplannedAfter} tasks go before it.`;
  }
  if (at === null) {
    return 'Its start is not known: the cluster has too many nodes to look at.';
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

const BACK = {
  drained: ['is undrained', 'are undrained'],
  away: ['is back', 'are back'],
  faulty: ['works again', 'work again'],
  paused: ['takes work again', 'take work again'],
} as const;

/** `It cannot start until n1 is undrained or n2 is back.` */
function cannotStartWords(awaited: Awaited | null): string {
  if (awaited === null) {
    return 'It cannot start: the end of no running task makes enough room on the nodes in use.';
  }
  const { count, nodes } = awaited;
  if (nodes.length > 1 && count > 1 && count < nodes.length) {
    const names = namesOf(nodes.map(({ name }) => name));
    return `It cannot start until ${count} of these nodes are back in use: ${names}.`;
  }
  const isAll = count >= nodes.length;
  const clauses = (['drained', 'away', 'faulty', 'paused'] as const).flatMap((kind) => {
    const names = nodes.filter((node) => node.kind === kind).map(({ name }) => name);
    if (names.length === 0) return [];
    const [one, many] = BACK[kind];
    return [`${listOf(names, isAll ? 'and' : 'or')} ${names.length > 1 && isAll ? many : one}`];
  });
  return `It cannot start until ${clauses.join(isAll ? ' and ' : ' or ')}.`;
}

/** `n1, n2 or n3`. */
function listOf(names: readonly string[], word: 'and' | 'or'): string {
  if (names.length > NAMES_MAX) return namesOf(names);
  const last = names.at(-1) ?? '';
  return names.length === 1 ? last : `${names.slice(0, -1).join(', ')} ${word} ${last}`;
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
