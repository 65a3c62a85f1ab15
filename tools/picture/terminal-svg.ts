// A terminal window as SVG text: no fonts, no scripts, no binary; what was typed stands out.

import { svgText } from '../../src/kernel/cli/output/svg-text.ts';

/** One line of a terminal; `typed` lines follow a prompt. */
export interface TerminalLine {
  readonly text: string;
  readonly typed: boolean;
}

export interface Look {
  readonly title: string;
  /** Longer lines go on in the next one, as in a terminal. */
  readonly columns: number;
}

const FONT_PX = 13;
/** The advance of common monospace fonts; `textLength` makes every font keep to it. */
const COLUMN_PX = FONT_PX * 0.602;
const ROW_PX = 18;
const PADDING_PX = 16;
const BAR_PX = 34;
const TOP_PX = BAR_PX + 8;
const LIGHTS = ['#ff5f57', '#febc2e', '#28c840'];

/** The whole picture, ending with a newline. */
export function terminalSvg(lines: readonly TerminalLine[], look: Look): string {
  const rows = lines.flatMap((line) => wrap(line, look.columns));
  const width = Math.ceil(look.columns * COLUMN_PX) + 2 * PADDING_PX;
  const height = TOP_PX + rows.length * ROW_PX + PADDING_PX;
  const texts = rows.map((row, index) => rowText(row, TOP_PX + (index + 1) * ROW_PX - 5));
  const lights = LIGHTS.map(
    (fill, index) => `<circle cx="${20 + index * 20}" cy="17" r="6" fill="${fill}"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${svgText(look.title)}">`,
    '<style>',
    `text { font: ${FONT_PX}px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #c9d1d9; white-space: pre; }`,
    '.prompt { fill: #3fb950; } .typed { fill: #ffffff; font-weight: 600; } .title { fill: #8b949e; }',
    '</style>',
    `<rect width="${width}" height="${height}" rx="10" fill="#0d1117"/>`,
    `<path d="M0 ${BAR_PX}V10a10 10 0 0 1 10-10h${width - 20}a10 10 0 0 1 10 10v${BAR_PX - 10}z" fill="#21262d"/>`,
    ...lights,
    `<text class="title" x="${width / 2}" y="22" text-anchor="middle">${svgText(look.title)}</text>`,
    ...texts.filter((text) => text !== ''),
    '</svg>',
    '',
  ].join('\n');
}

interface Row {
  readonly prompt: boolean;
  readonly typed: boolean;
  readonly text: string;
}

function wrap({ text, typed }: TerminalLine, columns: number): Row[] {
  const shown = typed ? `$ ${text}` : text.trimEnd();
  const pieces = shown.match(new RegExp(`.{1,${columns}}`, 'gu')) ?? [''];
  return pieces.map((piece, index) => ({ text: piece, typed, prompt: typed && index === 0 }));
}

function rowText({ text, typed, prompt }: Row, y: number): string {
  if (prompt) {
    const rest = span(text.slice(2), { column: 2, y, kind: 'typed' });
    return span('$', { column: 0, y, kind: 'prompt' }) + rest;
  }
  return span(text, { column: 0, y, kind: typed ? 'typed' : '' });
}

function span(text: string, at: { column: number; y: number; kind: string }): string {
  const words = text.trimStart();
  if (words === '') return '';
  const x = PADDING_PX + (at.column + text.length - words.length) * COLUMN_PX;
  const kind = at.kind === '' ? '' : ` class="${at.kind}"`;
  const length = [...words].length * COLUMN_PX;
  const place = `x="${x.toFixed(1)}" y="${at.y}" textLength="${length.toFixed(1)}"`;
  return `<text${kind} ${place} xml:space="preserve">${svgText(words)}</text>`;
}
