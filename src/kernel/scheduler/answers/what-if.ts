// Which smaller request would start now: each amount alone is lowered as little as it takes, found
// by halving, since what fits stays fitting when less is asked for; then amounts two at a time. As
// far as `WHAT_IF_LOOKS_MAX` goes.

import type { ResourceRequest } from '../../model/job.ts';
import { WHAT_IF_LOOKS_MAX } from '../../model/limits.ts';
import type { Resources } from '../../model/resources.ts';
import type { Ask } from '../room/ask.ts';
import type { Board } from '../room/board.ts';

/** One thing that could be asked for less. */
interface Amount {
  /** In units of this amount; `Infinity` = no time limit. */
  readonly asked: number;
  readonly least: number;
  /** With how much it would start now, where that can be told at once. */
  most?(board: Board, ask: Ask): number;
  with(ask: Ask, units: number): Ask;
  less(units: number): Less;
  /** A rounder number that is no larger. */
  round(units: number): number;
}

/**
 * One amount of a request, lowered: counts, bytes of memory, ms of a time limit. Of types of gpus
 * it is how many are named; 0: any will do.
 */
export interface Less {
  readonly what: 'nodes' | 'cpus' | 'gpuTypes' | 'gpus' | 'memory' | 'walltime';
  readonly to: number;
  /** Null: without a limit. */
  readonly from: number | null;
}

/** A request that would start now. */
interface Change {
  readonly less: readonly Less[];
  /** The part of what was asked for that is given up, 0…1 for each amount. */
  readonly loss: number;
}

/** What to ask for less of for a start now, least loss first; none when nothing small helps. */
export function smallerRequests(
  board: Board,
  ask: Ask,
  looksMax = WHAT_IF_LOOKS_MAX,
): readonly (readonly Less[])[] {
  const trial = new Trial(board, looksMax);
  const amounts = amountsOf(ask);
  const alone = amounts.flatMap((amount) => lower(trial, ask, amount) ?? []);
  const changes = alone.length > 0 ? alone : inPairs(trial, ask, amounts);
  return changes.sort((a, b) => a.loss - b.loss).map(({ less }) => less);
}

/** Requests that are tried, as far as the looks go. */
class Trial {
  readonly board: Board;
  readonly #workMax: number;

  constructor(board: Board, looksMax: number) {
    this.board = board;
    this.#workMax = board.work + looksMax;
  }

  get isOver(): boolean {
    return this.board.work >= this.#workMax;
  }

  /** The most of this amount with which it starts now; null: not even with the least. */
  mostOf(ask: Ask, amount: Amount): number | null {
    const { asked, least } = amount;
    const known = amount.most?.(this.board, ask);
    if (known !== undefined) return known < least ? null : Math.min(known, asked - 1);
    return this.#fits(amount.with(ask, least)) ? this.#halve(ask, amount) : null;
  }

  #halve(ask: Ask, amount: Amount): number | null {
    let low = amount.least;
    let high = amount.asked - 1;
    while (low < high) {
      // Half a search says too little.
      if (this.isOver) return null;
      const middle = Math.ceil((low + high) / 2);
      if (this.#fits(amount.with(ask, middle))) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #fits(ask: Ask): boolean {
    const { nodeCount } = ask.request;
    return this.board.fitting(ask, nodeCount).length >= nodeCount;
  }
}

/** This amount alone lowered; null: that does not help, or the looks do not go as far. */
function lower(trial: Trial, ask: Ask, amount: Amount): Change | null {
  const most = trial.isOver ? null : trial.mostOf(ask, amount);
  if (most === null) return null;
  const units = Math.max(amount.least, amount.round(most));
  return { less: [amount.less(units)], loss: lossOf(amount, units) };
}

/** The pair that gives up least, with the first lowered in a few steps. */
function inPairs(trial: Trial, ask: Ask, amounts: readonly Amount[]): Change[] {
  let best: Change | null = null;
  for (const first of amounts) {
    for (const units of stepsOf(first)) {
      if (best !== null && best.loss <= lossOf(first, units)) break;
      const lowered = first.with(ask, units);
      for (const second of amounts) {
        if (second === first) continue;
        const found = lower(trial, lowered, second);
        if (found === null) continue;
        const loss = found.loss + lossOf(first, units);
        if (best !== null && best.loss <= loss) continue;
        best = { less: [first.less(units), ...found.less], loss };
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
/** A time limit that is offered where none was asked for is less: a month. */
const WALLTIME_SECONDS_MAX = 30 * 24 * HOUR_SECONDS;

function amountsOf(ask: Ask): Amount[] {
  const { nodeCount, perNode } = ask.request;
  const { cpuCount, memoryBytes, gpuCount, gpuKind } = perNode;
  const types = gpuKind?.types?.length ?? 0;
  const all: Amount[] = [
    {
      asked: nodeCount,
      least: 1,
      round: same,
      with: (one, units) => withRequest(one, { nodeCount: units }),
      less: (to) => ({ what: 'nodes', to, from: nodeCount }),
    },
    {
      asked: cpuCount,
      least: 1,
      round: same,
      with: (one, units) => withPerNode(one, { cpuCount: units }),
      less: (to) => ({ what: 'cpus', to, from: cpuCount }),
    },
    {
      // Before their number: who may have any gets as many.
      asked: Math.min(1, types),
      least: 0,
      round: same,
      with: withAnyType,
      less: (to) => ({ what: 'gpuTypes', to, from: types }),
    },
    {
      // Without any it would not do what it is for.
      asked: gpuCount,
      least: 1,
      round: same,
      with: (one, units) => withPerNode(one, { gpuCount: units }),
      less: (to) => ({ what: 'gpus', to, from: gpuCount }),
    },
    {
      asked: Math.floor(memoryBytes / MIB),
      least: 1,
      round: roundMemory,
      with: (one, units) => withPerNode(one, { memoryBytes: units * MIB }),
      less: (units) => ({ what: 'memory', to: units * MIB, from: memoryBytes }),
    },
    walltime(ask),
  ];
  return all.filter(({ asked, least }) => asked > least);
}

function walltime({ walltimeMs: wholeMs, buildMs = 0 }: Ask): Amount {
  const walltimeMs = wholeMs === null ? null : wholeMs - buildMs;
  return {
    asked: walltimeMs === null ? Infinity : Math.floor(walltimeMs / 1000),
    least: 1,
    most: (board, ask) => {
      const until = board.fitsUntil(ask) ?? board.now;
      return Math.min(Math.floor((until - board.now - buildMs) / 1000), WALLTIME_SECONDS_MAX - 1);
    },
    // Whole minutes, and whole quarters of an hour where minutes do not matter.
    round: (s) => (s < 120 ? s : s < 36_000 ? s - (s % 60) : s - (s % 900)),
    with: (one, units) => ({ ...one, walltimeMs: units * 1000 + buildMs }),
    less: (units) => ({ what: 'walltime', to: units * 1000, from: walltimeMs }),
  };
}

/** Rounds memory to a short number: whole GiB from ten on, halves below, then steps of 16 MiB. */
function roundMemory(mebibytes: number): number {
  const step = mebibytes >= 10_240 ? 1024 : mebibytes >= 1024 ? 512 : mebibytes >= 64 ? 16 : 1;
  return mebibytes - (mebibytes % step);
}

function same(units: number): number {
  return units;
}

/** What else is asked of each gpu stays. */
function withAnyType(ask: Ask): Ask {
  const { gpuKind, ...rest } = ask.request.perNode;
  if (gpuKind === undefined) return ask;
  const kind = { ...gpuKind, types: null };
  const isAny = kind.memoryBytesMin === null && kind.shareBytes === null && !kind.links;
  return withRequest(ask, { perNode: isAny ? rest : { ...rest, gpuKind: kind } });
}

function withRequest(ask: Ask, change: Partial<ResourceRequest>): Ask {
  // What was remembered for the whole request says nothing of the smaller one.
  return { ...ask, roomKey: undefined, request: { ...ask.request, ...change } };
}

function withPerNode(ask: Ask, change: Partial<Resources>): Ask {
  return withRequest(ask, { perNode: { ...ask.request.perNode, ...change } });
}
