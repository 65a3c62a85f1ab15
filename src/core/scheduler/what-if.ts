// Which smaller request would start now: each amount alone is lowered as little as it takes, found
// by halving, since what fits stays fitting when less is asked for; then amounts two at a time.

import { formatDuration } from '../base/duration.ts';
import { formatSize } from '../base/size.ts';
import type { ResourceRequest } from '../model/job.ts';
import type { Resources } from '../model/resources.ts';
import type { Ask } from './ask.ts';
import type { Board } from './board.ts';

/** One thing that could be asked for less. */
interface Amount {
  /** In units of this amount; `Infinity` = no time limit. */
  readonly asked: number;
  readonly least: number;
  with(ask: Ask, units: number): Ask;
  /** `2 nodes instead of 4`. */
  words(units: number): string;
  /** A rounder number that is no larger. */
  round(units: number): number;
}

/** A request that would start now. */
interface Change {
  readonly words: string;
  /** The part of what was asked for that is given up, 0…1 for each amount. */
  readonly loss: number;
}

/**
 * Words that follow `It would start now with `, least loss first; none when nothing small helps.
 */
export function smallerRequests(board: Board, ask: Ask): readonly string[] {
  const amounts = amountsOf(ask);
  const alone = amounts.flatMap((amount) => lower(board, ask, amount) ?? []);
  const changes = alone.length > 0 ? alone : inPairs(board, ask, amounts);
  return changes.sort((a, b) => a.loss - b.loss).map(({ words }) => words);
}

/** Whether the request would start now. */
function fits(board: Board, ask: Ask): boolean {
  return board.fitting(ask, ask.request.nodeCount).length >= ask.request.nodeCount;
}

/** The most of this amount with which it fits; null: not even with the least. */
function lower(board: Board, ask: Ask, amount: Amount): Change | null {
  const fitsWith = (units: number): boolean => fits(board, amount.with(ask, units));
  if (!fitsWith(amount.least)) return null;
  let low = amount.least;
  let high = Math.min(amount.asked, WALLTIME_SECONDS_MAX) - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fitsWith(middle)) low = middle;
    else high = middle - 1;
  }
  const units = Math.max(amount.least, amount.round(low));
  return { words: amount.words(units), loss: lossOf(amount, units) };
}

/** The pair that gives up least, with the first lowered in a few steps. */
function inPairs(board: Board, ask: Ask, amounts: readonly Amount[]): Change[] {
  let best: Change | null = null;
  for (const first of amounts) {
    for (const units of stepsOf(first)) {
      const lowered = first.with(ask, units);
      for (const second of amounts) {
        if (second === first) continue;
        const found = lower(board, lowered, second);
        if (found === null) continue;
        const loss = found.loss + lossOf(first, units);
        if (best !== null && best.loss <= loss) continue;
        best = { words: `${first.words(units)} and ${found.words}`, loss };
      }
    }
  }
  return best === null ? [] : [best];
}

function stepsOf({ asked, least, round }: Amount): number[] {
  const whole = Math.min(asked, HOUR_SECONDS);
  const steps = [0.75, 0.5, 0.25, 0].map((part) =>
    Math.max(least, round(Math.floor(whole * part))),
  );
  return [...new Set(steps)].filter((units) => units < asked);
}

function lossOf({ asked }: Amount, units: number): number {
  // A time limit where there was none costs something, but nobody knows how much.
  return asked === Infinity ? 0.5 : (asked - units) / asked;
}

const MIB = 1_048_576;
const HOUR_SECONDS = 3600;
/** Where the search for a time limit begins when none was asked for: a month. */
const WALLTIME_SECONDS_MAX = 30 * 24 * HOUR_SECONDS;

function amountsOf(ask: Ask): Amount[] {
  const { nodeCount, perNode } = ask.request;
  const { cpuCount, memoryBytes, gpuCount } = perNode;
  const all: Amount[] = [
    {
      ...{ asked: nodeCount, least: 1, round: same },
      with: (one, units) => withRequest(one, { nodeCount: units }),
      words: (units) => `${plural(units, 'node')} instead of ${nodeCount}`,
    },
    {
      ...{ asked: cpuCount, least: 1, round: same },
      with: (one, units) => withPerNode(one, { cpuCount: units }),
      words: (units) => `${plural(units, 'cpu')} instead of ${cpuCount}`,
    },
    {
      ...{ asked: gpuCount, least: 0, round: same },
      with: (one, units) => withPerNode(one, { gpuCount: units }),
      words: (units) => `${units === 0 ? 'no gpu' : plural(units, 'gpu')} instead of ${gpuCount}`,
    },
    {
      ...{ asked: Math.floor(memoryBytes / MIB), least: 1, round: roundMemory },
      with: (one, units) => withPerNode(one, { memoryBytes: units * MIB }),
      words: (units) => `${formatSize(units * MIB)} memory instead of ${formatSize(memoryBytes)}`,
    },
    walltime(ask.walltimeMs),
  ];
  return all.filter(({ asked, least }) => asked > least);
}

function walltime(walltimeMs: number | null): Amount {
  const than = walltimeMs === null ? 'none' : formatDuration(walltimeMs);
  return {
    asked: walltimeMs === null ? Infinity : Math.floor(walltimeMs / 1000),
    least: 1,
    // Whole minutes, and whole quarters of an hour where minutes do not matter.
    round: (s) => (s < 120 ? s : s < 36_000 ? s - (s % 60) : s - (s % 900)),
    with: (one, units) => ({ ...one, walltimeMs: units * 1000 }),
    words: (units) => `a time limit of ${formatDuration(units * 1000)} instead of ${than}`,
  };
}

/** So that the words are exact: whole GiB from ten on, halves below, then steps of 16 MiB. */
function roundMemory(mebibytes: number): number {
  const step = mebibytes >= 10_240 ? 1024 : mebibytes >= 1024 ? 512 : mebibytes >= 64 ? 16 : 1;
  return mebibytes - (mebibytes % step);
}

function same(units: number): number {
  return units;
}

function withRequest(ask: Ask, change: Partial<ResourceRequest>): Ask {
  // What was remembered for the whole request says nothing of the smaller one.
  return { ...ask, roomKey: undefined, request: { ...ask.request, ...change } };
}

function withPerNode(ask: Ask, change: Partial<Resources>): Ask {
  return withRequest(ask, { perNode: { ...ask.request.perNode, ...change } });
}

function plural(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}
