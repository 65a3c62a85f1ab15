// Logging in: by the secret of a link in the address, by a token, or by the session that is there.

import { signal } from '@preact/signals';
import { switchWords } from '../pure/words.ts';
import { call, HeadError } from './client.ts';
import { replaceAddress } from './route.ts';
import { forgetMe, forgetTyped, keepKey, keepMe, lastMe, me, pageKey } from './session.ts';

/** Said when a link has made one somebody else: whoever sent it may want that to go unnoticed. */
export const switched = signal<string | null>(null);

/** Once, when the page is opened. Throws `HeadError` when the head cannot be asked. */
export async function enter(): Promise<void> {
  const link = linkOf(location.hash);
  if (link !== null) {
    // Gone from the address before anything else: it works once, and history keeps it for long.
    replaceAddress('#/');
    const before = lastMe()?.name ?? null;
    await logIn({ link });
    switched.value = switchWords(before, me.value?.name ?? null);
    return;
  }
  if (pageKey() === null) {
    me.value = null;
    return;
  }
  me.value = lastMe() ?? undefined;
  await whoAmI();
}

/** Whether the address has a link's secret: it may be pasted into a page that is open. */
export function hasLink(): boolean {
  return linkOf(location.hash) !== null;
}

/** Throws `HeadError` when it is refused. */
export async function logIn(body: { token: string } | { link: string }): Promise<void> {
  const { key, user, role } = await call('loginPage', { body });
  switched.value = null;
  keepKey(key);
  keepMe({ name: user, role });
}

export async function logOut(): Promise<void> {
  // At once: another question may hear before this one that nobody is logged in, and the login is
  // shown.
  forgetTyped();
  try {
    await call('logoutPage', { body: {} });
  } finally {
    // Also while the head is away: without its key the session is worth nothing.
    forgetTyped();
    forgetMe('logged_out');
  }
}

async function whoAmI(): Promise<void> {
  try {
    const { name, role } = await call('whoami');
    keepMe({ name, role: role ?? 'user' });
  } catch (error) {
    if (error instanceof HeadError && error.kind === 'unauthenticated') return;
    throw error;
  }
}

function linkOf(hash: string): string | null {
  return /^#login=([\w-]+)$/.exec(hash)?.[1] ?? null;
}
