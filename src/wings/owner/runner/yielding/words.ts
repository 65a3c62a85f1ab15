// What the detectors saw, as people are shown it.

import { isWithin } from '../../../../kernel/model/hours.ts';
import type { Presence, Sign, YieldRules } from '../../../../kernel/model/presence.ts';
import { isLoaded, isRecent, type Look } from './in-use.ts';
import { busyCpus, type Readings, wordsOfLoad } from './load.ts';

/** One line for each detector, and one for the owner's hours. */
export function presenceOf(rules: YieldRules, look: Look, load: Readings): Presence[] {
  const lines = look.signs.map((sign) => lineOf(sign, { rules, look, load }));
  if (rules.hours === null) return lines;
  const state = isWithin(rules.hours, look.local) ? 'in_use' : 'quiet';
  return [...lines, { by: 'hours', what: rules.hours.text, at: null, state }];
}

function lineOf(
  sign: Sign,
  { rules, look, load }: { rules: YieldRules; look: Look; load: Readings },
): Presence {
  const { by } = sign;
  switch (sign.kind) {
    case 'blind':
      return { by, what: sign.why, at: null, state: 'blind' };
    case 'sessions': {
      const state = sign.who.length > 0 ? 'in_use' : 'quiet';
      return { by, what: sign.who.join(', ') || 'nobody is logged in', at: null, state };
    }
    case 'gpus': {
      const state = sign.who.length > 0 ? 'in_use' : 'quiet';
      return { by, what: sign.who.join(', ') || 'nobody uses gpus', at: null, state };
    }
    case 'load': {
      const cpus = busyCpus(load);
      const what = cpus === null ? 'not watched for half a minute yet' : wordsOfLoad(cpus);
      return { by, what, at: null, state: isLoaded(rules, cpus) ? 'in_use' : 'quiet' };
    }
    case 'input': {
      const state = isRecent(sign, rules, look.now.monotonic) ? 'in_use' : 'quiet';
      return { by, what: sign.what, at: sign.last?.at ?? null, state };
    }
  }
}
