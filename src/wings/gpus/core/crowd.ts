// Who is on a card beside tasks, and whether that keeps it from being given. That a program is on
// it is not enough: a desktop's compositor is, and a notebook that nobody has looked at for days.

import type { CardUser } from '../../../kernel/model/gpu.ts';
import { CARD_USERS_MAX } from '../../../kernel/model/limits.ts';
import type { SeenCard, SeenProcess } from '../model/answer.ts';
import type { CardRules, Crowd, Holder, Look } from './state.ts';
import { heldWords, programName, usedWords } from './words.ts';

export const NOBODY: Crowd = {
  users: [],
  pids: new Set(),
  busyLooks: 0,
  heldLooks: 0,
  closes: null,
};

/** Above it a card works. Drawing a desktop takes less. */
const BUSY_PERCENT = 20;
/**
 * One look may hit the one moment of a start or an end. The first is believed: no task has the
 * card.
 */
const LOOKS_IN_A_ROW = 2;

export function crowdOf(
  before: Crowd,
  card: SeenCard,
  processes: readonly SeenProcess[],
  look: Look,
  rules: CardRules,
): Crowd {
  const isGiven = look.given.has(card.uuid);
  const mayHold = !isGiven && (card.memoryUsedBytes ?? 0) >= rules.outsideBytesMin;
  // Where nobody says on which card a process is, it is on one that is in use.
  const here = processes.filter((one) => one.card === card.uuid || (one.card === null && mayHold));
  const outside = here.filter((one) => isOutside(one, card, { before, look, isGiven }));
  const users = outside.map((one) => userOf(one, before, look)).sort(largestFirst);
  const hasOurs = isGiven || here.some((one) => isOurs(one, look) && !outside.includes(one));
  const isBusy = users.length > 0 && !hasOurs && (card.busyPercent ?? 0) >= BUSY_PERCENT;
  const isHeld = here.length === 0 && mayHold;
  const step = before === NOBODY ? LOOKS_IN_A_ROW : 1;
  const busyLooks = isBusy ? before.busyLooks + step : 0;
  const heldLooks = isHeld ? before.heldLooks + step : 0;
  const isUsed = isLarge(users, card, hasOurs, rules) || busyLooks >= LOOKS_IN_A_ROW;
  const held = heldLooks >= LOOKS_IN_A_ROW ? heldWords(card.memoryUsedBytes ?? 0) : null;
  return {
    users: users.slice(0, CARD_USERS_MAX),
    pids: new Set(here.map(({ pid }) => pid)),
    busyLooks,
    heldLooks,
    closes: isUsed ? usedWords(users) : held,
  };
}

/**
 * A process that cannot be seen may have ended since, and in a container it may be a task's. Twice
 * in a row on a card that no task has, it is somebody's.
 */
function isOutside(
  process: SeenProcess,
  card: SeenCard,
  { before, look, isGiven }: { before: Crowd; look: Look; isGiven: boolean },
): boolean {
  const { pid } = process;
  const owner = look.owners.get(pid);
  const isSeenAgain = before.pids.has(pid) || (before === NOBODY && !isGiven);
  if (owner === undefined) return isSeenAgain && !(look.isContained && isGiven);
  const holder = holderOf(process, look);
  if (holder !== undefined) return !holds(holder, process, card);
  // With a mark it may have been a task's a moment ago. Seen again, it says so and is none.
  return !owner.isOurs && (owner.mark === undefined || isSeenAgain);
}

function isOurs(process: SeenProcess, look: Look): boolean {
  return look.owners.get(process.pid)?.isOurs === true || holderOf(process, look) !== undefined;
}

/** The task that a process is of, as far as its mark says it. */
function holderOf({ pid }: SeenProcess, { owners, holders }: Look): Holder | undefined {
  const mark = owners.get(pid)?.mark;
  return mark === undefined ? undefined : holders.get(mark);
}

/** Where nobody says on which card it is, it is on its own. */
function holds(
  { cards }: Holder,
  process: SeenProcess,
  { uuid, partOf = uuid }: SeenCard,
): boolean {
  if (process.card === null) return cards.size > 0;
  return cards.has(uuid) || cards.has(partOf);
}

/** What is seen again keeps the time at which it was seen first. */
function userOf(process: SeenProcess, before: Crowd, look: Look): CardUser {
  const { pid, program, memoryBytes } = process;
  const known = before.users.find((one) => one.pid === pid);
  const task = holderOf(process, look)?.task;
  return {
    ...(task === undefined ? {} : { task }),
    pid,
    user: look.owners.get(pid)?.user ?? 'somebody',
    program: programName(program),
    memoryBytes,
    since: known?.since ?? look.now.at,
  };
}

function largestFirst(a: CardUser, b: CardUser): number {
  return (b.memoryBytes ?? 0) - (a.memoryBytes ?? 0) || a.pid - b.pid;
}

function isLarge(
  users: readonly CardUser[],
  card: SeenCard,
  hasOurs: boolean,
  { outsideBytesMin }: CardRules,
): boolean {
  if (users.length === 0) return false;
  const known = users.reduce((sum, { memoryBytes }) => sum + (memoryBytes ?? 0), 0);
  if (known >= outsideBytesMin) return true;
  const isUnknown = users.some(({ memoryBytes }) => memoryBytes === null);
  return isUnknown && !hasOurs && (card.memoryUsedBytes ?? outsideBytesMin) >= outsideBytesMin;
}
