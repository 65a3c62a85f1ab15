// Bars for terminals: how much, and when. Plain characters, so that they also stand in files.

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar of at most `width` columns; something that is not nothing is seen. */
export function bar(amount: number, most: number, width: number): string {
  if (!(amount > 0) || !(most > 0)) return '';
  const eighths = Math.max(1, Math.round((Math.min(amount, most) / most) * width * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
}

const HEIGHTS = '▁▂▃▄▅▆▇█';

/** Amounts over time, in up to `width` columns; what nobody knows is left empty. */
export function spark(points: readonly (number | null)[], most: number, width: number): string {
  const columns = Math.min(width, points.length);
  const cells = Array.from({ length: columns }, (_, column) => {
    const from = Math.floor((column * points.length) / columns);
    const until = Math.floor(((column + 1) * points.length) / columns);
    const known = points.slice(from, until).filter((point) => point !== null);
    if (known.length === 0) return ' ';
    const share = Math.min(1, Math.max(...known) / Math.max(1, most));
    return HEIGHTS[Math.min(HEIGHTS.length - 1, Math.floor(share * HEIGHTS.length))] ?? ' ';
  });
  return cells.join('').trimEnd();
}

/** A part of a line of time; `until` is not in it. */
export interface Stretch {
  readonly from: number;
  readonly until: number;
  /** One column wide. */
  readonly mark: string;
}

/**
 * A line of time `width` columns wide. What is shorter than a column has one all the same; of what
 * falls into one column the last stretch is seen.
 */
export function timeLine(
  stretches: readonly Stretch[],
  { from, until }: { readonly from: number; readonly until: number },
  width: number,
): string {
  const cells = Array<string>(width).fill(' ');
  const scale = width / Math.max(1, until - from);
  for (const stretch of stretches) {
    if (stretch.until < from || stretch.from > until) continue;
    const first = Math.min(width - 1, Math.max(0, Math.floor((stretch.from - from) * scale)));
    const last = Math.min(width, Math.max(first + 1, Math.ceil((stretch.until - from) * scale)));
    cells.fill(stretch.mark, first, last);
  }
  return cells.join('').trimEnd();
}

/** Waiting, then running: of a job that has neither ended nor started, until `now`. */
export function jobStretches(
  job: {
    readonly submittedAt: number;
    readonly startedAt: number | null;
    readonly endedAt: number | null;
  },
  now: number,
): Stretch[] {
  const end = job.endedAt ?? now;
  const started = job.startedAt ?? end;
  const waiting = { from: job.submittedAt, until: started, mark: WAITING };
  const running = { from: started, until: end, mark: RUNNING };
  return [
    ...(waiting.until > waiting.from ? [waiting] : []),
    ...(job.startedAt === null ? [] : [running]),
  ];
}

export const WAITING = '░';
export const RUNNING = '█';
