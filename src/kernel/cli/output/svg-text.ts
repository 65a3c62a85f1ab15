// Text for SVG pictures: names come from people.

import { printable } from './table.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For elements and attributes; what XML 1.0 forbids, and what turns lines around, is a `?`. */
export function svgText(text: string): string {
  const allowed = printable(text)
    .toWellFormed()
    .replace(/[\ufffe\uffff]/g, '?');
  return allowed.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
