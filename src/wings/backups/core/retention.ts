// Which backups go when there are enough newer ones.

import { instantOf } from './backup-name.ts';

/** The oldest beyond `keep`; what has another name than ours stays. */
export function surplus(names: readonly string[], keep: number): string[] {
  const ours = names.filter((name) => instantOf(name) !== null).sort();
  return ours.slice(0, Math.max(0, ours.length - keep));
}

interface BackupHistory {
  readonly everyMs: number | null;
  /** When the newest was begun; null: there is none. */
  readonly last: number | null;
  /** How long ago the last attempt was, by a clock that nobody sets; null: this head made none. */
  readonly passedMs: number | null;
}

/** When the next one is due; null: none is planned. */
export function dueAt({ everyMs, last, passedMs }: BackupHistory, now: number): number | null {
  if (everyMs === null) return null;
  if (last !== null && last <= now) return last + everyMs;
  // There is none, or the clock was set back: backups neither stop until it has caught up, nor
  // crowd.
  return passedMs === null ? now : now + Math.max(0, everyMs - passedMs);
}
