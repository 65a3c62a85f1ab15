// The cards of a machine from look to look: which are there, which of them may be given, and why
// not.

import { formatInstant } from '../../../kernel/base/instant.ts';
import type { CardUser } from '../../../kernel/model/gpu.ts';
import type { Answer, LostCard, SeenCard } from '../model/answer.ts';
import { crowdOf, NOBODY } from './crowd.ts';
import { memoryByMark } from './shares.ts';
import type { CardRules, Instant, Look, Machine, Maker, Tracked } from './state.ts';
import { goneWords, illWords, unknownWords } from './words.ts';

export const EMPTY: Machine = { cards: new Map(), makers: new Map() };

/** A card that one look does not list may be one that its tool stumbled over. */
const MISSING_MAX = 2;
/** What was read longer ago than so many looks is not what a card does now. */
const LOOKS_FRESH = 3;
/** However often is looked: one look may take as long as this. */
const FRESH_MS_MIN = 30_000;

/** A card that was known before the agent was started. */
export function remembered(
  seen: SeenCard,
  at: number,
  { isOld }: { readonly isOld: boolean },
): Tracked {
  return {
    seen,
    state: 'unknown',
    because: unknownWords(seen),
    since: at,
    wellSince: null,
    crowd: NOBODY,
    ours: new Map(),
    missing: 0,
    readAt: null,
    isOld,
  };
}

export function watchCards(before: Machine, look: Look, rules: CardRules): Machine {
  const cards = new Map(before.cards);
  const makers = new Map(before.makers);
  for (const answer of look.answers) {
    const maker = makers.get(answer.vendor);
    makers.set(answer.vendor, makerAfter(maker, answer, look.now));
    if (answer.kind === 'silent') continue;
    if (answer.kind === 'failed') failAll(cards, answer, look);
    else take(cards, answer, look, rules);
  }
  return { cards, makers };
}

function makerAfter(before: Maker | undefined, answer: Answer, { at }: Instant): Maker {
  const { driver = null, answeredAt = null, counted = {}, notes = [] } = before ?? {};
  if (answer.kind === 'answered') {
    const { lost, remark } = answer;
    const words = [...(remark === null ? [] : [remark]), ...lost.map(lostWords)];
    const all = words.length === 0 ? null : words.join('; ');
    const now = answer.counted ?? {};
    return {
      driver: answer.driver ?? driver,
      answeredAt: at,
      counted: now,
      notes: answer.notes ?? [],
      remark: all,
    };
  }
  const age =
    answer.kind === 'failed' || answeredAt === null
      ? ''
      : `; its cards are shown as of ${formatInstant(answeredAt)}`;
  return { driver, answeredAt, counted, notes, remark: `${answer.words}${age}` };
}

function lostWords({ busId, words }: LostCard): string {
  return `the card at ${busId}: ${words}`;
}

/** The driver serves none of its cards. */
function failAll(
  cards: Map<string, Tracked>,
  { vendor, words }: Extract<Answer, { kind: 'failed' }>,
  { now }: Look,
): void {
  const isGone = /^no devices/i.test(words);
  for (const [uuid, one] of cards) {
    if (one.seen.vendor !== vendor) continue;
    const state = isGone ? 'gone' : 'ill';
    cards.set(uuid, put(one, { state, because: isGone ? goneWords(words) : illWords(words) }, now));
  }
}

function take(
  cards: Map<string, Tracked>,
  answer: Extract<Answer, { kind: 'answered' }>,
  look: Look,
  rules: CardRules,
): void {
  const listed = new Set(answer.cards.map(({ uuid }) => uuid));
  for (const [uuid, one] of cards) {
    if (one.seen.vendor !== answer.vendor || listed.has(uuid)) continue;
    const next = afterMiss(one, answer, look.now);
    if (next === null) cards.delete(uuid);
    else cards.set(uuid, next);
  }
  for (const seen of answer.cards) {
    cards.set(seen.uuid, afterSight(cards.get(seen.uuid), seen, { answer, look, rules }));
  }
}

/** Returns null when it was taken out while the machine was off. */
function afterMiss(
  one: Tracked,
  { lost }: Extract<Answer, { kind: 'answered' }>,
  now: Instant,
): Tracked | null {
  const known = lost.find(({ busId }) => busId === one.seen.busId);
  if (known !== undefined) return put(one, { state: 'ill', because: illWords(known.words) }, now);
  if (one.isOld && lost.length === 0) return null;
  const missing = one.missing + 1;
  if (missing < MISSING_MAX) return { ...one, missing };
  return put({ ...one, missing }, { state: 'gone', because: goneWords(null) }, now);
}

function afterSight(
  before: Tracked | undefined,
  seen: SeenCard,
  {
    answer,
    look,
    rules,
  }: {
    readonly answer: Extract<Answer, { kind: 'answered' }>;
    readonly look: Look;
    readonly rules: CardRules;
  },
): Tracked {
  const { now } = look;
  const crowd = crowdOf(before?.crowd ?? NOBODY, seen, answer.processes, look, rules);
  const one: Tracked = {
    ...(before ?? { state: 'free', because: null, since: now.at, wellSince: null }),
    seen,
    crowd,
    ours: memoryByMark(seen.uuid, answer.processes, look.owners),
    missing: 0,
    readAt: now.monotonic,
    isOld: false,
  };
  if (seen.ills.length > 0) {
    return put(one, { state: 'ill', because: illWords(seen.ills.join('; ')) }, now);
  }
  if (crowd.closes !== null) {
    return put(one, { state: 'used_outside', because: crowd.closes }, now);
  }
  return recover(one, rules, now);
}

function put(
  one: Tracked,
  { state, because }: Pick<Tracked, 'state' | 'because'>,
  now: Instant,
): Tracked {
  const since = one.state === state ? one.since : now.at;
  return { ...one, state, because, since, wellSince: null };
}

/** A card that was ill or used is not trusted at once. */
function recover(one: Tracked, { freeAfterMs }: CardRules, now: Instant): Tracked {
  if (one.state === 'free') return one;
  const wellSince = one.wellSince ?? now;
  const isTrusted = one.state === 'unknown' || now.monotonic - wellSince.monotonic >= freeAfterMs;
  if (!isTrusted) return { ...one, wellSince };
  return { ...one, state: 'free', because: null, since: now.at, wellSince: null };
}

/** Whether what was read of the card last is how much it is used now. `now`: monotonic. */
export function isFresh(
  { state, missing, readAt }: Tracked,
  now: number,
  everyMs: number,
): boolean {
  if (readAt === null || missing > 0 || state === 'ill' || state === 'gone') return false;
  return now - readAt <= Math.max(LOOKS_FRESH * everyMs, FRESH_MS_MIN);
}

/** Users that are told of a card. */
export function usersOf({ crowd }: Tracked): readonly CardUser[] {
  return crowd.users;
}
