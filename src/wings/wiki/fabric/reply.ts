// Replies of the wiki protocol, in the only form that Maui's reader survives: STATE first, a
// semicolon behind every field, and nowhere a word that it would take for the reply's own.

import type { WikiProblem } from './codes.ts';

/** A list stands with colons between, counts as `[name:count][name:count]`. */
export type WikiValue =
  | string
  | number
  | readonly string[]
  | { readonly counts: Readonly<Record<string, number>> };

/** One node or job: its state, then its other fields in order. */
export interface WikiRecord {
  readonly id: string;
  readonly state: string;
  readonly fields: readonly (readonly [name: string, value: WikiValue])[];
}

/**
 * `SC=0 ARG=<n>#<id>:STATE=…;…`
 * @param records each as `formatWikiRecord` has it
 */
export function formatWikiRecords(records: readonly string[]): string {
  return `SC=0 ARG=${records.length}#${records.join('#')}`;
}

export function formatWikiRecord({ id, state, fields }: WikiRecord): string {
  const all = [['STATE', state], ...fields] as const;
  return `${escaped(id)}:${all.map(([name, value]) => `${name}=${formatValue(value)};`).join('')}`;
}

function formatValue(value: WikiValue): string {
  if (typeof value !== 'object') return escaped(String(value));
  if (isList(value)) return value.map(escaped).join(':');
  const counts = Object.entries(value.counts);
  return counts.map(([name, count]) => `[${escaped(name)}:${count}]`).join('');
}

function isList(value: object): value is readonly string[] {
  return Array.isArray(value);
}

/**
 * Maui looks for `SC=` and `ARG=` in the whole reply, so that neither may stand in a value; what
 * ends a line ends its reading.
 */
function escaped(text: string): string {
  return text
    .replace(/\p{Cc}/gu, ' ')
    .replace(/(SC|ARG|RSP|STATE)=/g, '$1_')
    .replace(/[#;:\\]/g, '\\$&');
}

export function formatWikiDone(words: string): string {
  return `SC=0 RESPONSE=${oneLine(words)}`;
}

export function formatWikiProblem({ code, text }: WikiProblem): string {
  return `SC=${code} RESPONSE=${oneLine(text)}`;
}

function oneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ').replace(/(SC|ARG)=/g, '$1_');
}
