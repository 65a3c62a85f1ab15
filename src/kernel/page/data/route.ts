// Where the reader is: the part of the address behind `#`, `#/jobs/42?tab=logs`.

import { signal } from '@preact/signals';

export interface PageAddress {
  /** `['jobs', '42']`; empty on the first page. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

export const place = signal<PageAddress>(read(location.hash));

addEventListener('hashchange', () => {
  clearTimeout(waiting);
  wanted = null;
  place.value = read(location.hash);
});
// Before a link is followed, and before the page is left or loaded anew.
addEventListener('click', flush, { capture: true });
addEventListener('pagehide', flush);

export function hrefOf(
  parts: readonly (string | number)[],
  query: Record<string, string> = {},
): string {
  const pairs = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''));
  const path = parts.map((part) => encodeURIComponent(String(part))).join('/');
  return `#/${path}${pairs.size === 0 ? '' : `?${pairs}`}`;
}

export function go(parts: readonly (string | number)[], query: Record<string, string> = {}): void {
  flush();
  location.hash = hrefOf(parts, query);
}

/** A part of the view that the reader chooses, in the address: a reload and a way back keep it. */
export function useChosen(name: string, usual = ''): [string, (value: string) => void] {
  const value = place.value.query.get(name) ?? usual;
  return [value, (next) => changeQuery({ [name]: next === usual ? '' : next })];
}

/** Empty: away with it. Without an entry in the history: for changes while one types or drags. */
export function changeQuery(changes: Readonly<Record<string, string>>): void {
  const next = { ...Object.fromEntries(place.value.query), ...changes };
  const hash = hrefOf(place.value.parts, next);
  place.value = read(hash);
  // Browsers refuse more than some hundred changes in half a minute.
  clearTimeout(waiting);
  wanted = hash;
  waiting = setTimeout(flush, QUIET_MS);
}

export function replaceAddress(hash: string): void {
  clearTimeout(waiting);
  wanted = null;
  history.replaceState(null, '', hash);
  place.value = read(hash);
}

const QUIET_MS = 200;
let waiting: ReturnType<typeof setTimeout> | undefined;
let wanted: string | null = null;

/** Before one goes elsewhere the address must be that of what was shown. */
function flush(): void {
  if (wanted === null) return;
  clearTimeout(waiting);
  history.replaceState(null, '', wanted);
  wanted = null;
}

function read(hash: string): PageAddress {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const parts = path.split('/').filter(Boolean).map(decode);
  return { parts, query: new URLSearchParams(query) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // Typed by hand; there is no such thing, and the page says so.
  }
}
