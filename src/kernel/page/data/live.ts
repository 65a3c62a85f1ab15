// What happens in the cluster, as it happens: one stream for the whole page, which goes on where it
// was after a cut. While nobody looks at the page there is none.

import { signal } from '@preact/signals';
import { headNow } from '../../api/head-time.ts';
import { EventReader } from '../pure/event-stream.ts';
import { isAlive } from '../pure/patience.ts';
import { HeadError, send } from './client.ts';
import { eitherOf } from './either.ts';
import { me } from './session.ts';

/** One event, or several alike. The stream is brief, so that nothing can be read of how. */
export interface LiveEvent {
  readonly kind: string;
  readonly jobId?: number;
}

type Listener = (events: readonly LiveEvent[] | 'all') => void;

/** `lost`: the head cannot be reached since then; `silent`: since then it says nothing. */
export type LinkState =
  | { readonly kind: 'live' }
  | { readonly kind: 'opening' }
  | { readonly kind: 'lost' | 'silent'; readonly since: number };

export const line = signal<LinkState>({ kind: 'opening' });

const RETRY_MIN_MS = 300;
const RETRY_MAX_MS = 5000;
/** How often the line is felt. */
const FEEL_MS = 1000;

const listeners = new Set<Listener>();
let lastSeq: string | null = null;
/** False once an older head, as after a failover to one, has refused brief events. */
let isBrief = true;
let running: AbortController | null = null;

/** Told of each batch of events; `all`: some were missed, everything may be different. */
export function onEvents(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The part of `document` that says whether the page can be seen. */
export interface Visibility {
  readonly visibilityState: string;
  addEventListener(kind: 'visibilitychange', then: () => void): void;
}

/** Follows while the page can be seen and somebody is logged in. */
export function keepLive(page: Visibility): void {
  const look = (): void => turn(page.visibilityState === 'visible');
  page.addEventListener('visibilitychange', look);
  me.subscribe(look);
}

function turn(isSeen: boolean): void {
  const wanted = isSeen && Boolean(me.value);
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

/** A head that was put back to an older state has made fewer records than were read. */
const LOST: ReadonlySet<string> = new Set(['event.too_old', 'event.not_yet']);

async function keepReading(gone: AbortSignal): Promise<void> {
  let waitMs = RETRY_MIN_MS;
  while (!gone.aborted) {
    try {
      await read(gone, () => {
        waitMs = RETRY_MIN_MS;
      });
    } catch (error) {
      if (gone.aborted) return;
      if (error instanceof HeadError && LOST.has(error.code)) {
        lastSeq = null;
        tell('all');
        continue;
      }
      if (error instanceof HeadError && error.kind === 'unauthenticated') return;
      if (error instanceof HeadError && error.code === 'argument.invalid' && isBrief) {
        isBrief = false;
        continue;
      }
      cut(howCut(error));
    }
    if (gone.aborted) return;
    if (line.value.kind === 'live') cut('lost');
    await pause(waitMs, gone);
    waitMs = Math.min(RETRY_MAX_MS, waitMs * 1.6);
  }
}

/** Until the stream ends, or nothing has come on it for too long. */
async function read(gone: AbortSignal, onOpen: () => void): Promise<void> {
  const resuming = lastSeq !== null;
  const headers = lastSeq === null ? {} : { 'last-event-id': lastSeq };
  const dead = new AbortController();
  const signal = eitherOf(gone, dead.signal);
  const response = await send('events', { query: isBrief ? { brief: true } : {}, signal, headers });
  const wasCut = line.value.kind === 'lost' || line.value.kind === 'silent';
  line.value = { kind: 'live' };
  onOpen();
  // Node loads and words of the head are in no event; and the first stream says nothing of before.
  if (wasCut || !resuming) tell('all');
  let heardAt = headNow();
  const feel = setInterval(() => {
    if (isAlive(heardAt, headNow())) return;
    cut('silent', heardAt);
    dead.abort();
  }, FEEL_MS);
  try {
    await follow(response, () => {
      heardAt = headNow();
    });
  } finally {
    clearInterval(feel);
  }
}

async function follow(response: Response, onHeard: () => void): Promise<void> {
  const reader = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  const events = new EventReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onHeard();
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

/** A line broken off because of its silence stays silent until the head is known to be away. */
function howCut(error: unknown): 'lost' | 'silent' {
  const code = error instanceof HeadError ? error.code : '';
  const isSilent = code === 'head.silent' || (code === '' && line.value.kind === 'silent');
  return isSilent ? 'silent' : 'lost';
}

function cut(kind: 'lost' | 'silent', since = headNow()): void {
  const before = line.value;
  if (before.kind === kind) return;
  line.value = { kind, since: 'since' in before ? before.since : since };
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
