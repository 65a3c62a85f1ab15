// What happens, as server-sent events (WHATWG HTML, section 9.2): id = sequence number, so that a
// reader who was cut off goes on where it was with Last-Event-ID.

import type { ServerResponse } from 'node:http';
import { pipeline, type Writable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import { err, ok } from '../../../base/result.ts';
import { refuse } from '../../../model/errors.ts';
import { takesGzip } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import type { EventFeed } from '../event-feed.ts';
import { type View, viewOf } from '../event-pieces.ts';
import type { Services } from '../services.ts';

/**
 * The end of each part is flushed, so that nothing waits in the compressor. Windows of 8 KiB hold
 * several messages, most of which are like the one before, and make 64 KiB of memory a reader; with
 * what Node.js has beside it some 130.
 */
const PACKING = { level: 1, windowBits: 13, memLevel: 6, flush: constants.Z_SYNC_FLUSH };

/** Streams that are compressed at a time: each takes memory, so more readers get theirs plain. */
const PACKED_MAX = 200;
let packed = 0;

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
  const hint = 'Read the lists again, then follow from now on.';
  if (from > ring.newest) {
    const details = { after: String(from), newest: String(ring.newest) };
    return err(refuse('event.not_yet', details, hint));
  }
  if (from + 1 < ring.oldest) {
    const details = { after: String(from), oldest: String(ring.oldest) };
    return err(refuse('event.too_old', details, hint));
  }
  const { response } = call;
  const isPacked =
    packed < PACKED_MAX && takesGzip(String(call.incoming.headers['accept-encoding'] ?? ''));
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
    'cache-control': 'no-store',
    vary: 'accept-encoding',
  });
  response.flushHeaders();
  const { actor, signal, query } = call;
  const feed = query.brief === true ? services.briefFeed : services.feed;
  const out = isPacked ? packedTo(response) : response;
  await follow(services, { out, from, signal, feed, view: viewOf(actor, query) });
  out.end();
  return ok(null);
};

/** Either end of it destroys the other: a failure is a cut, which the reader sees. */
function packedTo(response: ServerResponse): Writable {
  const packing = createGzip(PACKING);
  packed += 1;
  pipeline(packing, response, () => {
    packed -= 1;
  });
  return packing;
}

/** Undefined: from now on. Null: not a number. */
function readAfter({ incoming, query }: Call<'events'>): number | undefined | null {
  const header = incoming.headers['last-event-id'];
  if (header === undefined) return query.after;
  const seq = Number(header);
  return Number.isSafeInteger(seq) && seq >= 0 ? seq : null;
}

interface Following {
  readonly out: Writable;
  readonly from: number;
  readonly signal: AbortSignal;
  readonly feed: EventFeed;
  readonly view: View;
}

/** Sends until the reader goes, the head stops, or the reader falls behind what is in memory. */
function follow({ clock, ring }: Services, of: Following) {
  const { out, from, signal, feed, view } = of;
  return new Promise<void>((resolve) => {
    let sent = from;
    let announced = from;
    let blocked = false;
    const write = (what: string | Buffer): void => {
      blocked = !out.write(what);
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
      out.off('drain', drained);
      resolve();
    };
    let timer = clock.after(KEEP_ALIVE_MS, keepAlive);
    const unsubscribe = feed.onNews(pump);
    signal.addEventListener('abort', finish);
    out.on('drain', drained);
    if (signal.aborted) finish();
    else pump();
  });
}
