// A pause: a node stands aside for whoever sits at it. What runs there is suspended, nothing
// starts.

import { formatDuration } from '../base/duration.ts';
import { formatInstant } from '../base/instant.ts';
import { type Refusal, refuse } from './errors.ts';

/** A pause in the words of the node's agent; instants are by the node's clock, ms since 1970. */
export type Pause = OwnerPause | YieldPause;

/** Somebody asked for it. */
export interface OwnerPause {
  readonly kind: 'owner';
  /** Login name. */
  readonly by: string;
  readonly since: number;
  readonly until: number;
  /** Tasks that may be requeued go elsewhere; the others are suspended. */
  readonly requeue: boolean;
}

/** The agent saw that the machine is in use. */
export interface YieldPause {
  readonly kind: 'yield';
  /** What was seen, in words: `keyboard on tty2`. */
  readonly why: string;
  readonly since: number;
  readonly requeue: boolean;
}

/** What an operator asks of a node's agent. `serial` grows with each wish of a node. */
export type PauseOrder =
  | {
      readonly kind: 'pause';
      readonly serial: number;
      readonly by: string;
      readonly durationMs: number;
      readonly requeue: boolean;
    }
  | { readonly kind: 'unpause'; readonly serial: number; readonly by: string };

/** Length of a pause that names none. */
export const PAUSE_DEFAULT_MS = 3_600_000;
/** Longest pause where `node.pause_max` says nothing. */
export const PAUSE_MAX_MS = 4 * 3_600_000;
/** A shorter one is over before anybody notices, and can only be a slip. */
export const PAUSE_MIN_MS = 1_000;

/** `paused by alice until 2026-03-29T15:04:00Z`; what follows `the node is`. */
export function pauseWords(pause: Pause): string {
  if (pause.kind === 'owner') return `paused by ${pause.by} until ${formatInstant(pause.until)}`;
  return `paused since ${formatInstant(pause.since)}: owner active (${pause.why})`;
}

/** Why nobody may ask for a pause of this length; null: it is all right. */
export function refusePause(node: string, durationMs: number, maxMs: number): Refusal | null {
  if (durationMs < PAUSE_MIN_MS) {
    const what = `a pause lasts ${formatDuration(PAUSE_MIN_MS)} at least`;
    return refuse('argument.invalid', { what });
  }
  if (durationMs <= maxMs) return null;
  const said = { duration: formatDuration(durationMs), limit: formatDuration(maxMs) };
  return refuse('pause.too_long', { node, ...said });
}

/** There is none that anybody has asked for. */
export function refuseUnpause(node: string, pause: Pause | null): Refusal {
  if (pause === null) return refuse('node.not_paused', { node });
  const hint = `It is ${pauseWords(pause)}, and takes work again when that is over.`;
  return refuse('node.not_paused', { node }, hint);
}
