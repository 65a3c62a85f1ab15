// Figures of the benchmarks over time: one line of JSON each in bench/history.jsonl, so that a
// commit that made something slower is seen.

/** One figure of one run. */
export interface Entry {
  /** ISO 8601, to the minute. */
  readonly at: string;
  /** Commit that was measured, with `+` for changes that were not in it. */
  readonly commit: string;
  /** Load of the machine when it was recorded, over one minute. */
  readonly load: number;
  /** What was measured: `weft`, or the program beside it. */
  readonly peer: string;
  readonly figure: string;
  readonly unit: string;
  readonly median: number;
}

/** What is the same for all figures of a run. */
export type Run = Pick<Entry, 'at' | 'commit' | 'load'>;

/** Units of which more is better; of all others less is. */
const MORE_IS_BETTER: ReadonlySet<string> = new Set(['ratio', 'MiB/s']);
/** Compared with the middle of so many runs before. */
const RUNS_BEFORE = 5;
/** Two runs of one commit differ by that much on a machine that does other things, too. */
const NOISE = 0.15;

export function isBetterHigher(unit: string): boolean {
  return MORE_IS_BETTER.has(unit) || unit.endsWith('/s');
}

/** The figures in what a benchmark printed; other lines are for people. */
export function entriesOf(output: string, run: Run): Entry[] {
  return output.split('\n').flatMap((line) => {
    const said = figureIn(line);
    return said === null ? [] : [{ ...run, ...said }];
  });
}

function figureIn(line: string): Omit<Entry, keyof Run> | null {
  if (!line.startsWith('{')) return null;
  const { peer, figure, unit, median } = parsed(line);
  const areWords = [peer, figure, unit].every((one) => typeof one === 'string');
  if (!areWords || typeof median !== 'number' || !Number.isFinite(median)) return null;
  return { peer: String(peer), figure: String(figure), unit: String(unit), median };
}

/** Throws a SyntaxError that says which line is none. */
export function readHistory(text: string): Entry[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line, at) => {
    const entry = parsed(line);
    if (typeof entry['figure'] !== 'string' || typeof entry['median'] !== 'number')
      throw new SyntaxError(`line ${at + 1} is no figure: ${line.slice(0, 80)}`);
    return entry as unknown as Entry;
  });
}

function parsed(line: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    return {}; // The caller says what it expected.
  }
}

export function keyOf({ peer, figure, unit }: Pick<Entry, 'peer' | 'figure' | 'unit'>): string {
  return `${figure} ${unit} ${peer}`;
}

/** Figures of ours that are worse than they were, in words, with the commits between. */
export function worseThan(before: readonly Entry[], fresh: readonly Entry[]): string[] {
  return fresh.flatMap((entry) => {
    if (entry.peer !== 'weft') return [];
    const past = before.filter((one) => keyOf(one) === keyOf(entry)).slice(-RUNS_BEFORE);
    const last = past.at(-1);
    if (last === undefined) return [];
    const usual = middle(past.map(({ median }) => median));
    const ratio = isBetterHigher(entry.unit) ? entry.median / usual : usual / entry.median;
    if (!(ratio < 1 - NOISE)) return [];
    const { figure, unit, median, commit } = entry;
    const words = `${figure}: ${median} ${unit} at ${commit}, usually ${usual} (last at ${last.commit})`;
    return [words];
  });
}

/** The middle one of them, the lower of two. */
export function middle(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}
