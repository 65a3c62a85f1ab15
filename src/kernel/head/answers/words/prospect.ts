// What a waiting task can expect, in words: when and where it starts, what it waits for, with which
// smaller request it would start now, and its priority.

import { formatDuration } from '../../../base/duration.ts';
import { plural } from '../../../base/plural.ts';
import { shortChoice, shortList } from '../../../base/short-list.ts';
import { formatSize } from '../../../base/size.ts';
import type { Awaited } from '../../../scheduler/answers/explain.ts';
import type { Forecast } from '../../../scheduler/answers/forecast.ts';
import type { Prospect } from '../../../scheduler/answers/prospect.ts';
import type { SiteWait } from '../../../scheduler/answers/site-wait.ts';
import type { Less } from '../../../scheduler/answers/what-if.ts';
import { sumOf } from '../../../scheduler/line/priority.ts';
import { UNKNOWN_END } from '../../../scheduler/room/profile.ts';
import { instantWords, spanWords } from './instants.ts';

/** Changes to the request that a line offers. */
const SMALLER_MAX = 3;

/** How it is said: of a task that waits, or of one that was not submitted. */
type Would = 'starts' | 'would start';

export function startsNowWords({ forecast }: Prospect, now: number, would: Would): string {
  const { nodes, wait } = forecast ?? { nodes: [] };
  if (wait !== undefined) return siteWords(wait, { at: now, now, would });
  const where = nodes.length === 0 ? '' : ` on ${shortList(nodes)}`;
  return would === 'starts' ? `It starts now${where}.` : `It would start now${where}.`;
}

export function forecastWords(forecast: Forecast, now: number, would: Would): string {
  const { at, nodes, unplannedAfter, wait } = forecast;
  const where = ` on ${shortList(nodes)}`;
  const isUnsure = at === null || at <= now + 1 || at >= UNKNOWN_END;
  if (unplannedAfter !== null && isUnsure) {
    return `Its start is not known: more than ${unplannedAfter} tasks go before it.`;
  }
  if (at === null) {
    return 'Its start is not known: the cluster has too many nodes to look at.';
  }
  if (at >= UNKNOWN_END) {
    const only = 'but only when tasks without a time limit have ended';
    return `By today's plan it ${would}${where}, ${only}.`;
  }
  if (wait !== undefined && unplannedAfter === null) {
    return `By today's plan ${siteWords(wait, { at, now, would })}`;
  }
  if (unplannedAfter !== null) {
    const tasks = `more than ${unplannedAfter} tasks go before it`;
    return `By today's plan it ${would} after ${instantWords(at, now)}; ${tasks}.`;
  }
  return `By today's plan it ${would} at the latest at ${instantWords(at, now)}${where}.`;
}

/** `site hpc gets it now and starts it at 12:10:00, in 2h10m: a guess from its listing 12s ago.` */
function siteWords(
  { site, waitMs, listedAt }: SiteWait,
  { at, now, would }: { readonly at: number; readonly now: number; readonly would: Would },
): string {
  const [gets, starts] = would === 'starts' ? ['gets', 'starts'] : ['would get', 'start'];
  const isNow = at <= now + 1;
  const subject = isNow ? 'Site' : 'site';
  const given = `${subject} ${site} ${gets} it ${isNow ? 'now' : `at ${instantWords(at, now)},`}`;
  if (listedAt === null) return `${given}; nobody knows when it starts there: it was never listed.`;
  const listing = `its listing ${spanWords(now - listedAt)} ago`;
  if (!Number.isFinite(waitMs)) {
    return `${given}; nobody knows when it starts there: by ${listing} it takes no work.`;
  }
  const when = waitMs === 0 ? 'at once' : `at ${instantWords(at + waitMs, now)}`;
  return `${given} and ${starts} it ${when}: a guess from ${listing}.`;
}

const BACK = {
  drained: ['is undrained', 'are undrained'],
  away: ['is back', 'are back'],
  faulty: ['works again', 'work again'],
  unlooked: ['has been looked at', 'have been looked at'],
  paused: ['takes work again', 'take work again'],
  external: ['is no longer run by an external scheduler', 'are no longer run by one'],
} as const;

/** `It cannot start until n1 is undrained or n2 is back.` */
export function cannotStartWords(
  awaited: Awaited | null,
  lacks: 'gpus given again' | 'room' = 'room',
): string {
  if (awaited === null && lacks !== 'room') {
    return 'It starts when enough gpus may be given again.';
  }
  if (awaited === null) {
    return 'It cannot start: the end of no running task makes enough room on the nodes in use.';
  }
  const { count, nodes } = awaited;
  if (nodes.length > 1 && count > 1 && count < nodes.length) {
    const names = shortList(nodes.map(({ name }) => name));
    return `It cannot start until ${count} of these nodes are back in use: ${names}.`;
  }
  const isAll = count >= nodes.length;
  const clauses = (Object.keys(BACK) as (keyof typeof BACK)[]).flatMap((kind) => {
    const names = nodes.filter((node) => node.kind === kind).map(({ name }) => name);
    if (names.length === 0) return [];
    const [one, many] = BACK[kind];
    return [
      `${shortChoice(names, isAll ? 'and' : 'or')} ${names.length > 1 && isAll ? many : one}`,
    ];
  });
  return `It cannot start until ${clauses.join(isAll ? ' and ' : ' or ')}.`;
}

/** `n5 and n6 switch users and run nothing as root: it is not for them.` */
export function rootlessWords(nodes: readonly string[]): string {
  const verbs = nodes.length === 1 ? 'switches users and runs' : 'switch users and run';
  const them = nodes.length === 1 ? 'it' : 'them';
  return `${shortChoice(nodes, 'and')} ${verbs} nothing as root: this job is not for ${them}.`;
}

const PARTS = [
  ['age', 'age'],
  ['size', 'size'],
  ['fairShare', 'fair share'],
  ['partition', 'partition'],
  ['qos', 'QoS'],
  ['nice', 'nice'],
] as const;

export function priorityWords({ priority, tier }: Prospect): string {
  const parts = PARTS.filter(([key]) => Math.round(priority[key]) !== 0).map(([key, name], at) => {
    const points = Math.round(priority[key]);
    const sign = at === 0 ? '' : points < 0 ? '- ' : '+ ';
    return `${sign}${name} ${groups(at === 0 ? points : Math.abs(points))}`;
  });
  const sum = `Priority ${groups(Math.round(sumOf(priority)))}`;
  const ofTier = tier === 0 ? '' : `, tier ${tier}`;
  // `Priority 50 = age 50` would be said twice.
  const [, only] = PARTS.find(([key]) => Math.round(priority[key]) !== 0) ?? [];
  const of =
    parts.length === 1 ? `, all by ${only}` : parts.length === 0 ? '' : ` = ${parts.join(' ')}`;
  return `${sum}${of}${ofTier}.`;
}

/** `1,234`, whatever the language of the machine. */
function groups(points: number): string {
  return String(points).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function smallerWords(changes: Prospect['smaller']): string {
  const offers = changes.slice(0, SMALLER_MAX).map(changeWords);
  return `It would start now with ${offers.join(', or ')}.`;
}

/** `2 nodes instead of 4 and 1G memory instead of 2G`. */
export function changeWords(change: readonly Less[]): string {
  return change.map(lessWords).join(' and ');
}

function lessWords({ what, to, from }: Less): string {
  switch (what) {
    case 'nodes':
      return `${plural(to, 'node')} instead of ${from}`;
    case 'cpus':
      return `${plural(to, 'cpu')} instead of ${from}`;
    case 'gpuTypes':
      return 'gpus of any type';
    case 'gpus':
      return `${to === 0 ? 'no gpu' : plural(to, 'gpu')} instead of ${from}`;
    case 'memory':
      return `${formatSize(to)} memory instead of ${formatSize(from ?? 0)}`;
    case 'walltime': {
      const than = from === null ? 'none' : formatDuration(from);
      return `a time limit of ${formatDuration(to)} instead of ${than}`;
    }
  }
}
