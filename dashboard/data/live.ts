// What happens in the cluster, as it happens: one stream for the whole page, which goes on where it
// was after a cut. While nobody looks at the page there is none.

import { signal } from '@preact/signals';
import { EventReader } from '../pure/event-stream.ts';
import { HeadError, send } from './client.ts';
import { me } from './session.ts';

/** One event; its kind says what else it has. */
export interface LiveEvent {
  readonly kind: string;
  readonly jobId?: number;
  readonly node?: string;
  readonly [field: string]: unknown;
}

type Listener = (events: readonly LiveEvent[] | 'all') => void;

/** `since`: the head cannot be reached since then. */
export type Line =
  | { readonly kind: 'live' }
  | { readonly kind: 'opening' }
  | { readonly kind: 'lost'; readonly since: number };

export const line = signal<Line>({ kind: 'opening' });

const RETRY_MIN_MS = 300;
const RETRY_MAX_MS = 5000;

const listeners = new Set<Listener>();
let lastSeq: string | null = null;
let running: AbortController | null = null;

/** Told of each batch of events; `all`: some were missed, everything may be different. */
export function onEvents(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Follows while the page can be seen and somebody is logged in. */
export function keepLive(): void {
  document.addEventListener('visibilitychange', follow);
  me.subscribe(follow);
}

function follow(): void {
  const wanted = document.visibilityState === 'visible' && Boolean(me.value);
  if (!wanted) {
    running?.abort();
    running = null;
    if (!me.value) lastSeq = null;
    return;
  }
  if (running !== null) return;
  running = new AbortController();
  void keepReading(running.signal);
}

async function keepReading(gone: AbortSignal): Promise<void> {
  let waitMs = RETRY_MIN_MS;
  while (!gone.aborted) {
    try {
      await read(gone, () => {
        waitMs = RETRY_MIN_MS;
      });
    } catch (error) {
      if (gone.aborted) return;
      if (error instanceof HeadError && error.code === 'event.too_old') {
        lastSeq = null;
        tell('all');
        continue;
      }
      if (error instanceof HeadError && error.kind === 'unauthenticated') return;
    }
    if (gone.aborted) return;
    lost();
    await pause(waitMs, gone);
    waitMs = Math.min(RETRY_MAX_MS, waitMs * 1.6);
  }
}

/** Until the stream ends. */
async function read(gone: AbortSignal, onOpen: () => void): Promise<void> {
  const resuming = lastSeq !== null;
  const headers = lastSeq === null ? {} : { 'last-event-id': lastSeq };
  const response = await send('events', { signal: gone, headers });
  const wasLost = line.value.kind === 'lost';
  line.value = { kind: 'live' };
  onOpen();
  // Node loads and words of the head are in no event; and the first stream says nothing of before.
  if (wasLost || !resuming) tell('all');
  const reader = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  const events = new EventReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const all: LiveEvent[] = [];
    for (const { id, data } of events.push(value)) {
      if (id !== null) lastSeq = id;
      if (data !== '') all.push(...(JSON.parse(data) as { events: LiveEvent[] }).events);
    }
    if (all.length > 0) tell(all);
  }
}

function tell(events: readonly LiveEvent[] | 'all'): void {
  for (const listener of [...listeners]) listener(events);
}

function lost(): void {
  if (line.value.kind !== 'lost') line.value = { kind: 'lost', since: Date.now() };
}

function pause(ms: number, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    gone.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
