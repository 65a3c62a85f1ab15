// How a page is laid out, as text: what stands where. Compared loosely with what was approved, so
// that fonts of other machines do no harm. Approved anew with WEFT_LAYOUT_UPDATE=1.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Visit } from '../../../tools/browser.ts';

export const LAYOUT_WIDTHS = [1280, 800, 400];

const FOLDER = path.join(import.meta.dirname, 'page-layouts');
/** Pixels that a place may differ by, across and down; down a page differences add up. */
const ACROSS = 28;
const DOWN = 60;
const DOWN_SHARE = 0.12;
/** Pictures and data come a moment after the page: it is looked at until it stays. */
const LOOKS_MAX = 40;

interface Box {
  readonly name: string;
  /** Left, top, width, height. */
  readonly place: readonly number[];
}

const WALK = `(() => {
  const wanted = 'header.top, nav, main, h1, h2, section, table, [role=table], canvas, form, search, dl, ul, .figure, .actions button, thead th, [role=columnheader]';
  const boxes = [];
  for (const element of document.querySelectorAll(wanted)) {
    const { left, top, width, height } = element.getBoundingClientRect();
    if (width === 0 || height === 0) continue;
    const own = /^(H1|H2|BUTTON|TH)$/.test(element.tagName) || element.matches('[role=columnheader]');
    const label = element.getAttribute('aria-label') ?? (own ? element.textContent : '');
    const tag = (element.getAttribute('role') ?? element.tagName).toLowerCase();
    const words = label.replace(/[0-9][0-9,.:]*/g, '#').replace(/\\s+/g, ' ').slice(0, 40);
    const down = document.querySelector('main').scrollTop;
    const place = [left, top + down, width, height].map((value) => Math.round(value / 4) * 4);
    boxes.push({ name: (tag + ' ' + words).trim(), place });
  }
  return boxes;
})()`;

/** What is otherwise than approved, in words; nothing when all is well. */
export async function compareLayout(
  { page }: Visit,
  address: string,
  width: number,
): Promise<string[]> {
  const file = path.join(FOLDER, `${address.replaceAll('/', '-') || 'overview'}-${width}.txt`);
  const isUpdate = process.env['WEFT_LAYOUT_UPDATE'] === '1';
  let before = '';
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const boxes = (await page.evaluate(WALK)) as Box[];
    const text = formatBoxes(boxes);
    if (!isUpdate && existsSync(file)) {
      if (differences(readBoxes(readFileSync(file, 'utf8')), boxes).length === 0) return [];
    } else if (text === before && look > 2) {
      if (!isUpdate) return [`${file} is not there; approve it with WEFT_LAYOUT_UPDATE=1`];
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(file, text);
      return [];
    }
    before = text;
    await page.waitForTimeout(100);
  }
  const approved = existsSync(file) ? readBoxes(readFileSync(file, 'utf8')) : [];
  const found = differences(approved, readBoxes(before));
  return found.map((words) => `${address || 'overview'} at ${width}: ${words}`);
}

/** Pairs that stand elsewhere, and what came or went. */
export function differences(approved: readonly Box[], found: readonly Box[]): string[] {
  const names = (boxes: readonly Box[]): string => boxes.map(({ name }) => name).join('\n');
  if (names(approved) !== names(found)) {
    const gone = approved.filter(({ name }) => !found.some((one) => one.name === name));
    const come = found.filter(({ name }) => !approved.some((one) => one.name === name));
    const words = (boxes: readonly Box[]): string => boxes.map(({ name }) => name).join(', ');
    return [`gone: ${words(gone) || 'none'}; new: ${words(come) || 'none'}; or in another order`];
  }
  return found.flatMap(({ name, place }, at) => {
    const wanted = approved[at]?.place ?? [];
    const isNear = place.every((value, side) => {
      const other = wanted[side] ?? 0;
      const isDown = side % 2 === 1;
      const most = isDown ? Math.max(DOWN, DOWN_SHARE * other) : ACROSS;
      return Math.abs(value - other) <= most;
    });
    return isNear ? [] : [`${name} at ${place.join(' ')}, approved ${wanted.join(' ')}`];
  });
}

/** A line for each: `main: 0 40 1280 860`. */
function formatBoxes(boxes: readonly Box[]): string {
  return boxes.map(({ name, place }) => `${name}: ${place.join(' ')}\n`).join('');
}

function readBoxes(text: string): Box[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const at = line.lastIndexOf(': ');
      return {
        name: line.slice(0, at),
        place: line
          .slice(at + 2)
          .split(' ')
          .map(Number),
      };
    });
}
