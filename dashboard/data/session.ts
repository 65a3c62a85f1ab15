// Who is logged in here. The cookie is the browser's; the key beside it is kept for this origin, so
// that further tabs need no login.

import { signal } from '@preact/signals';

export interface Me {
  readonly name: string;
  readonly role: 'user' | 'operator' | 'admin';
}

const KEY = 'weft.page-key';

/** Undefined: not known yet. Null: nobody. */
export const me = signal<Me | null | undefined>(undefined);

export function pageKey(): string | null {
  return localStorage.getItem(KEY);
}

export function keepKey(key: string | null): void {
  if (key === null) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, key);
}

/** Whether the user may do what operators do. */
export function isOperator(): boolean {
  return me.value?.role === 'operator' || me.value?.role === 'admin';
}
