// What happens, as server-sent events (WHATWG HTML, section 9.2): id = sequence number, so that a
// reader who was cut off goes on where it was with Last-Event-ID.

import type { ServerResponse } from 'node:http';
import { err, ok } from '../../../base/result.ts';
import { refuse } from '../../../model/errors.ts';
import type { Call, Handler } from '../call.ts';
import type { EventFeed } from '../event-feed.ts';
import { type View, viewOf } from '../event-pieces.ts';
import type { Services } from '../services.ts';

/** A keep-alive: readers soon notice that the head hangs. It also moves the reader's last id. */
const KEEP_ALIVE_MS = 5000;

export const events: Handler<'events'> = async (services, call) => {
  const { ring, publicEvents } = services;
  const unknown = call.query.kind?.findIndex((kind) => !publicEvents.has(kind)) ?? -1;
  if (unknown >= 0) {
    const what = `kind[${unknown}]: no kind of event; docs/events.md lists them`;
    return err(refuse('argument.invalid', { what }));
  }
  const after = readAfter(call);
  if (after === null) {
    const what = 'header Last-Event-ID: expected a sequence number';
    return err(refuse('argument.invalid', { what }));
  }
  const from = after ?? ring.newest;
  if (from + 1 < ring.oldest || from > ring.newest) {
    const details = { after: String(from), oldest: String(ring.oldest) };
    const hint = 'Read the lists again, then follow from now on.';
    return err(refuse('event.too_old', details, hint));
  }
  const { response } = call;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  const { actor, signal, query } = call;
  const feed = query.brief === true ? services.briefFeed : services.feed;
  await follow(services, { response, from, signal, feed, view: viewOf(actor, query) });
  response.end();
  return ok(null);
};

/** Undefined: from now on. Null: not a number. */
function readAfter({ incoming, query }: Call<'events'>): number | undefined | null {
  const header = incoming.headers['last-event-id'];
  if (header === undefined) return query.after;
  const seq = Number(header);
  return Number.isSafeInteger(seq) && seq >= 0 ? seq : null;
}

interface Following {
  readonly response: ServerResponse;
  readonly from: number;
  readonly signal: AbortSignal;
  readonly feed: EventFeed;
  readonly view: View;
}

/** Sends until the reader goes, the head stops, or the reader falls behind what is in memory. */
function follow({ clock, ring }: Services, of: Following) {
  const { response, from, signal, feed, view } = of;
  return new Promise<void>((resolve) => {
    let sent = from;
    let announced = from;
    let blocked = false;
    const write = (what: string | Buffer): void => {
      blocked = !response.write(what);
    };
    const pump = (): void => {
      while (!blocked && sent < ring.newest) {
        const piece = feed.after(sent, view);
        // Too slow: the reader comes back with its last id and is told so.
        if (piece === null) return finish();
        ({ sent } = piece);
        if (piece.bytes === null) continue;
        ({ announced } = piece);
        write(piece.bytes);
      }
    };
    const drained = (): void => {
      blocked = false;
      pump();
    };
    const keepAlive = (): void => {
      if (!blocked) write(sent > announced ? `id: ${sent}\n\n` : ':\n\n');
      announced = sent;
      timer = clock.after(KEEP_ALIVE_MS, keepAlive);
    };
    const finish = (): void => {
      timer.cancel();
      unsubscribe();
      signal.removeEventListener('abort', finish);
      response.off('drain', drained);
      resolve();
    };
    let timer = clock.after(KEEP_ALIVE_MS, keepAlive);
    const unsubscribe = feed.onNews(pump);
    signal.addEventListener('abort', finish);
    response.on('drain', drained);
    response.flushHeaders();
    if (signal.aborted) finish();
    else pump();
  });
}
