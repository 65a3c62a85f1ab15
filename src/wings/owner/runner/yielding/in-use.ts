// Whether somebody uses the machine at one look, and what shows it.

import { isWithin, type LocalTime } from '../../../../kernel/model/hours.ts';
import type { Sign, YieldRules } from '../../../../kernel/model/presence.ts';
import type { Now } from '../../../../kernel/runner/epoch.ts';
import { busyCpus, type Readings, wordsOfLoad } from './load.ts';

/** One look at the machine. */
export interface Look {
  readonly now: Now;
  /** What the clock on the wall shows at the node. */
  readonly local: LocalTime;
  readonly signs: readonly Sign[];
}

/** In words; null: nobody uses the machine. What is most surely the owner comes first. */
export function whyInUse(rules: YieldRules, look: Look, load: Readings): string | null {
  const input = lastInput(look.signs.filter((sign) => isRecent(sign, rules, look.now.monotonic)));
  if (input !== null) return input;
  const who = rules.sessions ? loggedIn(look.signs) : [];
  if (who.length > 0) return `logged in: ${who.join(', ')}`;
  const onGpus = rules.gpus === true ? usersOfGpus(look.signs) : [];
  if (onGpus.length > 0) return `gpus are used: ${onGpus.join(', ')}`;
  const cpus = busyCpus(load);
  if (isLoaded(rules, cpus)) return wordsOfLoad(cpus as number);
  if (rules.hours !== null && isWithin(rules.hours, look.local)) {
    return `its owner's hours, ${rules.hours.text}`;
  }
  return null;
}

export function isRecent(sign: Sign, { idleBelowMs }: YieldRules, monotonic: number): boolean {
  if (sign.kind !== 'input' || sign.last === null || idleBelowMs === null) return false;
  return monotonic - sign.last.monotonic < idleBelowMs;
}

export function isLoaded({ loadAbove }: YieldRules, cpus: number | null): boolean {
  return loadAbove !== null && cpus !== null && cpus > loadAbove;
}

/** Several detectors know of the same sessions. */
function loggedIn(signs: readonly Sign[]): string[] {
  return [...new Set(signs.flatMap((sign) => (sign.kind === 'sessions' ? sign.who : [])))];
}

function usersOfGpus(signs: readonly Sign[]): readonly string[] {
  return signs.flatMap((sign) => (sign.kind === 'gpus' ? sign.who : []));
}

/** The newest of them, in words. */
function lastInput(signs: readonly Sign[]): string | null {
  let newest = Number.NEGATIVE_INFINITY;
  let what: string | null = null;
  for (const sign of signs) {
    if (sign.kind !== 'input' || sign.last === null || sign.last.monotonic <= newest) continue;
    newest = sign.last.monotonic;
    what = sign.what;
  }
  return what;
}
