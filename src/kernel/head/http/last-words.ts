// One answer to a connection that speaks no proper HTTP, and its end.

import type { Duplex } from 'node:stream';
import { KINDS, kindOf, type Refusal } from '../../model/errors.ts';
import { ANSWER_LINGER_MS } from '../../model/limits.ts';
import { viewRefusal } from './answer.ts';

/** The other side has a moment to read it. One that does not close keeps no descriptor of ours. */
export function refuseAndClose(socket: Duplex, refusal: Refusal): void {
  const status = KINDS[kindOf(refusal.code)].http;
  const body = JSON.stringify({ error: viewRefusal(refusal) });
  const head = [
    `HTTP/1.1 ${status} ${process.getBuiltinModule('node:http').STATUS_CODES[status]}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // What still comes is thrown away: unread, it would turn our answer into a reset.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), ANSWER_LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}
