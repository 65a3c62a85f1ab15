// Whether this store is the newest: a head that hears from a node of records that it does not have
// was put back from an older copy, or is a copy itself. It starts nothing then.

import { isSame } from '../../base/same.ts';
import type { NodeName } from '../../model/ids.ts';
import { LIVES_SKIPPED, type Life, lifeId, numberOf, type Standing } from '../../model/life.ts';
import type { State } from '../state.ts';
import type { Step } from '../step.ts';

/** Nodes that a message names at most. */
const NODES_MAX = 10;

/** How a life begins. */
export interface Birth {
  readonly nonce: string;
  /** Number of the last record that there is. */
  readonly seq: number;
}

export function nextLife({ lives, livesLost, lastAt }: State, { nonce, seq }: Birth): Life {
  const last = lives.at(-1);
  const before = Math.max(last === undefined ? 0 : numberOf(last.id), livesLost);
  const after = lastAt === null ? {} : { after: lastAt };
  return { id: lifeId(before + 1, nonce), from: seq + 1, ...after };
}

/** Far beyond all that may have been given out in what is lost. */
export function lifeAfterLoss(state: State, { nonce, seq }: Birth): Life {
  const before = Math.max(numberOf(nextLife(state, { nonce, seq }).id), state.behind?.life ?? 0);
  return { id: lifeId(before + LIVES_SKIPPED, nonce), from: seq + 1 };
}

/**
 * Instant of the last event that is kept of those before a loss of what came after `lastSeq`; null:
 * it is not known. The life in which the loss was found began with what was there.
 */
export function keptUntil({ lives, lastAt, behind }: State, lastSeq: number): number | null {
  const found = lives.find(({ from }) => from > lastSeq);
  if (found !== undefined) return found.after ?? null;
  return behind === null ? lastAt : null;
}

/** `heard`: newest that a node knows of this head. `ownSeq`: the head's own last record. */
export interface Heard {
  readonly heard: Standing;
  readonly ownSeq: number;
}

/** What a node has heard last: of this store, or of a newer one? */
export function decideHeard(step: Step, node: NodeName, { heard, ownSeq }: Heard): void {
  const { state } = step;
  const lastSeq = lastInCommon(state, heard, ownSeq);
  if (lastSeq === null) return;
  const { behind } = state;
  const nodes = new Set(behind?.nodes ?? []);
  if (nodes.size < NODES_MAX) nodes.add(node);
  const { nextJobId, nextReservationId, epochMax } = heard.given;
  const known = behind?.given ?? heard.given;
  const now = {
    lastSeq: Math.min(lastSeq, behind?.lastSeq ?? lastSeq),
    promisedSeq: Math.max(heard.seq, behind?.promisedSeq ?? 0),
    life: Math.max(numberOf(heard.life), behind?.life ?? 0),
    given: {
      nextJobId: Math.max(nextJobId, known.nextJobId),
      nextReservationId: Math.max(nextReservationId, known.nextReservationId),
      epochMax: Math.max(epochMax, known.epochMax),
    },
    nodes: [...nodes],
  };
  if (!isSameBehind(now, state)) step.emit({ kind: 'head_behind', behind: now });
}

/** Returns null when this store has all of it, or what it lacks was accepted as lost. */
function lastInCommon(
  { lives, livesLost }: State,
  { life, seq }: Standing,
  ownSeq: number,
): number | null {
  const number = numberOf(life);
  // Also of a life that is known here: what it wrote after the copy was made was accepted as lost.
  if (number <= livesLost) return null;
  const at = lives.findIndex(({ id }) => id === life);
  if (at >= 0) {
    // The life of now may have written more than is here, too: a machine was put back, memory and
    // all.
    const last = (lives[at + 1]?.from ?? ownSeq + 1) - 1;
    return seq <= last ? null : last;
  }
  const oldest = lives[0];
  const current = lives.at(-1);
  // Nobody counts here, or it is from before what is remembered.
  if (oldest === undefined || current === undefined) return null;
  if (number < numberOf(oldest.id)) return null;
  return current.from - 1;
}

function isSameBehind(now: object, { behind }: State): boolean {
  if (behind === null) return false;
  const { since: _, ...rest } = behind;
  return isSame(now, rest);
}
