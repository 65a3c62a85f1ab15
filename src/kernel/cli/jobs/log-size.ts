// How long captured output is by now.

import { LOG_HEADERS } from '../../api/log-headers.ts';
import type { Api } from '../../connect/api.ts';

/** Which process and stream; absent: the first, and both. */
interface Which {
  readonly stream?: 'stdout' | 'stderr';
  readonly nodeRank?: number;
  readonly rank?: number;
  readonly epoch?: number;
}

/** In bytes, as the head has them. */
export async function logSize(api: Api, id: string, which: Which = {}): Promise<number> {
  const query = { ...which, limit: 1, follow: false };
  const stream = await api.stream('readLogs', { params: { id }, query });
  for await (const _ of stream);
  return Number(stream.headers[LOG_HEADERS.size] ?? 0);
}
