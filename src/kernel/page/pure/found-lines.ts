// Lines that the head has found in an output, put together from its answers.

import type { SearchLogsReply } from '../../api/log-search.ts';
import { type LogLine, LogReader } from './log-text.ts';

/** Shown at most: who finds more asks for something else. */
const LINES_MAX = 2000;

export interface FoundSoFar {
  readonly lines: readonly LogLine[];
  /** Where each of them begins. */
  readonly places: readonly number[];
  /** Which start they are of; null: nothing was answered yet. */
  readonly epoch: number | null;
  /** Bytes that were looked at, of so many. */
  readonly looked: number;
  readonly size: number;
  readonly isEnd: boolean;
  /** There may be more; as many are shown as are shown at most. */
  readonly isFull: boolean;
}

export const NOTHING_FOUND: FoundSoFar = {
  lines: [],
  places: [],
  epoch: null,
  looked: 0,
  size: 0,
  isEnd: false,
  isFull: false,
};

/** Another start begins anew. The last line had no end before, and may be told again. */
export function addFound(before: FoundSoFar, reply: SearchLogsReply): FoundSoFar {
  const { epoch, size, next, isEnd } = reply;
  if (before.epoch !== null && before.epoch !== epoch) return { ...NOTHING_FOUND, epoch, size };
  const first = reply.lines[0]?.at ?? before.looked;
  const kept = before.places.filter((at) => at < Math.min(first, before.looked)).length;
  const places = [...before.places.slice(0, kept), ...reply.lines.map(({ at }) => at)];
  const lines = [...before.lines.slice(0, kept), ...reply.lines.map(lineOf)];
  const isFull = lines.length >= LINES_MAX;
  return {
    lines: lines.slice(0, LINES_MAX),
    places: places.slice(0, LINES_MAX),
    epoch,
    size,
    looked: next,
    isEnd,
    isFull,
  };
}

function lineOf({ text, cut }: SearchLogsReply['lines'][number]): LogLine {
  const [line] = new LogReader().push(`${text.replace(/\n$/, '')}\n`);
  return { pieces: line?.pieces ?? [], cut: (line?.cut ?? 0) + cut };
}
