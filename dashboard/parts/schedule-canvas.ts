// Draws the schedule: only rows and bars in sight, so that thousands of nodes cost as much as fifty.

import type { ScheduleBar } from '../../src/api/schedule.ts';
import { roundInstants } from '../../src/core/base/round-instants.ts';
import type { Layout, Placed, Sight } from '../pure/schedule-layout.ts';
import { toneOf } from '../pure/state.ts';
import { axisWords } from '../pure/words.ts';
import { colours, type Paint } from './colours.ts';

export const LABEL_WIDTH = 96;
export const AXIS_HEIGHT = 24;
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
  readonly asides: readonly Aside[];
  readonly sight: Sight;
  readonly hovered: Placed | null;
  /** How far it is scrolled. */
  readonly top: number;
  readonly rowHeight: number;
  readonly width: number;
  readonly height: number;
  readonly now: number;
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
      const name = layout.nodes[row] ?? '';
      for (const aside of byNode.get(name) ?? []) this.#aside(aside, y);
      for (const placed of layout.rows[row] ?? []) this.#bar(placed, y);
      context.fillStyle = this.#paint.back;
      context.fillRect(0, y, LABEL_WIDTH, rowHeight);
      context.fillStyle = this.#paint.text;
      context.fillText(name, 4, y + rowHeight / 2, LABEL_WIDTH - 8);
      context.fillStyle = this.#paint.line;
      context.fillRect(0, y + rowHeight - 0.5, width, 0.5);
    }
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
    if (x < LABEL_WIDTH || x > width) return;
    context.fillStyle = this.#paint.bad;
    context.fillRect(x - 1, AXIS_HEIGHT - 6, 2, height);
  }

  #ticks(): number[] {
    const { sight, width, now } = this.#of;
    const zoneMs = -new Date(now).getTimezoneOffset() * 60_000;
    const all = roundInstants(sight, (width - LABEL_WIDTH) / TICK_WIDTH, zoneMs);
    return all.filter((at) => this.#x(at) >= LABEL_WIDTH);
  }

  #x(at: number): number {
    const { sight, width } = this.#of;
    return LABEL_WIDTH + ((at - sight.from) / (sight.until - sight.from)) * (width - LABEL_WIDTH);
  }

  /** From and width on the canvas; null: out of sight. */
  #span(from: number, until: number): [number, number] | null {
    const left = Math.max(LABEL_WIDTH, this.#x(from));
    const right = Math.min(this.#of.width, this.#x(until));
    return right < LABEL_WIDTH || left > this.#of.width || right - left <= 0
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
    const { rowHeight, layout, hovered } = this.#of;
    const { bar, lane, row } = placed;
    const [x, width] = span;
    const height = (rowHeight - 3) / (layout.lanes[row] ?? 1);
    const top = y + 1 + lane * height;
    const context = this.#context;
    const isShown = hovered?.bar.id === bar.id;
    const tone = this.#paint[bar.kind === 'planned' ? 'wait' : toneOf(bar.word)];
    context.fillStyle = tone;
    context.globalAlpha = bar.kind === 'planned' ? 0.3 : bar.kind === 'past' ? 0.55 : 1;
    context.fillRect(x, top, width, Math.max(1, height - 1));
    context.globalAlpha = 1;
    if (bar.kind === 'planned' || isShown) {
      context.strokeStyle = isShown ? this.#paint.text : tone;
      context.lineWidth = isShown ? 2 : 1;
      context.strokeRect(x + 0.5, top + 0.5, Math.max(0, width - 1), Math.max(1, height - 2));
    }
    if (width > 40 && height > 10) this.#name(bar, [x, top, width, height]);
  }

  #name(
    bar: ScheduleBar,
    [x, top, width, height]: readonly [number, number, number, number],
  ): void {
    const context = this.#context;
    context.save();
    context.beginPath();
    context.rect(x, top, width, height);
    context.clip();
    context.fillStyle = bar.kind === 'running' ? this.#paint.back : this.#paint.text;
    context.fillText(`${bar.id} ${bar.name}`, x + 4, top + height / 2);
    context.restore();
  }
}
