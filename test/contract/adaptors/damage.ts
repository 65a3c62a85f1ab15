// Answers as they come through bad lines, wrong machines and other languages.

import type { SiteOutput } from '../../../src/wings/sites/adaptors/adaptor.ts';

/** Texts that no system of ours has for a listing of nothing. */
export const FOREIGN: readonly string[] = [
  '<html><body>Please log in</body></html>\n',
  'Keine Auftr\u00e4ge gefunden\n',
  'Warning: the system goes down at noon\n',
  '\u0000\u0001\ufffd\ufffd',
  'null',
  'true',
  '"text"',
  '{"answer": 7}',
  '[7]',
  '{"error": ',
];

/** Errors whose words are in no adaptor. */
export const GERMAN: readonly SiteOutput[] = [
  { stdout: '', stderr: 'Fehler: Dienst antwortet wie gehabt\n', code: 1 },
  { stdout: '', stderr: '', code: 7 },
];

const CUTS = 40;

/** Beginnings of a text, without its whole. */
export function cutsOf(text: string): string[] {
  const step = Math.max(1, Math.floor(text.length / CUTS));
  const cuts: string[] = [];
  for (let length = 1; length < text.length; length += step) cuts.push(text.slice(0, length));
  return cuts;
}

/** Cut behind a line, where it is seen least. */
export function lineCuts(text: string): string[] {
  const ends = [...text.matchAll(/\n/g)].map(({ index }) => index + 1).slice(0, -1);
  const step = Math.max(1, Math.floor(ends.length / CUTS));
  return ends.filter((_, at) => at % step === 0).map((end) => text.slice(0, end));
}

const DAMAGES = 30;

/** With characters lost, doubled, changed and moved; the same for the same number. */
export function damaged(text: string, seed: number): string[] {
  let state = seed + 1;
  const roll = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >>> 8) % below;
  };
  return Array.from({ length: DAMAGES }, () => {
    const at = roll(text.length);
    const length = 1 + roll(40);
    const [before, piece, after] = [
      text.slice(0, at),
      text.slice(at, at + length),
      text.slice(at + length),
    ];
    const kinds = ['', piece + piece, '9'.repeat(length), '"', 'null', '-1', '\n', piece.trim()];
    return before + (kinds[roll(kinds.length)] ?? '') + after;
  });
}

/** Names of fields, as JSON, XML and lines of `name = value` have them. */
const FIELD = /"([A-Za-z_][\w.]*)"\s*:|<([A-Za-z_]\w*)[ >/]|^\s*([A-Za-z_][\w.]*) ?[=:] /gm;

/**
 * The text like another version of the system might print it: one field called otherwise,
 * everywhere.
 */
export function renamed(text: string): { readonly field: string; readonly text: string }[] {
  const names = [...text.matchAll(FIELD)].map(([, json, xml, line]) => json ?? xml ?? line ?? '');
  return [...new Set(names)].map((field) => {
    const word = new RegExp(`(?<![\\w.])${field.replaceAll('.', '\\.')}(?![\\w.])`, 'g');
    return { field, text: text.replace(word, `${field}_new`) };
  });
}

const NUMBERS = 60;
const WRONG = ['9007199254740991', '99999999999', '0', '-1', '1e99', '3.5', 'null', '""'];

/** With one of its numbers changed to what no number of its kind is. */
export function wrongNumbers(text: string): string[] {
  const found = [...text.matchAll(/\d+/g)];
  const step = Math.max(1, Math.floor(found.length / NUMBERS));
  return found
    .filter((_, at) => at % step === 0)
    .flatMap(({ index, 0: digits }) =>
      WRONG.map((wrong) => text.slice(0, index) + wrong + text.slice(index + digits.length)),
    );
}
