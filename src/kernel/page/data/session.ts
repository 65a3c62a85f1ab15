// Who is logged in here. The cookie is the browser's; the key beside it is kept for this origin, so
// that further tabs need no login.

import { signal } from '@preact/signals';
import { type Me, readKey, readMe } from '../pure/kept.ts';
import { keep, readKept } from './kept.ts';

const KEY = 'weft.page-key';

const ME = 'weft.me';

/** What somebody typed here and has not sent; it goes with the one who typed it. */
export const TYPED = 'weft.new-job';

/** What somebody sent here and has no answer to. */
export const UNANSWERED = 'weft.unanswered';

/** Forgets what was typed, so that the next user does not see it. */
export function forgetTyped(): void {
  keep('tab', TYPED, null);
  keep('tab', UNANSWERED, null);
}

/** The last user here: shown at once, while the head is asked whether the session still holds. */
export function lastMe(): Me | null {
  return readMe(readKept('browser', ME));
}

export function keepMe(known: Me): void {
  keep('browser', ME, JSON.stringify(known));
  hasEnded.value = false;
  me.value = known;
}

/** Undefined: not known yet. Null: nobody. */
export const me = signal<Me | null | undefined>(undefined);

export function pageKey(): string | null {
  return readKey(readKept('browser', KEY));
}

export function keepKey(key: string | null): void {
  keep('browser', KEY, key);
  if (key === null) keep('browser', ME, null);
}

/** The head has refused a session that was held here: whoever had it should hear so. */
export const hasEnded = signal(false);

/** Without credentials from now on; the page shows the login. */
export function forgetMe(why: 'refused' | 'logged_out'): void {
  // Several questions are refused at once; after the first there is no key any more.
  if (why === 'logged_out') hasEnded.value = false;
  else if (pageKey() !== null) hasEnded.value = true;
  keepKey(null);
  me.value = null;
}

/** The storage has changed in another tab: whoever logged out there is not shown here either. */
export function onStored(name: string | null, text: string | null): void {
  // No name: all of it is gone.
  if ((name !== KEY && name !== null) || text !== null) return;
  forgetTyped();
  me.value = null;
}

/** Whether the user may do what operators do. */
export function isOperator(): boolean {
  return me.value?.role === 'operator' || me.value?.role === 'admin';
}
