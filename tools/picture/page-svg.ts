// A page of the browser as SVG text: its boxes, borders, words and what was drawn on its canvases,
// as they stand in the document. A picture that is text can be kept in the repository.

import type { Page } from 'playwright-core';
import { type CanvasDrawing, RECORD_CANVASES } from './canvas-record.ts';

export { RECORD_CANVASES };

interface Words {
  readonly text: string;
  readonly left: number;
  readonly baseline: number;
  readonly width: number;
  readonly style: string;
}

interface Shape {
  readonly kind: 'box' | 'words' | 'canvas';
  readonly markup: string;
  readonly words?: Words;
  readonly drawing?: CanvasDrawing;
}

/**
 * Walks the document in the order in which it is painted, near enough for a page without overlaps.
 */
const WALK = `(() => {
  const shapes = [];
  const round = (value) => Math.round(value * 10) / 10;
  const isSeen = (color) => color !== 'transparent' && !/^rgba\\(.*, 0\\)$/.test(color);
  const inside = (rect) => rect.width > 0 && rect.height > 0 && rect.top < innerHeight && rect.left < innerWidth;
  const rect = (x, y, w, h, more) =>
    shapes.push({ kind: 'box', markup: '<rect x="' + round(x) + '" y="' + round(y) + '" width="' + round(w) + '" height="' + round(h) + '" ' + more + '/>' });
  const fontOf = (style) => {
    const mono = /mono/i.test(style.fontFamily) ? 'ui-monospace, monospace' : 'system-ui, sans-serif';
    return 'font: ' + (Number(style.fontWeight) > 450 ? style.fontWeight + ' ' : '') + style.fontSize + ' ' + mono + '; fill: ' + style.color;
  };
  const words = (text, box, style, ends = Infinity) => {
    let shown = text;
    let width = box.width;
    if (box.left + width > ends + 1) {
      const share = Math.max(0, (ends - box.left) / width);
      shown = text.slice(0, Math.max(0, Math.floor(text.length * share) - 1)) + '…';
      width = ends - box.left;
    }
    if (shown.trim() === '' || width <= 0) return;
    const size = parseFloat(style.fontSize);
    const baseline = box.top + box.height / 2 + size * 0.36;
    shapes.push({ kind: 'words', markup: '', words: { text: shown, left: round(box.left), baseline: round(baseline), width: round(width), style: fontOf(style) } });
  };
  const texts = (node, style) => {
    const range = document.createRange();
    const lines = [];
    const text = node.data;
    for (let at = 0; at < text.length; at += 1) {
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const [box] = range.getClientRects();
      if (box === undefined) continue;
      const last = lines.at(-1);
      if (last !== undefined && Math.abs(last.top - box.top) < 3) { last.text += text[at]; if (text[at].trim() !== '') last.right = box.right; last.bottom = Math.max(last.bottom, box.bottom); }
      else lines.push({ text: text[at], left: box.left, top: box.top, right: box.right, bottom: box.bottom });
    }
    let clip = node.parentElement;
    while (clip && getComputedStyle(clip).overflowX === 'visible') clip = clip.parentElement;
    const bounds = clip?.getBoundingClientRect();
    for (const line of lines) {
      if (bounds && (line.top > bounds.bottom - 3 || line.bottom < bounds.top + 3)) continue;
      const box = { left: line.left, top: line.top, width: line.right - line.left, height: line.bottom - line.top };
      if (inside(box)) words(line.text.replace(/\\s+$/, ''), box, style, bounds ? bounds.right : Infinity);
    }
  };
  const slider = (element, box, style) => {
    const at = box.left + 7 + (box.width - 14) * (element.value - element.min) / (element.max - element.min || 1);
    rect(box.left, box.top + box.height / 2 - 2, box.width, 4, 'rx="2" fill="' + style.borderTopColor + '"');
    rect(at - 7, box.top + box.height / 2 - 7, 14, 14, 'rx="7" fill="' + style.color + '"');
  };
  const field = (element, box, style) => {
    const pad = parseFloat(style.paddingLeft) + 1;
    const of = { left: box.left + pad, top: box.top, height: element.tagName === 'TEXTAREA' ? 24 : box.height };
    if (element.type === 'range') return slider(element, box, style);
    if (element.type === 'checkbox') return rect(box.left + 0.5, box.top + 0.5, box.width - 1, box.height - 1, 'rx="2" fill="none" stroke="' + style.color + '"' + (element.checked ? ' stroke-width="4"' : ''));
    if (element.tagName === 'SELECT') words('▾', { left: box.right - 16, top: box.top, width: 9, height: box.height }, style);
    const text = element.tagName === 'SELECT' ? element.selectedOptions[0]?.text ?? '' : element.value || element.placeholder || '';
    const pen = document.createElement('canvas').getContext('2d');
    pen.font = style.font;
    const paint = { fontFamily: style.fontFamily, fontSize: style.fontSize, fontWeight: style.fontWeight, color: element.value ? style.color : getComputedStyle(document.documentElement).getPropertyValue('--faint') };
    words(text, { ...of, width: pen.measureText(text).width }, paint, box.right - 4);
  };
  const walk = (element) => {
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    if (!element.checkVisibility({ visibilityProperty: true })) return;
    if (box.width > 0 && box.height > 0 && inside(box)) {
      const rx = parseFloat(style.borderTopLeftRadius) || 0;
      const sides = ['Top', 'Right', 'Bottom', 'Left'].map((side) => ({ width: parseFloat(style['border' + side + 'Width']) || 0, color: style['border' + side + 'Color'] }));
      const isFramed = sides.every(({ width, color }) => width > 0 && width === sides[0].width && color === sides[0].color);
      const fill = isSeen(style.backgroundColor) ? style.backgroundColor : 'none';
      const plain = element.type !== 'checkbox' && element.type !== 'range';
      if (plain && (fill !== 'none' || isFramed)) {
        const by = isFramed ? sides[0].width / 2 : 0;
        rect(box.left + by, box.top + by, box.width - 2 * by, box.height - 2 * by, (rx > 0 ? 'rx="' + Math.min(rx, box.height / 2) + '" ' : '') + 'fill="' + fill + '"' + (isFramed ? ' stroke="' + sides[0].color + '"' : ''));
      }
      if (plain && !isFramed) sides.forEach(({ width, color }, side) => {
        if (width === 0 || !isSeen(color)) return;
        const isDown = side % 2 === 1;
        rect(side === 1 ? box.right - width : box.left, side === 2 ? box.bottom - width : box.top, isDown ? width : box.width, isDown ? box.height : width, 'fill="' + color + '"');
      });
      const before = getComputedStyle(element, '::before');
      if (before.content === '""' && isSeen(before.backgroundColor)) {
        const [w, h] = [parseFloat(before.width), parseFloat(before.height)];
        rect(box.left, box.top + (box.height - h) / 2, w, h, 'rx="' + (before.borderRadius === '50%' ? w / 2 : 2) + '" fill="' + before.backgroundColor + '"');
      }
      if (element.tagName === 'SUMMARY') words('▸', { left: box.left, top: box.top, width: 8, height: box.height }, style);
      if (element.tagName === 'LI' && style.listStyleType === 'decimal' && style.display === 'list-item') {
        const at = [...element.parentElement.children].indexOf(element) + 1;
        words(at + '.', { left: box.left - 16, top: box.top, width: 12, height: 19 }, style);
      }
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(element.tagName)) return field(element, box, style);
      if (element.tagName === 'CANVAS') {
        shapes.push({ kind: 'canvas', markup: '', drawing: { label: element.closest('[aria-label]')?.getAttribute('aria-label') ?? 'drawn', left: round(box.left), top: round(box.top), width: box.width, height: box.height, marks: element.marks ?? [] } });
        return;
      }
    }
    for (const child of element.childNodes) {
      if (child.nodeType === 1) walk(child);
      else if (child.nodeType === 3 && child.data.trim() !== '') texts(child, style);
    }
  };
  walk(document.body);
  return { shapes, width: innerWidth, height: innerHeight, back: getComputedStyle(document.body).backgroundColor };
})()`;

/**
 * The page as it stands. `said`: how words are shown instead, for names of a machine and its user.
 */
export async function pageSvg(
  page: Page,
  label: string,
  said: (text: string) => string = (text) => text,
): Promise<string> {
  const { shapes, width, height, back } = (await page.evaluate(WALK)) as {
    readonly shapes: readonly Shape[];
    readonly width: number;
    readonly height: number;
    readonly back: string;
  };
  const classes = new Map<string, string>();
  const classOf = (style: string): string => {
    const name = classes.get(style) ?? `t${classes.size}`;
    classes.set(style, name);
    return name;
  };
  const body = shapes.map((shape) => {
    if (shape.words !== undefined) return textElementOf(shape.words, classOf, said);
    return shape.drawing === undefined ? shape.markup : drawingOf(shape.drawing, said);
  });
  const style = [...classes].map(([of, name]) => `.${name} { ${of} }`).join(' ');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(label)}">`,
    `<style>text { white-space: pre; } ${style}</style>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${back}"/>`,
    ...body,
    '</svg>',
    '',
  ].join('\n');
}

function textElementOf(
  { text, left, baseline, width, style }: Words,
  classOf: (style: string) => string,
  said: (text: string) => string,
): string {
  const shown = said(text);
  // Fonts of other machines are wider or narrower: each run of words keeps its width.
  const fit = text.length > 2 ? ` textLength="${width}" lengthAdjust="spacingAndGlyphs"` : '';
  return `<text class="${classOf(style)}" x="${left}" y="${baseline}"${fit}>${escaped(shown)}</text>`;
}

function drawingOf(of: CanvasDrawing, said: (text: string) => string): string {
  const { left, top, width, height } = of;
  const clips = new Map<string, string>();
  const clipOf = (path: string): string => {
    const name = clips.get(path) ?? `c${left}-${top}-${clips.size}`.replaceAll('.', '_');
    clips.set(path, name);
    return name;
  };
  const marks = of.marks.map(({ before, text, after, clip }) => {
    const mark = text === undefined ? before : `${before}${escaped(said(text))}${after ?? ''}`;
    return clip ? `<g clip-path="url(#${clipOf(clip)})">${mark}</g>` : mark;
  });
  const defined = [...clips].map(
    ([path, name]) => `<clipPath id="${name}"><path d="${path}"/></clipPath>`,
  );
  return [
    `<svg x="${left}" y="${top}" width="${width}" height="${height}" role="img" aria-label="${escaped(of.label)}">`,
    ...defined,
    ...marks,
    '</svg>',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
