// Utilisation and queue of a replay over time as SVG text: no fonts, no scripts.

import { svgText } from '../../../kernel/cli/output/svg-text.ts';
import type { Series } from '../core/series.ts';

const WIDTH = 900;
const LEFT = 56;
const RIGHT = 16;
const TOP = 40;
const PANEL = 150;
const GAP = 34;
const HEIGHT = TOP + 2 * PANEL + GAP + 36;
const PLOT_WIDTH = WIDTH - LEFT - RIGHT;
/** Slices that a picture of this width can show. */
export const SLICES = PLOT_WIDTH / 2;

const UNITS = [
  { ms: 86_400_000, word: 'days' },
  { ms: 3_600_000, word: 'hours' },
  { ms: 60_000, word: 'minutes' },
  { ms: 1000, word: 'seconds' },
] as const;

interface Panel {
  readonly top: number;
  readonly title: string;
  readonly fill: string;
  /** Value at the upper edge. */
  readonly max: number;
  readonly label: (value: number) => string;
  readonly values: readonly number[];
}

/** The whole picture, ending with a newline. */
export function plotSvg(series: Series, title: string): string {
  const { slices } = series;
  const used = slices.map((slice) => slice.used);
  const waiting = slices.map((slice) => slice.waiting);
  const panels: Panel[] = [
    {
      top: TOP,
      title: 'processors in use',
      fill: '#2da44e',
      max: 1,
      values: used,
      label: (value) => `${Math.round(value * 100)} %`,
    },
    {
      top: TOP + PANEL + GAP,
      title: 'jobs waiting',
      fill: '#bf8700',
      values: waiting,
      max: roundUp(Math.max(1, ...waiting)),
      label: (value) => String(value),
    },
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${svgText(title)}">`,
    '<style>text { font: 12px system-ui, sans-serif; fill: #57606a; } .title { font-size: 14px; fill: #24292f; }</style>',
    `<rect width="${WIDTH}" height="${HEIGHT}" rx="8" fill="#ffffff"/>`,
    `<text class="title" x="${LEFT}" y="22">${svgText(title)}</text>`,
    ...panels.flatMap(drawPanel),
    ...timeAxis(series),
    '</svg>',
    '',
  ].join('\n');
}

function drawPanel({ top, title, fill, max, label, values }: Panel): string[] {
  const bottom = top + PANEL;
  const lines = [0, 0.5, 1].flatMap((part) => {
    const y = bottom - part * PANEL;
    return [
      `<path d="M${LEFT} ${y}H${WIDTH - RIGHT}" stroke="#d0d7de"/>`,
      `<text x="${LEFT - 6}" y="${y + 4}" text-anchor="end">${label(part * max)}</text>`,
    ];
  });
  const step = PLOT_WIDTH / values.length;
  const points = values.map((value, index) => {
    const y = bottom - (Math.min(value, max) / max) * PANEL;
    return `${round(LEFT + index * step)} ${round(y)}H${round(LEFT + (index + 1) * step)}`;
  });
  return [
    ...lines,
    `<path d="M${LEFT} ${bottom}L${points.join('L')}V${bottom}z" fill="${fill}" fill-opacity="0.75"/>`,
    `<text x="${LEFT + 6}" y="${top - 5}">${title}</text>`,
  ];
}

function timeAxis({ from, until }: Series): string[] {
  const lengthMs = until - from;
  const unit = UNITS.find(({ ms }) => lengthMs >= 3 * ms) ?? UNITS[3];
  const stepMs = unit.ms * roundUp(lengthMs / unit.ms / 8);
  const y = HEIGHT - 18;
  const marks: string[] = [];
  for (let at = 0; at <= lengthMs; at += stepMs) {
    const x = round(LEFT + (at / lengthMs) * PLOT_WIDTH);
    const count = round(at / unit.ms);
    marks.push(`<text x="${x}" y="${y}" text-anchor="middle">${count}</text>`);
  }
  const end = `<text x="${WIDTH - RIGHT}" y="${y + 13}" text-anchor="end">${unit.word}</text>`;
  return [...marks, end];
}

/** To 1, 2 or 5 times a power of ten. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5].find((digit) => digit * power >= value) ?? 10);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
