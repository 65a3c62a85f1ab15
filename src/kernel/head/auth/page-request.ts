// What a request of the web page shows of itself: the cookie, the key, and where it was made.

import type { IncomingHttpHeaders } from 'node:http';
import { PAGE_KEY_HEADER } from '../../api/ui.ts';
import { type Refusal, refuse } from '../../model/errors.ts';

/** Browsers keep a cookie with this prefix to one host, one path and TLS. */
const SECURE_PREFIX = '__Host-';

/** Cookie and key; null: it is no request of the page. A cookie alone counts for nothing. */
export function pageCredentials(
  headers: IncomingHttpHeaders,
  name: string,
): { readonly cookie: string; readonly key: string } | null {
  const key = headers[PAGE_KEY_HEADER];
  if (typeof key !== 'string') return null;
  return { key, cookie: cookieOf(headers, name) };
}

/** The session's cookie, empty when there is none. */
export function cookieOf({ cookie = '' }: IncomingHttpHeaders, name: string): string {
  for (const pair of cookie.split(';')) {
    const at = pair.indexOf('=');
    const given = pair.slice(0, Math.max(0, at)).trim();
    if (given === name || given === `${SECURE_PREFIX}${name}`) return pair.slice(at + 1).trim();
  }
  return '';
}

/** Another site's page must not act, nor log anybody in. Null: it is ours, or no browser. */
export function refuseForeignPage({
  origin,
  host = '',
  'sec-fetch-site': site = 'same-origin',
}: IncomingHttpHeaders): Refusal | null {
  const isOurs = origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
  // `none`: typed by the user.
  if (isOurs && (site === 'same-origin' || site === 'none')) return null;
  return refuse('auth.foreign_page', { origin: String(origin ?? site).slice(0, 200) });
}

/** The header that sets the session's cookie, or takes it away (`maxAgeMs` 0). */
export function setCookie(of: {
  readonly name: string;
  readonly value: string;
  readonly maxAgeMs: number;
  readonly secure: boolean;
}): string {
  const { name, value, maxAgeMs, secure } = of;
  const attributes = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${Math.floor(maxAgeMs / 1000)}`;
  const full = secure ? `${SECURE_PREFIX}${name}` : name;
  return `${full}=${value}; ${attributes}${secure ? '; Secure' : ''}`;
}
