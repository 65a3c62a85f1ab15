// Whether the node at the other end of a step can still be reached: a peer whose cable is cut
// closes nothing, and TCP waits for it without end as long as nobody sends.

import { connect, type Socket } from 'node:net';

export interface PeerWatch {
  /** Between two looks, of which each is a connection that is closed at once. */
  readonly everyMs: number;
  /** One that is not answered by then has failed. */
  readonly attemptMs: number;
  /** This many missed signs of life are no hiccup of a network, nor a switch that restarts. */
  readonly missesMax: number;
}

export const PEER_WATCH: PeerWatch = { everyMs: 30_000, attemptMs: 10_000, missesMax: 6 };

/**
 * Destroys the socket with an error when its peer is out of reach for long. The peer's kernel
 * answers, so that a server whose task is suspended counts as there; looks are counted, as this
 * process may be suspended, too.
 */
export function watchPeer(socket: Socket, watch: PeerWatch = PEER_WATCH): void {
  const { remoteAddress: host, remotePort: port } = socket;
  if (host === undefined || port === undefined) return;
  let misses = 0;
  let received = socket.bytesRead;
  const look = async (): Promise<void> => {
    const isHeard = socket.bytesRead !== received;
    received = socket.bytesRead;
    misses = isHeard || (await isThere({ host, port }, watch.attemptMs)) ? 0 : misses + 1;
    if (socket.destroyed) return;
    if (misses < watch.missesMax) return again();
    const seconds = Math.round((watch.missesMax * watch.everyMs) / 1000);
    socket.destroy(new Error(`it could not be reached for ${seconds} s`));
  };
  let timer: NodeJS.Timeout;
  const again = (): void => {
    timer = setTimeout(() => void look(), watch.everyMs).unref();
  };
  socket.once('close', () => clearTimeout(timer));
  again();
}

/** Refused is no: a server of steps listens as long as any runs. */
function isThere(place: { host: string; port: number }, limitMs: number): Promise<boolean> {
  const attempt = connect(place).unref();
  return new Promise((resolve) => {
    const timer = setTimeout(() => attempt.destroy(), limitMs);
    attempt.once('connect', () => {
      resolve(true);
      attempt.destroy();
    });
    // What follows from it follows from the close.
    attempt.on('error', () => undefined);
    attempt.once('close', () => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}
