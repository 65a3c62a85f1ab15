// What head and agent of the wing say to each other beside the streams, and how each is read: the
// other side may be of another release, and a node may be anybody's.

import type { EpochId } from '../../../kernel/model/ids.ts';
import type { BindTo, BindWish } from './binding.ts';
import {
  COMMAND_LENGTH_MAX,
  CPUS_LENGTH_MAX,
  NEWS_PART_MAX,
  NEWS_PROCESSES_MAX,
  PROCESSES_MAX,
} from './limits.ts';

export const WING = 'steps';

/** Size of a terminal; 0: it does not say. */
export interface WindowSize {
  readonly rows: number;
  readonly columns: number;
}

/** One process of a step, to be started. */
export interface StartWish {
  readonly do: 'start';
  readonly step: string;
  readonly rank: number;
  readonly count: number;
  readonly epochId: EpochId;
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Null: the task's own. */
  readonly directory: string | null;
  /** Null: pipes. */
  readonly terminal: WindowSize | null;
  readonly command: string;
  readonly by: string;
  /** The program finds the other processes of the step by PMI. Absent: it does not. */
  readonly pmi?: boolean;
  /** Absent: to all cpus, as its task is. */
  readonly bind?: BindWish;
  /** How long it goes on without a line. Absent: a minute. */
  readonly lingerMs?: number;
  /** Cpus that the step is given, on all its nodes: told with it. Absent: nobody says. */
  readonly cpuCount?: number;
}

/** All processes of a step here, to be hung up: it could not be started everywhere. */
export interface StopWish {
  readonly do: 'stop';
  readonly step: string;
}

/** A signal for all processes of a step here. */
export interface SignalWish {
  readonly do: 'signal';
  readonly step: string;
  readonly signal: number;
}

/** Somebody wants to see what a process of a step here writes. */
export interface WatchWish {
  readonly do: 'watch';
  readonly step: string;
  readonly rank: number;
  /** By it the two lines are joined. */
  readonly watch: string;
}

/** Which cpus each of so many processes of a task here is to be bound to, before any starts. */
export interface ClaimWish {
  readonly do: 'claim';
  /** Given back with the answer. */
  readonly claim: number;
  readonly epochId: EpochId;
  readonly to: BindTo;
  readonly of: number;
}

/** The answer: the cpus of each, or why there are none. */
export interface Claimed {
  readonly claimed: number;
  readonly cpus?: readonly string[];
  readonly why?: string;
}

export type Wish = StartWish | StopWish | SignalWish | ClaimWish | WatchWish;

/** What a program has used, with what it waited for. */
export interface StepUse {
  readonly userUs: number;
  readonly systemUs: number;
  readonly memoryPeakBytes: number;
}

/**
 * How one process of a step is over. `why`: nobody knows of an exit. `used`: absent where it is not
 * said.
 */
export type StepEnd =
  | {
      readonly exit: { readonly code: number } | { readonly signal: number };
      readonly used?: StepUse;
    }
  | { readonly why: string };

/** One process of a step, as its node tells of it. */
export interface ToldProcess {
  readonly step: string;
  readonly rank: number;
  readonly count: number;
  readonly epochId: EpochId;
  readonly command: string;
  readonly by: string;
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** Null: it runs. */
  readonly end: StepEnd | null;
  /** To which it is bound, as Linux writes them. Absent: to none. */
  readonly cpus?: string;
  /** The same as in the wish. */
  readonly cpuCount?: number;
}

/** `isAll`: what is not in it is not there. */
export interface News {
  readonly isAll: boolean;
  /**
   * All of them in several words: which one, from 0, and whether others follow. Absent: the only
   * one.
   */
  readonly part?: number;
  readonly hasMore?: boolean;
  readonly processes: readonly ToldProcess[];
}

/** What a node has, in words that are no longer than a message may be. */
export function newsOfAll(all: readonly ToldProcess[]): News[] {
  const words: News[] = [];
  const told = all.slice(0, NEWS_PROCESSES_MAX);
  for (let at = 0; at === 0 || at < told.length; at += NEWS_PART_MAX) {
    const processes = told.slice(at, at + NEWS_PART_MAX);
    const hasMore = at + NEWS_PART_MAX < told.length;
    words.push({ isAll: true, part: words.length, hasMore, processes });
  }
  return words;
}

const NEWS_MAX = 10_000;

/**
 * Returns null when what no agent of ours says. One process that cannot be read keeps nothing from
 * the others; `unread` hears how many there are.
 */
export function readNews(body: unknown, unread: (count: number) => void): News | null {
  if (!isMap(body)) return null;
  const { isAll, part = 0, hasMore = false, processes } = body;
  if (typeof isAll !== 'boolean' || !Array.isArray(processes)) return null;
  if (processes.length > NEWS_MAX) return null;
  if (typeof part !== 'number' || typeof hasMore !== 'boolean') return null;
  const told = processes.filter(isTold);
  if (told.length < processes.length) unread(processes.length - told.length);
  return { isAll, part, hasMore, processes: told };
}

/**
 * Returns null when what no head of ours says. The pinned head's word is taken for what is in it.
 */
export function readWish(body: unknown): Wish | null {
  if (!isMap(body)) return null;
  const { step, argv, epochId } = body;
  if (body['do'] === 'stop') return typeof step === 'string' ? { do: 'stop', step } : null;
  if (body['do'] === 'signal') return readSignal(step, body['signal']);
  if (body['do'] === 'claim') return readClaim(body);
  if (body['do'] === 'watch') return readWatch(body);
  if (body['do'] !== 'start' || typeof step !== 'string') return null;
  if (typeof epochId !== 'string' || !Array.isArray(argv)) return null;
  return body as unknown as StartWish;
}

function readSignal(step: unknown, signal: unknown): SignalWish | null {
  if (typeof step !== 'string' || typeof signal !== 'number') return null;
  return Number.isInteger(signal) && signal >= 1 && signal <= 64
    ? { do: 'signal', step, signal }
    : null;
}

function readWatch({ step, rank, watch }: Record<string, unknown>): WatchWish | null {
  if (typeof step !== 'string' || typeof rank !== 'number' || typeof watch !== 'string')
    return null;
  return { do: 'watch', step, rank, watch };
}

function readClaim(body: Record<string, unknown>): ClaimWish | null {
  const { claim, epochId, to, of } = body;
  if (!Number.isSafeInteger(claim) || typeof epochId !== 'string') return null;
  if ((to !== 'core' && to !== 'numa') || !Number.isSafeInteger(of)) return null;
  return body as unknown as ClaimWish;
}

/** Null: no answer about cpus. */
export function readClaimed(body: unknown): Claimed | null {
  if (!isMap(body) || !Number.isSafeInteger(body['claimed'])) return null;
  const { cpus, why } = body;
  const areCpus =
    Array.isArray(cpus) &&
    cpus.length <= PROCESSES_MAX &&
    cpus.every((one) => isWord(one, CPUS_LENGTH_MAX) && one !== '');
  return areCpus || isWord(why, COMMAND_LENGTH_MAX) ? (body as unknown as Claimed) : null;
}

function isTold(value: unknown): value is ToldProcess {
  if (!isMap(value)) return false;
  const { step, rank, count, epochId, command, by, startedAt, endedAt, end, cpus = '' } = value;
  const words =
    [step, epochId, command, by].every((word) => isWord(word, COMMAND_LENGTH_MAX)) &&
    isWord(cpus, CPUS_LENGTH_MAX);
  const { cpuCount = 1 } = value;
  const numbers = [rank, count, startedAt, cpuCount].every(Number.isSafeInteger);
  const over = end === null || (Number.isSafeInteger(endedAt) && isEnd(end));
  return words && numbers && over;
}

function isEnd(value: unknown): boolean {
  if (!isMap(value)) return false;
  const { exit, why, used } = value;
  if (why !== undefined) return isWord(why, COMMAND_LENGTH_MAX);
  if (!isMap(exit) || (used !== undefined && !isUse(used))) return false;
  return Number.isSafeInteger(exit['code']) || Number.isSafeInteger(exit['signal']);
}

function isUse(value: unknown): boolean {
  if (!isMap(value)) return false;
  const { userUs, systemUs, memoryPeakBytes } = value;
  return [userUs, systemUs, memoryPeakBytes].every(
    (one) => Number.isSafeInteger(one) && (one as number) >= 0,
  );
}

function isWord(value: unknown, max: number): boolean {
  return typeof value === 'string' && value.length <= max;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
