// What a gateway knows of one node that a maintenance wants, or has: one value for each phase, and
// one function for each step between them (M9).

import type { SiteStop } from '../../../../kernel/model/site.ts';
import type { StopNote } from './stop-note.ts';

/** The site has refused to stop the node for this maintenance. */
export interface Refusal {
  readonly maintenance: string;
  readonly why: string;
}

/** The site is told to stop the node, or will be soon. */
export interface Stopping {
  readonly phase: 'stopping' | 'opened';
  readonly note: StopNote;
  /** When the site acknowledged the command that its listing lacks; null: it has not. */
  readonly takenAt: number | null;
  /** Null: none. Said before the way back has begun, which needs the site's word on the node. */
  readonly refused: Refusal | null;
}

interface Stopped {
  readonly phase: 'stopped';
  readonly note: StopNote;
}

interface Returning {
  readonly phase: 'returning';
  readonly note: StopNote;
  /** What keeps it from being given back; null: nothing that is known. */
  readonly problem: string | null;
  /** The node was opened once behind a stop that nobody has seen. */
  readonly isOpened: boolean;
  /** Null when it goes back because its maintenance is over. */
  readonly refused: Refusal | null;
}

/** The site has the node as before, and the maintenance is told that it could not have it. */
interface Refused {
  readonly phase: 'refused';
  readonly refused: Refusal;
}

export type NodeStop = Stopping | Stopped | Returning | Refused;

/** Undefined: its site has it as it was. */
export function noteOf(stop: NodeStop | undefined): StopNote | undefined {
  return stop === undefined || stop.phase === 'refused' ? undefined : stop.note;
}

export function refusalOf(stop: NodeStop | undefined): Refusal | null {
  return stop === undefined || stop.phase === 'stopped' ? null : stop.refused;
}

/** Another note of it: what was known of the phase before stays only within that. */
export function noted(before: NodeStop | undefined, note: StopNote): NodeStop {
  const { phase } = note;
  const refused = refusalOf(before);
  switch (phase) {
    case 'stopping':
    case 'opened':
      return { phase, note, takenAt: takenAtOf(before), refused };
    case 'stopped':
      return { phase, note };
    case 'returning': {
      const [problem, isOpened] =
        before?.phase === 'returning' ? [before.problem, before.isOpened] : [null, false];
      return { phase, note, problem, isOpened, refused };
    }
  }
}

function takenAtOf(stop: NodeStop | undefined): number | null {
  return stop?.phase === 'stopping' || stop?.phase === 'opened' ? stop.takenAt : null;
}

/** The site has accepted the command, and the node still takes jobs. */
export function taken(stop: Stopping, now: number): Stopping & { readonly takenAt: number } {
  return { ...stop, takenAt: stop.takenAt ?? now };
}

export function refuse({ phase, note }: Stopping, refused: Refusal): Stopping {
  return { phase, note, takenAt: null, refused };
}

/** The maintenance that was refused does not want it any more. Null: nothing is left to know. */
export function withoutRefusal(stop: NodeStop): NodeStop | null {
  switch (stop.phase) {
    case 'refused':
      return null;
    case 'stopped':
      return stop;
    default:
      return { ...stop, refused: null };
  }
}

/** Ends a stop: the site has the node as before. Null: nothing is left to know. */
export function givenBack(stop: NodeStop | undefined): NodeStop | null {
  const refused = refusalOf(stop);
  return refused === null ? null : { phase: 'refused', refused };
}

/**
 * What its head is told of it.
 * @param isAwaited the head wants it for the maintenance that it is being stopped for, and knows
 * that
 */
export function shown(
  node: string,
  stop: NodeStop,
  isAwaited: (note: StopNote) => boolean,
): SiteStop[] {
  const refused = refusalOf(stop);
  const no: SiteStop[] = refused === null ? [] : [{ node, state: 'refused', ...refused }];
  const note = noteOf(stop);
  if (note === undefined || (stop.phase === 'stopping' && isAwaited(note))) return no;
  const { maintenance } = note;
  const isHeld = stop.phase === 'stopped' || stop.phase === 'opened';
  const why = stop.phase === 'returning' ? stop.problem : null;
  return [{ node, maintenance, state: isHeld ? 'stopped' : 'returning', why }, ...no];
}
