// Interrupts of keyboards and mice that have a line of their own, as in most laptops. Everybody
// may read how often each has come.

import { readFileSync } from 'node:fs';
import type { Detector, Instant } from './detector.ts';
import { plain, reasonOf } from './detector.ts';

const BY = 'interrupts';
const OF_PEOPLE = /i8042|keyboard|mouse|touch|i2c.?hid|elan|synaptics|wacom|atmel_mxt|goodix/i;

export function interrupts(file = '/proc/interrupts'): Detector {
  let before: ReadonlyMap<string, number> | null = null;
  let last: { readonly what: string; readonly at: Instant } | null = null;
  return {
    of: 'input',
    look(now) {
      let text: string;
      try {
        text = readFileSync(file, 'latin1');
      } catch (error) {
        const why = `${file} cannot be read: ${reasonOf(error)}`;
        return [{ kind: 'blind', by: BY, of: 'input', why }];
      }
      const counts = countsOf(text);
      if (counts.size === 0) return [{ kind: 'blind', by: BY, of: 'input', why: NONE }];
      for (const [name, count] of counts) {
        if (before !== null && count !== before.get(name)) last = { what: plain(name), at: now };
      }
      before = counts;
      const what = last?.what ?? [...counts.keys()].map(plain).join(', ');
      return [{ kind: 'input', by: BY, what, last: last?.at ?? null }];
    },
  };
}

const NONE =
  "no interrupt is a keyboard's or a mouse's alone: of USB they share one with other devices";

/** How often each of them has come, on all cpus together. */
export function countsOf(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of text.split('\n').slice(1)) {
    const match = /^\s*(\S+):((?:\s+\d+)+)\s+(.*)$/.exec(line);
    if (match === null || !OF_PEOPLE.test(match[3] ?? '')) continue;
    const count = (match[2] ?? '')
      .trim()
      .split(/\s+/)
      .reduce((sum, one) => sum + Number(one), 0);
    // The same device may have several, as the keyboard's and the mouse's of one i8042.
    const name = `${(match[3] ?? '')
      .trim()
      .split(/\s{2,}|\s(?=\S+$)/)
      .at(-1)} (interrupt ${match[1]})`;
    counts.set(name, count);
  }
  return counts;
}
