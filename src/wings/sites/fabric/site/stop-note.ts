// What a gateway writes down of a node before it stops it at its site, so that whoever comes after
// a crash gives the node back as it was, once.

import type { NodePart, SiteNode } from '../../../../kernel/model/site.ts';

/**
 * `stopping`: the site is told, or soon. `stopped`: it has done so. `opened`: it had, and is told
 * again: the node was opened for the moment in which the maintenance's program begins, or by
 * others. `returning`: it is being given back.
 */
export type StopPhase = 'stopping' | 'stopped' | 'opened' | 'returning';

export interface StopNote {
  readonly maintenance: string;
  readonly until: number;
  /** Shown at the site while it is stopped. */
  readonly reason: string;
  readonly phase: StopPhase;
  /** The parts that took jobs before, and will again. */
  readonly open: readonly string[];
  /** What the site said of it before; null: nothing. */
  readonly reasonBefore: string | null;
  /** When its site was last told to stop it and nobody saw the effect; absent: always seen. */
  readonly unseenAt?: number;
  /** While it is given back: it was seen as it is to be left; what opens since, others open. */
  readonly isSeen?: boolean;
}

/** Whether its site says if operators stopped it: of a down or unknown node it may not. */
export function isTold({ state, parts }: SiteNode): boolean {
  return parts !== undefined || (state !== 'down' && state !== 'unknown');
}

export function partsOf({ name, state, parts }: SiteNode): readonly NodePart[] {
  return parts ?? [{ name, isOpen: state !== 'stopped' }];
}

export function openPartsOf(node: SiteNode): string[] {
  return partsOf(node).flatMap(({ name, isOpen }) => (isOpen ? [name] : []));
}

/** What a site shows of a node that is stopped for a maintenance. */
export function reasonOf(maintenance: string): string {
  return `weft maintenance ${maintenance}`;
}

/** Some sites add who said so. */
const OWN_REASON = /^weft maintenance (m\d+)(?: *\[[^\]]*\])?$/;

/**
 * The note to give a node back that is stopped in our words though nothing is noted of it: a
 * command took effect after it had been given up. Null: it is not so.
 */
export function noteOfStray(node: SiteNode): StopNote | null {
  const [, maintenance] = OWN_REASON.exec(node.reason?.trim() ?? '') ?? [];
  const stopped = partsOf(node).flatMap(({ name, isOpen }) => (isOpen ? [] : [name]));
  if (maintenance === undefined || stopped.length === 0) return null;
  const of = { maintenance, until: 0, reason: reasonOf(maintenance) };
  return { ...of, phase: 'returning', open: stopped, reasonBefore: null };
}

/** Returns null when it is no note of ours. */
export function parseStopNote(text: string): StopNote | null {
  try {
    const note = JSON.parse(text) as Partial<StopNote>;
    const isWhole = typeof note.maintenance === 'string' && Array.isArray(note.open);
    return isWhole ? (note as StopNote) : null;
  } catch {
    return null;
  }
}

/**
 * The note to begin or go on with, for a node that is to be stopped and has these parts open. Who
 * opens a node that was stopped has it opened for good; who opened it for a program is ourselves.
 */
export function noteToStop(
  known: StopNote | undefined,
  node: SiteNode,
  wish: Pick<StopNote, 'maintenance' | 'until' | 'reason'>,
): StopNote {
  const open = openPartsOf(node);
  const { maintenance, until } = wish;
  // What its site shows stays until the site is told anew.
  const reason = known === undefined || open.length > 0 ? wish.reason : known.reason;
  const own = { maintenance, until, reason };
  if (known === undefined) {
    return { ...own, phase: 'stopping', open, reasonBefore: node.reason || null };
  }
  const isOpenedByOthers = openedByOthers(known, node).length > 0;
  const wasStopped = known.phase === 'stopped' || known.phase === 'opened';
  // What its head has heard of as stopped stays so for it.
  const phase = wasStopped && known.maintenance === maintenance ? 'opened' : 'stopping';
  return {
    ...known,
    ...own,
    isSeen: false,
    phase: open.length > 0 || known.phase === 'returning' ? phase : known.phase,
    ...(isOpenedByOthers
      ? { open: [...new Set([...known.open, ...open])], reasonBefore: node.reason || null }
      : {}),
  };
}

/** The note to open a stopped node by: what others opened or stopped of it meanwhile stays. */
export function noteToOpen(note: StopNote, node: SiteNode): StopNote {
  const byOthers = openPartsOf(node);
  const open = [...new Set([...note.open, ...byOthers])];
  const reasonBefore = node.reason || null;
  if (byOthers.length > 0) return { ...note, phase: 'opened', open, reasonBefore };
  const theirs = isTheirs(note, node) ? { open: [], reasonBefore } : {};
  return { ...note, phase: 'opened', ...theirs };
}

/** The reason to show: a node that was closed before keeps what was said of it. */
export function reasonWhileStopped({ open, reason, reasonBefore }: StopNote): string {
  return open.length === 0 ? (reasonBefore ?? reason) : reason;
}

/** Parts to open once more although they are: a stop that nobody has seen may be on its way. */
export function openAnyway(note: StopNote, node: SiteNode): readonly string[] {
  if (note.unseenAt === undefined || isTheirs(note, node)) return [];
  const isOpen = new Set(openPartsOf(node));
  return note.open.filter((part) => isOpen.has(part));
}

/** Somebody has stopped it anew meanwhile, and says why: it stays theirs. */
function isTheirs({ reason }: StopNote, node: SiteNode): boolean {
  return node.reason !== null && node.reason !== '' && !node.reason.includes(reason);
}

/** Parts that nobody opened for us. */
function openedByOthers({ phase, open, isSeen }: StopNote, node: SiteNode): readonly string[] {
  const now = openPartsOf(node);
  if (phase === 'stopped') return now;
  return isSeen === true ? now.filter((part) => !open.includes(part)) : [];
}

/** The note to give it back by: what others opened of a stopped node no second try closes. */
export function noteToReturn(note: StopNote, node: SiteNode): StopNote {
  const byOthers = openedByOthers(note, node);
  const open = [...new Set([...note.open, ...byOthers])];
  const isSeen = openPartsOf(node).every((part) => open.includes(part));
  const reasonBefore = byOthers.length > 0 ? node.reason || null : note.reasonBefore;
  return { ...note, phase: 'returning', open, isSeen, reasonBefore };
}

/** What is still to be done so that the node is as it was; both empty: nothing. */
export function changesToReturn(
  note: StopNote,
  node: SiteNode,
): { readonly open: readonly string[]; readonly close: readonly string[] } {
  const isOpen = new Set(openPartsOf(node));
  const missing = note.open.filter((part) => !isOpen.has(part));
  const own = new Set(note.open);
  // It was opened for a program; a node that others have opened stays open.
  const theirs = openedByOthers(note, node);
  const close = [...isOpen].filter((part) => !own.has(part) && !theirs.includes(part));
  return { open: isTheirs(note, node) ? [] : missing, close };
}
