// The line of a worker to the head, as a WebSocket.

import type { CallLine, DialCalls } from '../ports/call-line.ts';
import { gatherWrites } from '../ports/net.ts';
import { bytesOf, dialSocket, type HeadDoor } from './dialer.ts';

/** A head that does not answer to the end of a connection is not waited for. */
const CLOSE_MS = 2000;

/** Dials once per call; the caller decides when to try again. */
export function callDialer(door: HeadDoor): DialCalls {
  return async () => {
    const { socket, stream } = await dialSocket(door);
    const gather = gatherWrites(stream, setImmediate);
    let why = 'the head closed the connection';
    socket.on('error', (error) => {
      why = error.message;
    });
    const line: CallLine = {
      send: (frame) => {
        if (socket.readyState !== socket.OPEN) return;
        gather();
        socket.send(frame);
      },
      get bufferedBytes() {
        return socket.bufferedAmount;
      },
      onFrame: (handler) => void socket.on('message', (data) => handler(bytesOf(data))),
      onClose: (handler) => {
        socket.on('close', (code, reason) => handler(`${reason}` || `${why} (${code})`));
      },
      close: () => {
        socket.close(1000);
        setTimeout(() => socket.terminate(), CLOSE_MS).unref();
      },
    };
    return line;
  };
}
