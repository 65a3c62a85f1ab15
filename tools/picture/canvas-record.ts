// What a page draws on its canvases, kept as SVG marks beside the pixels: a script for the page,
// run before its own.

/** One mark; the words of a text stand apart, as they are still to be escaped. */
interface CanvasMark {
  readonly before: string;
  readonly text?: string;
  readonly after?: string;
  /** Path outside of which it is not seen. */
  readonly clip?: string | null;
}

export interface CanvasDrawing {
  /** What it shows, in words. */
  readonly label: string;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly marks: readonly CanvasMark[];
}

/**
 * Covers what the schedule, the map of tasks and the curves use: rectangles, lines, texts, clips.
 */
export const RECORD_CANVASES = `(() => {
  const round = (value) => Math.round(value * 10) / 10;
  const paths = new WeakMap();
  // A line without a place to begin at begins where it ends.
  const trace = (holder, words) => {
    const before = paths.get(holder) ?? '';
    paths.set(holder, before + (before === '' ? words.replace(/^L/, 'M') : words));
  };
  const RealPath = Path2D;
  window.Path2D = class extends RealPath {
    constructor(of) {
      super(of);
      if (typeof of === 'object' && paths.has(of)) paths.set(this, paths.get(of));
    }
  };
  const paint = (color) => {
    const [, r, g, b, alpha] = /^color\\(srgb ([0-9.]+) ([0-9.]+) ([0-9.]+) \\/ ([0-9.]+)\\)$/.exec(color) ?? [];
    if (r === undefined) return color;
    return 'rgba(' + [r, g, b].map((part) => Math.round(part * 255)).join(', ') + ', ' + alpha + ')';
  };
  const proto = CanvasRenderingContext2D.prototype;
  const scaled = (context) => {
    const { a, d, e, f } = context.getTransform();
    const by = devicePixelRatio || 1;
    return { x: (value) => round((value * a + e) / by), y: (value) => round((value * d + f) / by), w: (value) => round((value * a) / by), h: (value) => round((value * d) / by), k: a / by };
  };
  const patch = (owner, name, record) => {
    const real = owner[name];
    owner[name] = function (...args) {
      record.call(this, ...args);
      return real.apply(this, args);
    };
  };
  const lines = (owner, to) => {
    patch(owner, 'moveTo', function (x, y) { trace(this, 'M' + to(this, x, y)); });
    patch(owner, 'lineTo', function (x, y) { trace(this, 'L' + to(this, x, y)); });
    patch(owner, 'closePath', function () { trace(this, 'Z'); });
    patch(owner, 'rect', function (x, y, w, h) { trace(this, 'M' + to(this, x, y) + 'L' + to(this, x + w, y) + 'L' + to(this, x + w, y + h) + 'L' + to(this, x, y + h) + 'Z'); });
  };
  lines(proto, (context, x, y) => { const s = scaled(context); return s.x(x) + ' ' + s.y(y); });
  lines(RealPath.prototype, (_, x, y) => round(x / (devicePixelRatio || 1)) + ' ' + round(y / (devicePixelRatio || 1)));
  patch(RealPath.prototype, 'addPath', function (other) { trace(this, paths.get(other) ?? ''); });
  const clips = new WeakMap();
  const put = (context, before, text, after) => {
    const { canvas } = context;
    const clip = (clips.get(context) ?? [null]).at(-1);
    const alpha = context.globalAlpha < 1 ? ' opacity="' + round(context.globalAlpha * 10) / 10 + '"' : '';
    (canvas.marks ??= []).push({ before: before.replace('ALPHA', alpha), text, after, clip });
  };
  const stack = (context) => { const all = clips.get(context) ?? [null]; clips.set(context, all); return all; };
  patch(proto, 'save', function () { const all = stack(this); all.push(all.at(-1)); });
  patch(proto, 'restore', function () { const all = stack(this); if (all.length > 1) all.pop(); });
  patch(proto, 'clip', function (path) { const all = stack(this); all[all.length - 1] = paths.get(path instanceof RealPath ? path : this) ?? null; });
  patch(proto, 'beginPath', function () { paths.set(this, ''); });
  patch(proto, 'clearRect', function () { this.canvas.marks = []; });
  patch(proto, 'fillRect', function (x, y, w, h) {
    const s = scaled(this);
    if (x === 0 && y === 0 && s.w(w) >= this.canvas.clientWidth && s.h(h) >= this.canvas.clientHeight) this.canvas.marks = [];
    put(this, '<rect x="' + s.x(x) + '" y="' + s.y(y) + '" width="' + s.w(w) + '" height="' + s.h(h) + '" fill="' + paint(this.fillStyle) + '"ALPHA/>');
  });
  patch(proto, 'strokeRect', function (x, y, w, h) {
    const s = scaled(this);
    put(this, '<rect x="' + s.x(x) + '" y="' + s.y(y) + '" width="' + s.w(w) + '" height="' + s.h(h) + '" fill="none" stroke="' + paint(this.strokeStyle) + '"ALPHA/>');
  });
  patch(proto, 'fillText', function (text, x, y) {
    const s = scaled(this);
    const anchor = { right: 'end', end: 'end', center: 'middle' }[this.textAlign] ?? 'start';
    const size = parseFloat(/([0-9.]+)px/.exec(this.font)?.[1] ?? '11') * s.k;
    const down = { middle: 0.36, top: 0.8, hanging: 0.8 }[this.textBaseline] ?? 0;
    put(this, '<text x="' + s.x(x) + '" y="' + round(s.y(y) + size * down) + '" text-anchor="' + anchor + '" style="font: ' + round(size) + 'px system-ui, sans-serif" fill="' + paint(this.fillStyle) + '"ALPHA>', String(text), '</text>');
  });
  const line = (fills) => function (path) {
    const d = paths.get(path instanceof RealPath ? path : this) ?? '';
    if (d === '') return;
    const look = fills ? 'fill="' + paint(this.fillStyle) + '"' : 'fill="none" stroke="' + paint(this.strokeStyle) + '" stroke-width="' + round(this.lineWidth * scaled(this).k) + '"';
    put(this, '<path d="' + d + '" ' + look + 'ALPHA/>');
  };
  patch(proto, 'stroke', line(false));
  patch(proto, 'fill', line(true));
  const width = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, 'width');
  Object.defineProperty(HTMLCanvasElement.prototype, 'width', { ...width, set(value) { this.marks = []; width.set.call(this, value); } });
})()`;
