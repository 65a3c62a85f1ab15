// A family of runs, like those about other clusters: what a check goes over in it, and how one of
// its seeds is run, told and shown.

import type { Violation } from './violation.ts';

/** What every run comes to. */
export interface RunEnd {
  readonly seed: number;
  readonly weather: object;
  /** Made of all that happened, with its instants. */
  readonly hash: string;
  readonly virtualMs: number;
  readonly violation: Violation | null;
}

export interface RunRequest<Canary, Weather> {
  readonly seed: number;
  readonly canary?: Canary | undefined;
  /** Instead of what the seed draws. */
  readonly weather?: Partial<Weather> | undefined;
  readonly trace?: ((line: string) => void) | undefined;
}

export interface Family {
  /** What is before the number of its seeds. */
  readonly name: string;
  /** Behind `npm run sim --`: shows one seed. */
  readonly word: string;
  readonly pinned: readonly Pinned[];
  readonly canaries: readonly PlantedRun[];
  readonly measures: Measures;
  readonly run: (seed: number, trace?: (line: string) => void) => Promise<RunEnd>;
  /** How much there was, by what it is: jobs, messages. */
  readonly sizeOf: (end: RunEnd) => Readonly<Record<string, number>>;
}

interface Pinned {
  readonly seed: number;
  readonly broke: string;
  readonly run: () => Promise<RunEnd>;
}

interface PlantedRun {
  readonly name: string;
  readonly sentence: string;
  /** The rule by which it is to be found; absent: any. */
  readonly rule?: string | undefined;
  /** The seed that finds it. */
  readonly seed: number;
  readonly run: (seed: number) => Promise<RunEnd>;
}

/** How much a check does. */
export interface Measures {
  /** Fresh seeds that run once: so many, or as many as a processor runs in this time. */
  readonly freshSeeds: number;
  readonly freshMs: number;
  /** Fresh seeds that run twice, to see that both runs are the same. */
  readonly twiceSeeds: number;
  /** A canary that its own seed no longer finds is looked for among this many. */
  readonly canarySeedsMax: number;
}

export function familyOf<
  End extends RunEnd,
  Canary extends { readonly name: string; readonly sentence: string; readonly rule?: string },
  Weather,
>(of: {
  readonly name: string;
  readonly word: string;
  readonly run: (wish: RunRequest<Canary, Weather>) => End | Promise<End>;
  readonly sizes: readonly (keyof End & string)[];
  readonly pinned: readonly {
    readonly seed: number;
    readonly broke: string;
    readonly weather?: Partial<Weather>;
  }[];
  readonly canaries: readonly Canary[];
  /** By the name of the canary; absent: 1. */
  readonly canarySeeds: Readonly<Record<string, number>>;
  readonly measures: Measures;
}): Family {
  const { name, word, run, sizes, measures } = of;
  return {
    name,
    word,
    measures,
    run: async (seed, trace) => run({ seed, trace }),
    sizeOf: (end) => Object.fromEntries(sizes.map((size) => [size, Number(end[size as never])])),
    pinned: of.pinned.map(({ seed, broke, weather }) => {
      return { seed, broke, run: async () => run({ seed, weather }) };
    }),
    canaries: of.canaries.map((canary) => {
      const { name: own, sentence, rule } = canary;
      const seed = of.canarySeeds[own] ?? 1;
      return { name: own, sentence, rule, seed, run: async (one) => run({ seed: one, canary }) };
    }),
  };
}
