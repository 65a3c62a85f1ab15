// What a waiting task can expect, as the API tells it; the lines for people are in
// words/prospect.ts.

import type { ExplainReply, PriorityView } from '../../api/jobs.ts';
import type { StartGuess } from '../../api/start-guess.ts';
import { asSentence } from '../../base/sentence.ts';
import type { LookAhead } from '../../machine/answers/explain.ts';
import type { UserName } from '../../model/ids.ts';
import type { Reason } from '../../model/reason.ts';
import type { Forecast } from '../../scheduler/answers/forecast.ts';
import type { Prospect } from '../../scheduler/answers/prospect.ts';
import type { SiteWait } from '../../scheduler/answers/site-wait.ts';
import { sumOf } from '../../scheduler/line/priority.ts';
import { UNKNOWN_END } from '../../scheduler/room/profile.ts';
import { viewReason } from './reasons.ts';
import {
  cannotStartWords,
  changeWords,
  forecastWords,
  priorityWords,
  rootlessWords,
  smallerWords,
  startsNowWords,
} from './words/prospect.ts';

/** The prospect of a job that has no pending task. */
export const NO_PROSPECT = {
  startsAt: null,
  startNodes: [],
  smaller: [],
  priority: null,
} satisfies Partial<ExplainReply>;

/** What is explained: a waiting task, the next one of a running job, or one not submitted. */
export type About = 'task' | 'next_task' | 'rehearsal';

const OPENINGS: Readonly<Record<About, string>> = {
  task: 'It is pending',
  next_task: 'Its next task waits',
  rehearsal: 'It would wait',
};

export function viewLookAhead(
  { reason, prospect, at, awaited, rootless = [] }: LookAhead,
  about: About,
  reader: UserName | null = null,
): Omit<ExplainReply, 'state'> {
  const isRehearsal = about === 'rehearsal';
  const known = prospect === null ? reason : sharpen(reason, prospect);
  const sharper = viewReason(known, { name: reader, now: at });
  const would = isRehearsal ? 'would start' : 'starts';
  const waits = OPENINGS[about];
  if (prospect === null) {
    return { reason: sharper, ...NO_PROSPECT, words: asSentence(`${waits}: ${sharper.words}`) };
  }
  const { forecast, smaller, startsNow } = prospect;
  const startsAt = startOf(forecast);
  const lines = [
    startsNow && isRehearsal ? null : asSentence(`${waits}: ${sharper.words}`),
    startsNow
      ? startsNowWords(prospect, at, would)
      : forecast === null
        ? cannotStartWords(awaited, lackOf(reason))
        : forecastWords(forecast, at, would),
    rootless.length > 0 ? rootlessWords(rootless) : null,
    smaller.length > 0 ? smallerWords(smaller) : null,
    priorityWords(prospect),
  ];
  return {
    reason: startsNow && isRehearsal ? null : sharper,
    startsAt,
    startNodes: [...(forecast?.nodes ?? [])],
    ...(forecast?.wait === undefined ? {} : { guess: viewGuess(forecast.wait) }),
    smaller: smaller.map(changeWords),
    priority: viewPriority(prospect),
    words: lines.filter((line) => line !== null).join('\n'),
  };
}

/** Gpus that may not be given now are no matter of plans: nothing says when they may. */
function lackOf(reason: Reason): 'gpus given again' | 'room' {
  if (reason.kind !== 'resources') return 'room';
  const isAside = reason.nodes.nodes.some(({ situation }) => {
    return (
      situation.kind === 'free' && situation.amounts.some(({ aside = [] }) => aside.length > 0)
    );
  });
  return isAside ? 'gpus given again' : 'room';
}

function startOf(forecast: Forecast | null): number | null {
  const at = forecast?.at ?? null;
  const startsAt = at === null ? UNKNOWN_END : at + (forecast?.wait?.waitMs ?? 0);
  return startsAt >= UNKNOWN_END ? null : Math.round(startsAt);
}

/** How the start at a site that decides itself was reckoned. */
export function viewGuess({ site, waitMs, listedAt }: SiteWait): StartGuess {
  const wait = Number.isFinite(waitMs) ? Math.round(waitMs) : null;
  return { site, waitMs: wait, listedAt: listedAt === null ? null : Math.round(listedAt) };
}

/** Names the job that it waits behind, where the scheduler only says that others are first. */
function sharpen(reason: Reason, { behind }: Prospect): Reason {
  return behind === null ? reason : { kind: 'priority', behind };
}

function viewPriority({ priority, tier }: Prospect): PriorityView {
  return { tier, sum: sumOf(priority), ...priority };
}
