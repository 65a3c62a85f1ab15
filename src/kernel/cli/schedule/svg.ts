// The schedule as an SVG picture of its own: no fonts, no scripts, nothing fetched; light or dark
// as its reader has it.

import { roundInstants } from '../../base/round-instants.ts';
import { svgText } from '../output/svg-text.ts';
import { printable } from '../output/table.ts';
import { formatInstant, formatSpan } from '../output/words.ts';
import type { Picture, Placed, Row, Sight } from './picture.ts';
import { axisWords, dateWords, zoneMs, zoneWords } from './time-words.ts';

const WIDTH = 960;
const RIGHT = 18;
const TOP = 68;
const LANE = 20;
const ROW_PADDING = 6;
const FOOT = 58;
const TICK_PX = 100;
/** A letter of a 12 px font at its widest, about. */
const LETTER_PX = 7.2;
const LABEL_PX_MAX = 200;
/** More tasks than this side by side on a node are counted. */
const LANES_MAX = 24;

const STYLE = `
:root { --back: #ffffff; --line: #e1e4e8; --band: #f6f8fa; --text: #1f2328; --faint: #59636e;
  --good: #8ccf9d; --bad: #f0a3a0; --run: #7cb8ff; --plan: #eac54f; --now: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --back: #0d1117; --line: #30363d; --band: #151b23;
  --text: #e6edf3; --faint: #9198a1; --good: #2b6a3a; --bad: #8e3533; --run: #1f6feb; --plan: #7d5f0d;
  --now: #f85149; } }
text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: var(--text); }
.title { font-size: 15px; font-weight: 600; } .faint { fill: var(--faint); }
.past { fill: var(--good); } .failed { fill: var(--bad); } .running { fill: var(--run); }
.ahead { fill: var(--run); fill-opacity: 0.35; }
.planned { fill: var(--plan); fill-opacity: 0.55; stroke: var(--plan); stroke-dasharray: 4 3; }
.now { stroke: var(--now); stroke-width: 1.5; }`;

interface Scale {
  readonly sight: Sight;
  readonly left: number;
  readonly at: number;
}

/** The whole picture, ending with a newline. */
export function scheduleSvg({ at, sight, rows }: Picture): string {
  const title = `Schedule at ${dateWords(at)}`;
  const letters = Math.max(4, ...rows.map(({ node }) => node.length));
  const left = Math.round(Math.min(LABEL_PX_MAX, letters * LETTER_PX)) + 28;
  const scale = { sight, left, at };
  const heights = rows.map(heightOf);
  const bottom = TOP + heights.reduce((sum, height) => sum + height, 0);
  const height = bottom + FOOT;
  let top = TOP;
  const drawn = rows.map((row, index) => {
    const begin = top;
    top += heights[index] ?? 0;
    return drawRow(
      row,
      { top: begin, height: heights[index] ?? 0, isBand: index % 2 === 1 },
      scale,
    );
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${svgText(title)}">`,
    `<style>${STYLE}\n</style>`,
    `<rect width="${WIDTH}" height="${height}" rx="8" fill="var(--back)"/>`,
    `<text class="title" x="20" y="28">${svgText(title)}</text>`,
    ...drawn.map(({ under }) => under),
    ...axis(scale, bottom),
    ...drawn.flatMap(({ bars }) => bars),
    nowLine(scale, bottom),
    ...legend(bottom + 30),
    '</svg>',
    '',
  ]
    .filter((line, index, all) => line !== '' || index === all.length - 1)
    .join('\n');
}

function heightOf({ lanes }: Row): number {
  const more = lanes.length > LANES_MAX ? 1 : 0;
  return (Math.min(lanes.length, LANES_MAX) + more) * LANE + ROW_PADDING;
}

interface RowBox {
  readonly top: number;
  readonly height: number;
  readonly isBand: boolean;
}

function drawRow({ node, lanes }: Row, { top, height, isBand }: RowBox, scale: Scale) {
  const band = isBand
    ? `<rect x="8" y="${top}" width="${WIDTH - 16}" height="${height}" rx="4" fill="var(--band)"/>`
    : '';
  const name = `<svg x="0" y="${top}" width="${scale.left - 8}" height="${height}"><title>${svgText(node)}</title><text x="20" y="${ROW_PADDING / 2 + 14}">${svgText(node)}</text></svg>`;
  const bars = lanes
    .slice(0, LANES_MAX)
    .flatMap((lane, nth) =>
      lane.map((placed) => drawBar(placed, top + ROW_PADDING / 2 + nth * LANE, scale)),
    );
  const more = lanes.length - LANES_MAX;
  const rest = `<text class="faint" x="${scale.left}" y="${top + LANES_MAX * LANE + 16}">${more} more side by side</text>`;
  return { under: band, bars: [name, ...bars, ...(more > 0 ? [rest] : [])] };
}

function xOf(at: number, { sight, left }: Scale): number {
  const part = (at - sight.from) / Math.max(1, sight.until - sight.from);
  const x = left + Math.min(1, Math.max(0, part)) * (WIDTH - RIGHT - left);
  return Math.round(x * 10) / 10;
}

function drawBar({ bar, from, until }: Placed, top: number, scale: Scale): string {
  const { kind, id, word } = bar;
  const x = xOf(from, scale);
  const width = Math.max(1.5, Math.round((xOf(until, scale) - x) * 10) / 10);
  const rect = (kindOf: string, begin: number, wide: number) =>
    `<rect class="${kindOf}" x="${begin}" width="${wide}" y="1" height="${LANE - 3}" rx="3"/>`;
  const done = Math.max(1.5, Math.round((Math.min(x + width, xOf(scale.at, scale)) - x) * 10) / 10);
  const shapes =
    kind === 'running'
      ? rect('ahead', 0, width) + rect('running', 0, done)
      : rect(kind === 'past' && word !== 'completed' ? 'failed' : kind, 0, width);
  const name = `${id} ${printable(bar.name)}`.trim();
  const label =
    width < id.length * LETTER_PX + 8 ? '' : `<text x="6" y="13.5">${svgText(name)}</text>`;
  // A picture within the picture cuts off what is longer than its bar.
  return `<svg x="${x}" y="${top}" width="${width}" height="${LANE}"><title>${svgText(words(bar, scale.at))}</title>${shapes}${label}</svg>`;
}

function words({ id, name, owner, kind, word, from, until }: Placed['bar'], now: number): string {
  const what = `${id} ${name}`.trim() + (owner === '' ? '' : ` of ${owner}`);
  const state = kind === 'planned' ? 'planned' : word.replaceAll('_', ' ');
  const latest = kind === 'past' ? '' : ' at the latest';
  const end = until === null ? 'no time limit' : `${formatInstant(until, now)}${latest}`;
  const span = until === null ? '' : ` (${formatSpan(until - from)})`;
  return `${what}: ${state}, ${formatInstant(from, now)} – ${end}${span}`;
}

function axis(scale: Scale, bottom: number): string[] {
  const room = WIDTH - RIGHT - scale.left;
  const instants = roundInstants(scale.sight, room / TICK_PX, zoneMs(scale.at));
  const ticks = instants.flatMap((at) => {
    const x = xOf(at, scale);
    // The last words would be cut off by the edge.
    const anchor = x > WIDTH - 50 ? 'end' : 'middle';
    return [
      `<path d="M${x} ${TOP - 8}V${bottom}" stroke="var(--line)"/>`,
      `<text class="faint" x="${x}" y="${TOP - 14}" text-anchor="${anchor}">${axisWords(at, scale.at)}</text>`,
    ];
  });
  return [`<text class="faint" x="20" y="${TOP - 14}">${zoneWords(scale.at)}</text>`, ...ticks];
}

function nowLine(scale: Scale, bottom: number): string {
  const { at, sight } = scale;
  if (at < sight.from || at > sight.until) return '';
  const x = xOf(at, scale);
  return `<path class="now" d="M${x} ${TOP - 8}V${bottom + 4}"/>`;
}

const LEGEND = [
  ['past', 'ended well'],
  ['failed', 'ended badly'],
  ['running', 'runs'],
  ['ahead', 'until its limit'],
  ['planned', 'planned'],
] as const;

function legend(y: number): string[] {
  let x = 20;
  const keys = LEGEND.map(([kind, text]) => {
    const key = `<rect class="${kind}" x="${x}" y="${y - 11}" width="20" height="13" rx="3"/><text class="faint" x="${x + 26}" y="${y}">${text}</text>`;
    x += 26 + text.length * 6.4 + 24;
    return key;
  });
  return [
    ...keys,
    `<path class="now" d="M${x} ${y - 12}v15"/><text class="faint" x="${x + 8}" y="${y}">now</text>`,
  ];
}
