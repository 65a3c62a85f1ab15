// Which backups go when there are enough newer ones.

import { instantOf } from './backup-name.ts';

/** The oldest beyond `keep`; what has another name than ours stays. */
export function surplus(names: readonly string[], keep: number): string[] {
  const ours = names.filter((name) => instantOf(name) !== null).sort();
  return ours.slice(0, Math.max(0, ours.length - keep));
}

/** When the next one is due; null: none is planned. `last`: when the newest was begun, null: there is none. */
export function dueAt(
  { everyMs, last }: { readonly everyMs: number | null; readonly last: number | null },
  now: number,
): number | null {
  if (everyMs === null) return null;
  // A clock that was set back must not stop backups until it has caught up.
  return last === null || last > now ? now : last + everyMs;
}
