// Where the reader is: the part of the address behind `#`, `#/jobs/42?tab=logs`.

import { signal } from '@preact/signals';

export interface Place {
  /** `['jobs', '42']`; empty on the first page. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

export const place = signal<Place>(read());

addEventListener('hashchange', () => {
  place.value = read();
});

export function hrefOf(
  parts: readonly (string | number)[],
  query: Record<string, string> = {},
): string {
  const pairs = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''));
  const path = parts.map((part) => encodeURIComponent(String(part))).join('/');
  return `#/${path}${pairs.size === 0 ? '' : `?${pairs}`}`;
}

export function go(parts: readonly (string | number)[], query: Record<string, string> = {}): void {
  location.hash = hrefOf(parts, query);
}

/** Without an entry in the history: for filters while they are typed. */
export function replaceQuery(query: Record<string, string>): void {
  replaceAddress(hrefOf(place.value.parts, query));
}

export function replaceAddress(hash: string): void {
  history.replaceState(null, '', hash);
  place.value = read();
}

function read(): Place {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
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
