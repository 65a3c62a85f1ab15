// Captured output searched from its begin, a bounded part for one answer: for whoever reads only
// its end.

import { ok } from '../../../base/result.ts';
import { LineSearch } from '../../logs/line-search.ts';
import type { Handler } from '../call.ts';
import { logPlace, progress } from './log-target.ts';
import { targetOf } from './logs.ts';

const LINES_DEFAULT = 200;
/** Bytes looked at for one answer: a tenth of a second, in pieces that let others have turns. */
const LOOKED_BYTES_MAX = 16 * 1_048_576;
const CHUNK_BYTES = 131_072;

export const searchLogs: Handler<'searchLogs'> = async (services, call) => {
  const { text, limit, ...query } = call.query;
  const found = await targetOf(services, { ...call, query });
  if (!found.ok) return found;
  const target = found.value;
  const now = await progress(services, target);
  const epoch = Math.max(1, query.epoch ?? now.epoch);
  const log = logPlace(target, epoch);
  const { size } = await services.logs.status(log);
  const from = Math.min(query.offset ?? 0, size);
  const end = Math.min(size, from + LOOKED_BYTES_MAX);
  const search = new LineSearch(text, { from, max: limit ?? LINES_DEFAULT });
  let at = from;
  while (at < end && !search.isFull && !call.signal.aborted) {
    const bytes = await services.logs.read(log, at, Math.min(CHUNK_BYTES, end - at));
    if (bytes.length === 0) break; // Removed while being searched: what is left is nothing.
    search.push(bytes);
    at += bytes.length;
  }
  const isEnd = at >= size && !search.isFull;
  if (isEnd) search.end();
  const lines = search.found.map((line) => ({ ...line }));
  return ok({ epoch, size, lines, next: search.next, isEnd });
};
