// The schedule as lines of text: a bar is as long as its job, with its id and name in it where
// there is room. The marks differ, so that it also reads without colours.

import { roundInstants } from '../../base/round-instants.ts';
import { cutLine } from '../output/cut-line.ts';
import { type Colour, colourOf, type Paint } from '../output/paint.ts';
import { displayWidth, printable } from '../output/table.ts';
import type { Picture, Placed, Row, Sight } from './picture.ts';
import { axisWords, zoneMs, zoneWords } from './time-words.ts';

const MARKS = { past: '▒', running: '█', ahead: '─', planned: '░' } as const;
const ENDED_BADLY = '×';
const NOW = '│';
const NODE_WIDTH = 16;
/** Narrower, bars would say nothing. */
const ROOM_MIN = 20;
/** More tasks than this side by side on a node are counted. */
const LANES_MAX = 8;
const TICK_WIDTH = 12;

/** Lines no wider than `width`: an axis, a line or more for each node, and what the marks mean. */
export function textBars(
  { at, sight, rows }: Picture,
  { width, paint }: { readonly width: number; readonly paint: Paint },
): string[] {
  const names = rows.map(({ node }) => cutLine(printable(node), NODE_WIDTH));
  const nameWidth = Math.max(0, ...names.map(displayWidth));
  const room = Math.max(ROOM_MIN, width - nameWidth - 2);
  const scale = { sight, room, at };
  const margin = ' '.repeat(nameWidth);
  const lines = rows.flatMap((row, index) => {
    const name = names[index] ?? '';
    const padded = name + ' '.repeat(nameWidth - displayWidth(name));
    return rowLines(row, scale, paint).map(
      (line, nth) => `${nth === 0 ? padded : margin}  ${line}`,
    );
  });
  return [
    `${margin}  ${axis(scale)}`,
    ...lines.map((line) => line.trimEnd()),
    ...legend(at, width),
  ];
}

interface Scale {
  readonly sight: Sight;
  readonly room: number;
  readonly at: number;
}

interface Cell {
  /** Empty behind a character that takes two columns. */
  readonly text: string;
  readonly colour: Colour | null;
}

const BLANK: Cell = { text: ' ', colour: null };

function rowLines({ lanes }: Row, scale: Scale, paint: Paint): string[] {
  const shown = lanes.slice(0, LANES_MAX).map((lane) => painted(laneCells(lane, scale), paint));
  const more = lanes.length - LANES_MAX;
  return more > 0 ? [...shown, `… ${more} more side by side`] : shown;
}

function laneCells(lane: readonly Placed[], scale: Scale): Cell[] {
  const cells = Array<Cell>(scale.room).fill(BLANK);
  const nowAt = columnOf(scale.at, scale);
  if (nowAt >= 0 && nowAt < scale.room) cells[nowAt] = { text: NOW, colour: 'grey' };
  const spans = lane.map((placed) => spanOf(placed, scale));
  for (const [index, placed] of lane.entries()) {
    const { first, last } = spans[index] as Span;
    const next = spans[index + 1];
    // A column between neighbours, where both keep one.
    const end = next === undefined ? last : Math.max(first + 1, Math.min(last, next.first - 1));
    for (const [offset, cell] of barCells(placed, { first, last: end }, scale).entries()) {
      cells[first + offset] = cell;
    }
  }
  return cells;
}

interface Span {
  readonly first: number;
  /** Not in it. */
  readonly last: number;
}

function columnOf(at: number, { sight, room }: Scale): number {
  return Math.floor(((at - sight.from) / Math.max(1, sight.until - sight.from)) * room);
}

function spanOf({ from, until }: Placed, scale: Scale): Span {
  const first = Math.min(scale.room - 1, Math.max(0, columnOf(from, scale)));
  return { first, last: Math.min(scale.room, Math.max(first + 1, columnOf(until, scale))) };
}

function barCells({ bar, from, until }: Placed, { first, last }: Span, scale: Scale): Cell[] {
  const { kind, word } = bar;
  const colour = kind === 'planned' ? 'yellow' : colourOf(word);
  const nowAt = columnOf(scale.at, scale);
  const texts = Array.from({ length: last - first }, (_, offset) => {
    if (kind !== 'running') return MARKS[kind];
    return first + offset <= nowAt ? MARKS.running : MARKS.ahead;
  }) as string[];
  if (from < scale.sight.from) texts[0] = '‹';
  const isBad = kind === 'past' && word !== 'completed';
  if (until > scale.sight.until) texts[texts.length - 1] = '›';
  else if (isBad) texts[texts.length - 1] = ENDED_BADLY;
  label(texts, [`${bar.id} ${printable(bar.name)}`.trim(), bar.id]);
  return texts.map((text) => ({ text, colour }));
}

/** Behind the first mark, with a mark behind it: the longest that fits, the name cut if need be. */
function label(texts: string[], [whole = '', id = '']: readonly string[]): void {
  const room = texts.length - 2;
  if (room < displayWidth(id)) return;
  // Three letters of a name say more than none.
  const text = room >= displayWidth(id) + 4 ? cutLine(whole, room) : id;
  let at = 1;
  for (const character of text) {
    const columns = displayWidth(character);
    if (columns === 0) texts[at - 1] += character;
    else texts[at] = character;
    if (columns === 2) texts[at + 1] = '';
    at += columns;
  }
}

function painted(cells: readonly Cell[], paint: Paint): string {
  let line = '';
  let run = '';
  let colour: Colour | null = null;
  for (const cell of cells) {
    if (cell.colour !== colour) {
      line += run === '' ? '' : paint(run, colour);
      run = '';
      colour = cell.colour;
    }
    run += cell.text;
  }
  return line + (colour === null ? run.trimEnd() : paint(run, colour));
}

function axis(scale: Scale): string {
  const instants = roundInstants(scale.sight, scale.room / TICK_WIDTH, zoneMs(scale.at));
  let line = '';
  for (const at of instants) {
    const column = columnOf(at, scale);
    const words = axisWords(at, scale.at);
    if (column < line.length || column + words.length > scale.room) continue;
    line = `${line.padEnd(column)}${words} `;
  }
  return line.trimEnd();
}

function legend(at: number, width: number): string[] {
  const { past, running, ahead, planned } = MARKS;
  const bars = `${past} past (${ENDED_BADLY} failed)  ${running} running, ${ahead} until its limit`;
  const rest = `${planned} planned  ${NOW} now  ${zoneWords(at)}`;
  const line = `${bars}  ${rest}`;
  return displayWidth(line) <= width ? [line] : [bars, rest];
}
