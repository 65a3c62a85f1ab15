// What a gateway knows of one job of ours at a site, and what it concludes. Nothing is concluded
// from absence: a job is running, ended with evidence, or unknown.

import type { Result } from '../../../../kernel/base/result.ts';
import type { ExitStatus } from '../../../../kernel/model/job.ts';
import type { EndThere } from '../../../../kernel/model/processes.ts';
import type { SiteEnd, SiteJob } from '../../../../kernel/model/site.ts';
import type { SiteProblem } from '../../adaptors/adaptor.ts';
import { isPausing } from './pausing.ts';
import type { EndReceipt, StartReceipt } from './script.ts';
import {
  type Begun,
  doubtful,
  type Exited,
  end,
  hasBegun,
  type Stage,
  saidToRun,
  sent,
  unsent,
} from './stage.ts';

/** After a submission without an answer: the site may still be at it. */
export const SETTLE_MS = 15_000;
/** Between two tries of what did not succeed. */
export const AGAIN_MS = 5_000;
/** After a site said that a job is over: its receipt may be on its way through a file server. */
export const RECEIPT_MS = 5_000;
/** A receipt that was not there so long ago has just come. */
const FRESH_MS = 5_000;
/** A listing may be a moment behind; so long without a job is no accident. */
export const MISSING_MS = 30_000;
/** After a start that a site refuses: a node may be a moment longer in use there than here. */
const REFUSED_MS = 1_000;
/** After a receipt with a signal, the site is waited for so long: somebody may have cancelled. */
const WORD_MS = 30_000;
/** A start of a foreign job not taken by then, or refused for so long, is taken back. */
const TAKEN_MS = 10_000;
/** A start of one of ours that has not taken by then is ordered again. */
const START_AGAIN_MS = 20_000;
/** A record of an end may be so late. */
const RECORD_MS = 10_000;
/** Between two questions to the accounting. */
const EVIDENCE_MS = 30_000;

export interface LaunchEntry {
  readonly launchId: number;
  /** Unique at the site. */
  readonly name: string;
  stage: Stage;
  begun: Begun;
  isCancelWanted: boolean;
  /** Nothing is asked about it before. */
  nextAt: number;
  /** A listing that was read did not have it since then. */
  missingSince: number | null;
  /** Since when and how the site says that it is over, before its script; null: it does not. */
  over: { readonly since: number; readonly there: EndThere; readonly word: string } | null;
  /** The words in which the site says that somebody there cancelled the job; null: it does not. */
  cancelledAs: string | null;
  /** The receipt of an end by a signal, and since when the site's word is waited for, or null. */
  receipt: { readonly ending: Exited; readonly since: number } | null;
  /** When somebody last looked for its receipts. */
  readAt: number | null;
  /** When the site last took a wish to cancel it, or said that there is none such. */
  cancelledAt: number | null;
  /** When it began there, by a clock of the site; null: nobody knows. */
  startedAt: number | null;
  /** When it was given to the site; 0: by a gateway before this one. */
  givenAt: number;
  /** A user of the site gave it to it: it has no script of ours; the site's word on it counts. */
  isForeign: boolean;
  /** The site starts it when we say so. */
  isSteered: boolean;
  /** When the site was last told to start it. */
  orderedAt: number | null;
  /** The first refusal of its start since it was last told so, and the words of the last. */
  refused: { readonly since: number; readonly why: string } | null;
  /** The site may have jobs of this name beside the known one. */
  mayHaveMore: boolean;
}

export type Work =
  | 'submit'
  | 'look_up'
  | 'cancel'
  | 'start'
  | 'take_back'
  | 'ask_end'
  | 'take_claim';

export function newEntry(launchId: number, name: string, stage: Stage): LaunchEntry {
  return {
    launchId,
    name,
    stage,
    begun: 'unheard',
    isCancelWanted: false,
    nextAt: 0,
    missingSince: null,
    over: null,
    cancelledAs: null,
    receipt: null,
    readAt: null,
    startedAt: null,
    givenAt: 0,
    cancelledAt: null,
    isForeign: false,
    isSteered: false,
    orderedAt: null,
    refused: null,
    mayHaveMore: stage.kind === 'doubtful',
  };
}

/** The next thing to do about it; null: wait. */
export function workOf(entry: LaunchEntry, now: number, hasAccounting: boolean): Work | null {
  if (isPausing(entry.nextAt, now)) return null;
  switch (entry.stage.kind) {
    case 'ended':
      return null;
    case 'unsent':
      return entry.isCancelWanted ? 'take_claim' : 'submit';
    case 'doubtful':
      return 'look_up';
    case 'at_site':
      return workAtSite(entry, now, hasAccounting);
  }
}

function workAtSite(entry: LaunchEntry, now: number, hasAccounting: boolean): Work | null {
  if (entry.isCancelWanted && entry.cancelledAt === null) return 'cancel';
  if (hasNotTaken(entry, now)) return 'take_back';
  if (mustStart(entry, now)) return 'start';
  if (entry.isForeign) return entry.missingSince === null ? null : 'ask_end';
  const isOver = entry.over !== null && now - entry.over.since >= RECEIPT_MS;
  const isMissing = entry.missingSince !== null && now - entry.missingSince >= MISSING_MS;
  if (!isOver && !isMissing) return null;
  // What has not begun can be kept from ever beginning; that is the end of all doubt.
  if (entry.begun !== 'proven') return 'take_claim';
  return hasAccounting ? 'ask_end' : null;
}

/** True for a running job that nobody ends: it may be suspended, and sent signals. */
export function mayTurn(entry: LaunchEntry): boolean {
  const { isForeign, isSteered, isCancelWanted, receipt, stage } = entry;
  const isLead = !isForeign || isSteered;
  const isOver = receipt !== null || isCancelWanted;
  const isListed = entry.missingSince === null && entry.over === null;
  return isLead && hasBegun(entry) && !isOver && isListed && stage.kind === 'at_site';
}

/** Only of a job of its site's users: what holds it back there nobody here knows. */
function hasNotTaken(entry: LaunchEntry, now: number): boolean {
  const { isForeign, isSteered, isCancelWanted, orderedAt, refused } = entry;
  if (!isForeign || !isSteered || isCancelWanted || hasBegun(entry)) return false;
  if (entry.missingSince !== null || entry.over !== null) return false;
  const since = orderedAt ?? refused?.since ?? null;
  return since !== null && now - since >= TAKEN_MS;
}

/** @param why null: it may have begun by now */
export function takenBack(entry: LaunchEntry, why: string | null, now: number): void {
  entry.nextAt = now + AGAIN_MS;
  if (why !== null) end(entry, { kind: 'unstartable', why, there: 'untaken' });
}

function mustStart(entry: LaunchEntry, now: number): boolean {
  const { isSteered, isCancelWanted, missingSince, over, orderedAt } = entry;
  if (!isSteered || isCancelWanted || hasBegun(entry)) return false;
  if (missingSince !== null || over !== null) return false;
  return orderedAt === null || now - orderedAt >= START_AGAIN_MS;
}

export function startOrdered(
  entry: LaunchEntry,
  answer: Result<null, SiteProblem>,
  now: number,
): void {
  if (answer.ok) {
    entry.orderedAt = now;
    entry.refused = null;
    return;
  }
  const { kind, text: why } = answer.error;
  entry.nextAt = now + (kind === 'refused' ? REFUSED_MS : AGAIN_MS);
  if (kind === 'refused') entry.refused = { since: entry.refused?.since ?? now, why };
  // Asked for by its id, and its site has none such: it never began, or began behind our back.
  if (kind === 'no_such_job') entry.missingSince ??= now;
}

/** Nothing is wrong with it, and its site was not asked. */
export function startPutOff(entry: LaunchEntry, now: number): void {
  entry.nextAt = now + REFUSED_MS;
}

/** @param isKnown null: its site does not say */
export function askedAfter(
  entry: LaunchEntry,
  isKnown: boolean | null,
  record: SiteEnd | null,
  now: number,
): void {
  entry.nextAt = now + AGAIN_MS;
  if (record !== null) {
    const { exit, endedAt: at } = record;
    end(entry, { kind: 'exited', exit, at, userUs: 0, systemUs: 0, ...byHand(entry) });
    return;
  }
  const { missingSince } = entry;
  // Its record may be on its way.
  if (isKnown !== false || missingSince === null || now - missingSince < RECORD_MS) return;
  const why = 'its site knows no such job any more';
  end(entry, { kind: hasBegun(entry) ? 'lost' : 'unstartable', why });
}

/** What its site says of a job of its own users is the truth. */
function foreignListed(entry: LaunchEntry, job: SiteJob, now: number): void {
  if (job.state === 'running' || job.state === 'suspended') saidToRun(entry);
  if (hasBegun(entry) || job.state === 'ended') entry.startedAt ??= job.startedAt;
  if (job.state !== 'ended') return;
  const { exit, word, endedAt } = job;
  if (exit !== null) {
    const at = Math.min(endedAt ?? now, now);
    end(entry, { kind: 'exited', exit, at, userUs: 0, systemUs: 0, ...byHand(entry) });
  } else if (job.isCancelled === true) {
    end(entry, { kind: 'unstartable', why: `ended at its site: ${word}`, there: 'cancelled' });
  } else if (hasBegun(entry) || job.startedAt !== null) {
    end(entry, { kind: 'lost', why: `its site says ${word}, and not how it ended` });
  } else end(entry, { kind: 'unstartable', why: `its site ended it before it began: ${word}` });
}

/** Written down before the command runs: whoever comes after a crash looks the name up. */
export function submitting(entry: LaunchEntry, now: number): void {
  doubtful(entry, now);
  if (entry.givenAt === 0) entry.givenAt = now;
  entry.nextAt = now + AGAIN_MS;
}

export function submitted(
  entry: LaunchEntry,
  answer: Result<string, SiteProblem>,
  now: number,
): void {
  if (!answer.ok) entry.mayHaveMore = true;
  if (answer.ok) {
    sent(entry, answer.value);
  } else if (answer.error.kind === 'refused') {
    end(entry, { kind: 'unstartable', why: answer.error.text, there: 'refused' });
  } else {
    entry.nextAt = now + AGAIN_MS;
    // What the site does with it may come after the command was given up.
    doubtful(entry, now);
  }
}

/** Several jobs of one name run only once: the claim sees to that. */
export function lookedUp(
  entry: LaunchEntry,
  answer: Result<readonly string[], SiteProblem>,
  now: number,
): void {
  entry.nextAt = now + AGAIN_MS;
  if (!answer.ok) return;
  // What has the name by chance or design came later: the name was seen there first with our job.
  const [first] = answer.value.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  if (first !== undefined) {
    if (answer.value.length > 1) entry.mayHaveMore = true;
    entry.missingSince = null;
    entry.cancelledAt = null;
    return sent(entry, first);
  }
  if (entry.stage.kind === 'doubtful' && now - entry.stage.since < SETTLE_MS) return;
  if (entry.begun !== 'proven') return unsent(entry);
  // It began, so that nothing is to be submitted again, and its site knows no such job any more.
  entry.missingSince ??= now;
  if (entry.isCancelWanted) entry.cancelledAt ??= now;
}

/** @param job null: the listing was read and has none of this id */
export function listed(entry: LaunchEntry, job: SiteJob | null, now: number): void {
  if (job === null) {
    entry.missingSince ??= now;
    // It will say no more of it.
    if (entry.receipt !== null) settle(entry);
    return;
  }
  entry.missingSince = null;
  if (job.isCancelled === true) entry.cancelledAs = job.word;
  if (entry.isForeign) return foreignListed(entry, job, now);
  if (job.state === 'running' || job.state === 'suspended') saidToRun(entry);
  if (hasBegun(entry)) entry.startedAt ??= job.startedAt;
  if (job.state !== 'ended') return;
  if (entry.receipt !== null) settle(entry);
  // What never had a node was ended while it waited: by somebody, whatever the site calls it.
  const isByHand = job.isCancelled === true || (job.startedAt === null && !hasBegun(entry));
  const since = entry.over?.since ?? now;
  entry.over = { since, there: isByHand ? 'cancelled' : 'refused', word: job.word };
  if (now - since < RECEIPT_MS || entry.begun !== 'proven' || job.exit === null) return;
  const at = job.endedAt ?? now;
  const given = { exit: job.exit, at, userUs: 0, systemUs: 0 };
  end(entry, { kind: 'exited', ...given, ...byHand(entry) });
}

export function receiptsRead(
  entry: LaunchEntry,
  { started, ended }: { readonly started: StartReceipt | null; readonly ended: EndReceipt | null },
  now: number,
): void {
  const { readAt } = entry;
  entry.readAt = now;
  if (started !== null) {
    proven(entry);
    entry.startedAt ??= started.at;
  }
  if (ended === null) return;
  // Receipts count whole seconds, by the clock of another machine: who was looking knows better.
  const isFresh = readAt !== null && now - readAt <= FRESH_MS;
  const at = isFresh ? now : Math.min(ended.at + 999, now);
  const ending = { kind: 'exited', ...ended, at } as const;
  entry.receipt ??= { ending, since: now };
  if (!mayBeByHand(entry, ended.exit) || now - entry.receipt.since >= WORD_MS) settle(entry);
}

/** Nobody here ended it by a signal, and its site has not said yet whether somebody there did. */
function mayBeByHand(entry: LaunchEntry, exit: ExitStatus): boolean {
  const isKnown = entry.over !== null || entry.cancelledAs !== null;
  return exit.signal !== undefined && !entry.isCancelWanted && !isKnown;
}

function settle(entry: LaunchEntry): void {
  const { receipt } = entry;
  if (receipt !== null) end(entry, { ...receipt.ending, ...byHand(entry) });
}

/** What was cancelled from here is so at its site for that reason. */
function byHand({ cancelledAs, isCancelWanted }: LaunchEntry): { readonly cancelledAs?: string } {
  if (cancelledAs === null || isCancelWanted) return {};
  return { cancelledAs: `ended at its site: ${cancelledAs}` };
}

export function endAsked(
  entry: LaunchEntry,
  answer: Result<SiteEnd | null, SiteProblem>,
  now: number,
): void {
  entry.nextAt = now + EVIDENCE_MS;
  if (!answer.ok) return;
  if (answer.value !== null) {
    const { exit, endedAt: at } = answer.value;
    end(entry, { kind: 'exited', exit, at, userUs: 0, systemUs: 0, ...byHand(entry) });
  } else if (entry.cancelledAt !== null) {
    end(entry, { kind: 'lost', why: `it was cancelled, and its site has neither it nor a record` });
  }
}

export function cancelled(
  entry: LaunchEntry,
  answer: Result<null, SiteProblem>,
  now: number,
): void {
  entry.nextAt = now + AGAIN_MS;
  if (answer.ok || answer.error.kind === 'no_such_job') entry.cancelledAt = now;
}

/**
 * A job that began, that its owner gave up, and that a site without accounting has no more, or with
 * it never named to us: what is left to know is that nobody knows.
 */
export function giveUp(entry: LaunchEntry, now: number, hasAccounting: boolean): void {
  const { cancelledAt, missingSince, begun, stage } = entry;
  if ((hasAccounting && stage.kind === 'at_site') || begun !== 'proven') return;
  if (cancelledAt === null || missingSince === null) return;
  if (now - Math.max(cancelledAt, missingSince) < MISSING_MS) return;
  end(entry, { kind: 'lost', why: 'it was cancelled, and its site does not list it any more' });
}

function proven(entry: LaunchEntry): void {
  entry.begun = 'proven';
}

/** `script`: it was there first, and its receipts tell. */
export function claimTaken(entry: LaunchEntry, by: 'us' | 'script', now: number): void {
  entry.nextAt = now + AGAIN_MS;
  if (by === 'script') {
    proven(entry);
    if (entry.stage.kind === 'unsent') doubtful(entry, now);
    return;
  }
  end(entry, { kind: 'unstartable', ...neverBegun(entry) });
}

/** Why, and whose doing it was. What a site has no more without a word goes back to the queue. */
function neverBegun(entry: LaunchEntry): { why: string; there: EndThere } {
  const { isCancelWanted, isForeign, over } = entry;
  if (isCancelWanted) {
    // A head that was put back does not know that it wanted that: what it only took back starts
    // anew.
    return { why: 'cancelled before it began', there: isForeign ? 'cancelled' : 'untaken' };
  }
  if (over === null) {
    return { why: 'its site has it no more, and it had not begun there', there: 'refused' };
  }
  const { there, word } = over;
  return { why: `its site ended it before it began: ${word}`, there };
}
