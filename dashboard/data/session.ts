// Who is logged in here. The cookie is the browser's; the key beside it is kept for this origin, so
// that further tabs need no login.

import { signal } from '@preact/signals';

export interface Me {
  readonly name: string;
  readonly role: 'user' | 'operator' | 'admin';
}

const KEY = 'weft.page-key';

const ME = 'weft.me';

/** Who was logged in here last: shown at once, while the head is asked whether it still is so. */
export function lastMe(): Me | null {
  const kept = localStorage.getItem(ME);
  return kept === null ? null : (JSON.parse(kept) as Me);
}

export function keepMe(known: Me): void {
  localStorage.setItem(ME, JSON.stringify(known));
  me.value = known;
}

/** Undefined: not known yet. Null: nobody. */
export const me = signal<Me | null | undefined>(undefined);

export function pageKey(): string | null {
  return localStorage.getItem(KEY);
}

export function keepKey(key: string | null): void {
  if (key !== null) localStorage.setItem(KEY, key);
  else for (const name of [KEY, ME]) localStorage.removeItem(name);
}

/** Whether the user may do what operators do. */
export function isOperator(): boolean {
  return me.value?.role === 'operator' || me.value?.role === 'admin';
}
