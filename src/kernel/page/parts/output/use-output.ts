// Output of one start of a task, read while it comes: the end of what is there, then what is new.

import { useEffect, useState } from 'preact/hooks';
import { HeadError, type Query, send } from '../../data/client.ts';
import { type LogLine, LogReader } from '../../pure/log-text.ts';

/** Shown at first, from the end. */
const TAIL_BYTES = 128 * 1024;
/** Lines that are kept on the page; the download has all. */
const LINES_MAX = 5000;
const RETRY_MS = 1500;

export type Stream = 'stdout' | 'stderr';

/** Which output of a task. */
export interface Source {
  readonly id: string;
  readonly stream: Stream;
  readonly nodeRank: number;
  /** Which start; absent: the last. */
  readonly epoch?: number;
}

export interface Output {
  readonly lines: readonly LogLine[];
  readonly rest: LogLine | null;
  /** Bytes before the first line. */
  readonly skipped: number;
  readonly error: HeadError | null;
  readonly isOver: boolean;
}

const NOTHING: Output = { lines: [], rest: null, skipped: 0, error: null, isOver: false };

export function useOutput({ id, stream, nodeRank, epoch }: Source): Output {
  const [output, setOutput] = useState<Output>(NOTHING);
  useEffect(() => {
    setOutput(NOTHING);
    const gone = new AbortController();
    const query = { stream, nodeRank, epoch };
    void keepReading({ id, query, gone: gone.signal, tell: setOutput });
    return () => gone.abort();
  }, [id, stream, nodeRank, epoch]);
  return output;
}

interface Reading {
  readonly id: string;
  readonly query: Query;
  readonly gone: AbortSignal;
  readonly tell: (output: Output) => void;
}

/** Until all of it has come: a line that breaks is taken up where it was. */
async function keepReading({ id, query, gone, tell }: Reading): Promise<void> {
  const lines: LogLine[] = [];
  let reader = new LogReader();
  let offset: number | null = null;
  let skipped = 0;
  const show = (error: HeadError | null, isOver = false): void => {
    if (lines.length > LINES_MAX) lines.splice(0, lines.length - LINES_MAX);
    if (!gone.aborted) tell({ lines: [...lines], rest: reader.rest, skipped, error, isOver });
  };
  while (!gone.aborted) {
    // A browser has few connections to one head, over all of its tabs.
    const seen = whileSeen(gone);
    try {
      if (offset === null) {
        const size = await sizeOf(id, query, gone);
        offset = Math.max(0, size - TAIL_BYTES);
        skipped = offset;
        reader = new LogReader();
      }
      const where = { ...query, offset, follow: true };
      const response = await send('readLogs', {
        params: { id },
        query: where,
        signal: seen.signal,
      });
      const bytes = (response.body as ReadableStream<Uint8Array>).getReader();
      const decoder = new TextDecoder();
      for (;;) {
        const { done, value } = await bytes.read();
        if (done) return show(await lacking(id, query, offset, gone), true);
        offset += value.length;
        lines.push(...reader.push(decoder.decode(value, { stream: true })));
        show(null);
      }
    } catch (error) {
      if (gone.aborted) return;
      if (error instanceof HeadError && !seen.signal.aborted) {
        show(error.kind === 'unavailable' ? null : error);
        if (error.kind !== 'unavailable') return;
      }
    } finally {
      seen.end();
    }
    if (!seen.signal.aborted) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    await untilSeen(gone);
  }
}

/** A signal that ends with `gone`, and when nobody sees the page any more. */
function whileSeen(gone: AbortSignal): { readonly signal: AbortSignal; readonly end: () => void } {
  const made = new AbortController();
  const abort = (): void => made.abort();
  const look = (): void => {
    if (document.visibilityState === 'hidden') abort();
  };
  gone.addEventListener('abort', abort);
  document.addEventListener('visibilitychange', look);
  look();
  const end = (): void => {
    gone.removeEventListener('abort', abort);
    document.removeEventListener('visibilitychange', look);
  };
  return { signal: made.signal, end };
}

function untilSeen(gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (document.visibilityState === 'hidden' && !gone.aborted) return;
      document.removeEventListener('visibilitychange', look);
      gone.removeEventListener('abort', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    gone.addEventListener('abort', look);
    look();
  });
}

/** A browser shows no trailers: so it is asked whether the rest of what came has not come. */
export async function lacking(
  id: string,
  query: Query,
  offset: number,
  signal?: AbortSignal,
): Promise<HeadError | null> {
  const where = { ...query, offset, follow: false };
  const asked = { params: { id }, query: where, ...(signal === undefined ? {} : { signal }) };
  const response = await send('readLogs', asked);
  await response.arrayBuffer();
  return response.headers.get('weft-log-lacking') === 'true' ? new HeadError(LACKING) : null;
}

const LACKING = {
  code: 'log.lacking',
  kind: 'unavailable',
  message: 'Not all of the output is here: the rest has not come from its node.',
  hint: 'Look again when the node is back.',
} as const;

/** How many bytes the head has of it now. */
export async function sizeOf(id: string, query: Query, signal: AbortSignal): Promise<number> {
  const where = { ...query, limit: 1, follow: false };
  const response = await send('readLogs', { params: { id }, query: where, signal });
  return Number(response.headers.get('weft-log-size') ?? 0);
}
