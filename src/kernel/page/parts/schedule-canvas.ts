// Draws the schedule: only rows and bars in sight, so that thousands of nodes cost as much as
// fifty.

import type { ScheduleBar } from '../../api/schedule.ts';
import { roundInstants } from '../../base/round-instants.ts';
import type { BarColours } from '../pure/bar-colours.ts';
import {
  fitting,
  type Layout,
  type Piece,
  type Placed,
  type RowOf,
  type Sight,
} from '../pure/schedule-layout.ts';
import { isFailure } from '../pure/state.ts';
import { axisWords, some } from '../pure/words.ts';
import { colours, type Paint } from './colours.ts';

export const AXIS_HEIGHT = 24;
/** Room for names of nodes. */
const LABEL_MIN = 56;
const LABEL_MAX = 190;
/** A row with room for a second line. */
const SECOND_LINE_HEIGHT = 32;
/** A bar with room for a name. */
const NAME_HEIGHT = 12;
const FONT = '11px system-ui, "Liberation Sans", sans-serif';
const TICK_WIDTH = 90;

/** A time in which a node is not for everybody. */
export interface Aside {
  readonly kind: 'reservation' | 'maintenance' | 'pause' | 'drained';
  readonly node: string;
  readonly from: number;
  readonly until: number;
  readonly words: string;
}

export interface ScheduleDrawing {
  readonly layout: Layout;
  readonly colours: BarColours;
  readonly asides: readonly Aside[];
  readonly sight: Sight;
  readonly hovered: Placed | null;
  /** How far it is scrolled. */
  readonly top: number;
  readonly rowHeight: number;
  readonly width: number;
  readonly height: number;
  /** Width of the column with the names of the nodes. */
  readonly labelWidth: number;
  readonly now: number;
}

/** Width in which the names of all nodes can be read, within reason. */
export function labelWidthOf(nodes: readonly RowOf[]): number {
  const context = document.createElement('canvas').getContext('2d') as CanvasRenderingContext2D;
  context.font = FONT;
  // Long names are wide: only those of the greatest length are measured.
  const most = nodes.reduce((length, { name }) => Math.max(length, name.length), 0);
  const long = nodes.filter(({ name }) => name.length >= most - 2).slice(0, 50);
  const widest = long.reduce((all, { name }) => Math.max(all, context.measureText(name).width), 0);
  return Math.round(Math.min(LABEL_MAX, Math.max(LABEL_MIN, widest + 14)));
}

export function drawSchedule(canvas: HTMLCanvasElement, of: ScheduleDrawing): void {
  const { width, height } = of;
  const scale = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  const paint = colours();
  context.fillStyle = paint.back;
  context.fillRect(0, 0, width, height);
  context.font = FONT;
  context.textBaseline = 'middle';
  const pen = new Pen(context, of, paint);
  pen.grid();
  pen.rows();
  pen.axis();
}

class Pen {
  readonly #context: CanvasRenderingContext2D;
  readonly #of: ScheduleDrawing;
  readonly #paint: Paint;

  constructor(context: CanvasRenderingContext2D, of: ScheduleDrawing, paint: Paint) {
    this.#context = context;
    this.#of = of;
    this.#paint = paint;
  }

  rows(): void {
    const { layout, asides, top, rowHeight, height, width } = this.#of;
    const first = Math.max(0, Math.floor(top / rowHeight));
    const last = Math.min(layout.nodes.length, Math.ceil((top + height) / rowHeight));
    const byNode = new Map<string, Aside[]>();
    for (const aside of asides) byNode.set(aside.node, [...(byNode.get(aside.node) ?? []), aside]);
    const context = this.#context;
    for (let row = first; row < last; row += 1) {
      const y = AXIS_HEIGHT + row * rowHeight - top;
      const node = layout.nodes[row] ?? { name: '', cpuCount: 0 };
      for (const aside of byNode.get(node.name) ?? []) this.#aside(aside, y);
      for (const placed of layout.rows[row] ?? []) this.#bar(placed, y);
      this.#label(node, y);
      context.fillStyle = this.#paint.line;
      context.fillRect(0, y + rowHeight - 0.5, width, 0.5);
    }
  }

  #label({ name, cpuCount }: RowOf, y: number): void {
    const { labelWidth, rowHeight } = this.#of;
    const context = this.#context;
    context.fillStyle = this.#paint.back;
    context.fillRect(0, y, labelWidth, rowHeight);
    const hasSecond = rowHeight >= SECOND_LINE_HEIGHT && cpuCount > 0;
    const middle = y + rowHeight / 2 - (hasSecond ? 7 : 0);
    context.fillStyle = this.#paint.text;
    const text = fitting([name], labelWidth - 8, (one) => context.measureText(one).width);
    context.fillText(text ?? '', 4, middle);
    if (!hasSecond) return;
    context.fillStyle = this.#paint.faint;
    context.fillText(some(cpuCount, 'cpu'), 4, middle + 14);
  }

  /** Lines of time, under what is drawn. */
  grid(): void {
    const context = this.#context;
    context.fillStyle = this.#paint.line;
    for (const at of this.#ticks()) {
      context.fillRect(this.#x(at), AXIS_HEIGHT - 6, 1, this.#of.height);
    }
  }

  axis(): void {
    const { width, height, now } = this.#of;
    const context = this.#context;
    context.fillStyle = this.#paint.back;
    context.fillRect(0, 0, width, AXIS_HEIGHT);
    context.fillStyle = this.#paint.faint;
    for (const at of this.#ticks()) {
      context.fillText(axisWords(at, now), this.#x(at) + 3, AXIS_HEIGHT / 2);
    }
    const x = this.#x(now);
    if (x < this.#of.labelWidth || x > width) return;
    context.fillStyle = this.#paint.bad;
    context.fillRect(x - 1, AXIS_HEIGHT - 6, 2, height);
  }

  #ticks(): number[] {
    const { sight, width, now } = this.#of;
    const zoneMs = -new Date(now).getTimezoneOffset() * 60_000;
    const all = roundInstants(sight, (width - this.#of.labelWidth) / TICK_WIDTH, zoneMs);
    return all.filter((at) => this.#x(at) >= this.#of.labelWidth);
  }

  #x(at: number): number {
    const { sight, width } = this.#of;
    return (
      this.#of.labelWidth +
      ((at - sight.from) / (sight.until - sight.from)) * (width - this.#of.labelWidth)
    );
  }

  /** From and width on the canvas; null: out of sight. */
  #span(from: number, until: number): [number, number] | null {
    const left = Math.max(this.#of.labelWidth, this.#x(from));
    const right = Math.min(this.#of.width, this.#x(until));
    return right < this.#of.labelWidth || left > this.#of.width || right - left <= 0
      ? null
      : [left, Math.max(1, right - left)];
  }

  #aside({ from, until, kind, words }: Aside, y: number): void {
    const span = this.#span(from, until);
    if (span === null) return;
    const { rowHeight } = this.#of;
    const context = this.#context;
    const [x, width] = span;
    context.globalAlpha = kind === 'reservation' ? 0.16 : 0.28;
    context.fillStyle = this.#paint.stop;
    context.fillRect(x, y, width, rowHeight - 1);
    context.globalAlpha = 1;
    if (width < 60) return;
    context.fillStyle = this.#paint.stop;
    // At the end, where the future mostly is empty.
    context.textAlign = 'right';
    context.fillText(words, x + width - 4, y + rowHeight / 2, width - 8);
    context.textAlign = 'left';
  }

  #bar(placed: Placed, y: number): void {
    const span = this.#span(placed.from, placed.until);
    if (span === null) return;
    const { rowHeight, hovered, colours: shades } = this.#of;
    const { bar } = placed;
    const isShown = hovered?.bar.id === bar.id;
    const tone = this.#paint[shades.of(bar)];
    let named: Box | null = null;
    for (const piece of placed.pieces) {
      const box = boxOf(piece, { span, y: y + 1, height: rowHeight - 2 });
      this.#piece(bar, box, { tone, isShown });
      if (named === null || box.height > named.height) named = box;
    }
    if (named !== null && named.height >= NAME_HEIGHT) this.#name(bar, named);
  }

  #piece(
    { kind, word }: ScheduleBar,
    { x, y, width, height }: Box,
    { tone, isShown }: { readonly tone: string; readonly isShown: boolean },
  ): void {
    const context = this.#context;
    context.fillStyle = tone;
    context.globalAlpha = kind === 'planned' ? 0.22 : kind === 'past' ? 0.5 : 1;
    context.fillRect(x, y, width, height);
    context.globalAlpha = 1;
    if (kind === 'past' && isFailure(word) && height > 3) {
      context.fillStyle = this.#paint.bad;
      context.fillRect(x, y + height - 2, width, 2);
    }
    if ((kind !== 'planned' || height <= 3) && !isShown) return;
    context.strokeStyle = isShown ? this.#paint.text : tone;
    context.lineWidth = isShown ? 2 : 1;
    context.setLineDash(isShown ? [] : [4, 3]);
    context.strokeRect(x + 0.5, y + 0.5, Math.max(0, width - 1), Math.max(1, height - 1));
    context.setLineDash([]);
  }

  /** In full, or the name, or the number, or what fits of it: never a piece of a letter. */
  #name({ id, name, kind }: ScheduleBar, { x, y, width, height }: Box): void {
    const context = this.#context;
    const texts = [`${id} ${name}`, name, id];
    const text = fitting(texts, width - 8, (one) => context.measureText(one).width);
    if (text === null) return;
    context.fillStyle = kind === 'running' ? this.#paint.back : this.#paint.text;
    context.fillText(text, x + 4, y + height / 2);
  }
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Neighbours have a line between them where there is room for one. */
function boxOf(
  { top, height }: Piece,
  row: { readonly span: readonly [number, number]; readonly y: number; readonly height: number },
): Box {
  const [x, width] = row.span;
  const full = height * row.height;
  return { x, y: row.y + top * row.height, width, height: Math.max(1, full > 4 ? full - 1 : full) };
}
