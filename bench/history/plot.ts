// Figures over time as one picture: a small curve for each, the newest value in words.

import { type Entry, isBetterHigher, keyOf, middle } from './history.ts';

const WIDTH = 760;
const COLUMNS = 2;
const ROW = 64;
const CURVE = { width: 170, height: 36 };

/** An SVG of all figures of Weft that have been recorded, each beside its name and newest value. */
export function plot(entries: readonly Entry[]): string {
  const curves = new Map<string, Entry[]>();
  for (const entry of entries.filter(({ peer }) => peer === 'weft'))
    curves.set(keyOf(entry), [...(curves.get(keyOf(entry)) ?? []), entry]);
  const all = [...curves.values()].sort((one, other) => nameOf(one).localeCompare(nameOf(other)));
  const height = Math.ceil(all.length / COLUMNS) * ROW + 16;
  const cells = all.map((curve, at) => {
    const x = 12 + (at % COLUMNS) * (WIDTH / COLUMNS);
    return cell(curve, x, 12 + Math.floor(at / COLUMNS) * ROW);
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Figures of the benchmarks over time" font-family="system-ui, sans-serif" font-size="12">`,
    '<style>text{fill:#17202a}.faint{fill:#55616e}path{stroke:#0b5c8a}circle{fill:#0b5c8a}@media (prefers-color-scheme:dark){text{fill:#e3e9ee}.faint{fill:#9dabb8}path{stroke:#7cc0ea}circle{fill:#7cc0ea}}</style>',
    ...cells,
    '</svg>',
    '',
  ].join('\n');
}

function nameOf([first]: readonly Entry[]): string {
  return first?.figure ?? '';
}

function cell(curve: readonly Entry[], x: number, y: number): string {
  const last = curve.at(-1) as Entry;
  const name = last.figure.replaceAll('_', ' ');
  const best = isBetterHigher(last.unit) ? 'more is better' : 'less is better';
  return [
    `<g transform="translate(${x} ${y})">`,
    `<text y="12">${escaped(name)}</text>`,
    `<text class="faint" y="30">${escaped(`${last.median} ${last.unit}, ${best}`)}</text>`,
    `<g transform="translate(190 2)">${line(curve.map(({ median }) => median))}</g>`,
    '</g>',
  ].join('');
}

/** From zero to twice the middle: how much a step is, is seen without an axis. */
function line(values: readonly number[]): string {
  const top = 2 * (middle(values) || 1);
  const step = CURVE.width / Math.max(1, values.length - 1);
  const points = values.map((value, at) => {
    const height = Math.min(1, Math.max(0, value / top)) * CURVE.height;
    return [at * step, CURVE.height - height].map((one) => one.toFixed(1));
  });
  const way = points.map(([px, py], at) => `${at === 0 ? 'M' : 'L'}${px} ${py}`).join('');
  const [ex = '0', ey = '0'] = points.at(-1) ?? [];
  return `<path d="${way}" fill="none" stroke-width="1.5"/><circle cx="${ex}" cy="${ey}" r="2.5"/>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
