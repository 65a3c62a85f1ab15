// Answers of the head that stay true: asked again when an event says that they may have changed.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { RouteName } from '../../api/paths.ts';
import type { ReplyOf } from '../../api/routes.ts';
import { asRetried, type CallOptions, call, HeadError } from './client.ts';
import { type LiveEvent, onEvents } from './live.ts';

/** Many events in a row are one question. */
const TOGETHER_MS = 250;
/** Where every event asks again: a busy cluster has some at any time. */
const ANY_TOGETHER_MS = 2000;
/** After a question that had no answer. */
const RETRY_MS = 3000;

export interface Answered<T> {
  /** The last answer; null before the first. It stays while the head cannot be reached. */
  readonly value: T | null;
  readonly error: HeadError | null;
  readonly again: () => void;
}

export interface QueryOptions {
  /** Which events make it ask again; absent: every one. */
  readonly when?: (event: LiveEvent) => boolean;
  /** Asked again so seldom at most, where the answer is long. */
  readonly togetherMs?: number;
  /** For what no event tells of; 0 = never. */
  readonly everyMs?: number;
  /** Not now. */
  readonly idle?: boolean;
}

/** Asks one route and keeps its answer true. */
export function useCall<N extends RouteName>(
  route: N,
  options: CallOptions<N> = {},
  wish: QueryOptions = {},
): Answered<ReplyOf<N>> {
  const name = JSON.stringify([route, options.params, options.query, wish.idle === true]);
  return useAnswer(name, (signal) => call(route, { ...options, signal }), wish);
}

/** The same for a question of several calls. `name`: another one is another question. */
export function useAnswer<T>(
  name: string,
  ask: (signal: AbortSignal) => Promise<T>,
  wish: QueryOptions = {},
): Answered<T> {
  const { when = () => true, everyMs = 0, idle = false } = wish;
  const { togetherMs = wish.when === undefined ? ANY_TOGETHER_MS : TOGETHER_MS } = wish;
  const [state, setState] = useState<{ name: string; value: T | null; error: HeadError | null }>({
    name,
    value: null,
    error: null,
  });
  const latest = useRef({ ask, when, again: () => {} });
  latest.current.ask = ask;
  latest.current.when = when;
  useEffect(() => {
    if (idle) return undefined;
    const asking = keepAsking(latest, { everyMs, togetherMs }, (value, error) =>
      setState((before) => ({
        name,
        value: value ?? (before.name === name ? before.value : null),
        error,
      })),
    );
    latest.current.again = asking.again;
    return asking.stop;
  }, [name, everyMs, idle]);
  const isOurs = state.name === name;
  return {
    value: isOurs ? state.value : null,
    error: isOurs ? state.error : null,
    again: () => latest.current.again(),
  };
}

interface Latest<T> {
  readonly current: {
    ask: (signal: AbortSignal) => Promise<T>;
    when: (event: LiveEvent) => boolean;
  };
}

function keepAsking<T>(
  latest: Latest<T>,
  { everyMs, togetherMs }: { readonly everyMs: number; readonly togetherMs: number },
  tell: (value: T | null, error: HeadError | null) => void,
) {
  const gone = new AbortController();
  let askedAt = Number.NEGATIVE_INFINITY;
  let isAsking = false;
  let isWanted = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  const ask = async (): Promise<void> => {
    isAsking = true;
    isWanted = false;
    askedAt = performance.now();
    try {
      const value = await latest.current.ask(gone.signal);
      if (!gone.signal.aborted) tell(value, null);
    } catch (error) {
      if (gone.signal.aborted) return;
      const failure = asHeadError(error);
      tell(null, asRetried(failure));
      if (failure.kind === 'unavailable') retryLater();
    }
    isAsking = false;
    if (isWanted) soon();
  };
  const soon = (): void => {
    if (gone.signal.aborted) return;
    isWanted = true;
    if (isAsking || timer !== undefined) return;
    const waitMs = Math.max(0, askedAt + togetherMs - performance.now());
    timer = setTimeout(() => {
      timer = undefined;
      void ask();
    }, waitMs);
  };
  const retryLater = (): void => {
    clearTimeout(retry);
    // Nothing is asked while nobody sees it.
    const isSeen = (): boolean => document.visibilityState === 'visible';
    retry = setTimeout(() => (isSeen() ? soon() : retryLater()), RETRY_MS);
  };
  const off = onEvents((events) => {
    if (events === 'all' || events.some((event) => latest.current.when(event))) soon();
  });
  const beat = everyMs === 0 ? undefined : setInterval(soon, everyMs);
  soon();
  const stop = (): void => {
    gone.abort();
    off();
    clearTimeout(timer);
    clearTimeout(retry);
    clearInterval(beat);
  };
  return { again: soon, stop };
}

function asHeadError(error: unknown): HeadError {
  if (error instanceof HeadError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new HeadError({ code: 'page.failed', kind: 'internal', message, hint: null });
}
