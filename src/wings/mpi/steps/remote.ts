// The client's side of a step on another node: its own input and output are the command's, and so
// is its exit code.

import type { TLSSocket } from 'node:tls';
import { type Frame, FrameReader, type StepEnd, writeBytes, writeFrame } from './frames.ts';
import { type PeerWatch, watchPeer } from './peer-watch.ts';

/** The streams of the process that asked. */
export interface Streams {
  /** Null when nothing is sent. */
  readonly stdin: NodeJS.ReadStream | null;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /** Absent: `PEER_WATCH`. */
  readonly watch?: PeerWatch;
}

export interface RemoteStep {
  /** Passed on to the command. */
  signal(name: NodeJS.Signals): void;
  /** Resolves with how it ended; rejects when the connection broke before it had. */
  readonly ended: Promise<StepEnd>;
}

/** Starts the command on the node at the other end. */
export function startRemote(socket: TLSSocket, command: string, streams: Streams): RemoteStep {
  writeFrame(socket, 'start', command);
  watchPeer(socket, streams.watch);
  if (streams.stdin === null) writeFrame(socket, 'stdin_end');
  else sendInput(socket, streams.stdin);
  return {
    signal: (name) => {
      if (!socket.destroyed) writeFrame(socket, 'signal', name);
    },
    ended: receive(socket, streams).finally(() => streams.stdin?.destroy()),
  };
}

function sendInput(socket: TLSSocket, stdin: NodeJS.ReadStream): void {
  stdin.on('data', (bytes: Buffer) => {
    if (socket.destroyed || writeBytes(socket, 'stdin', bytes)) return;
    stdin.pause();
    socket.once('drain', () => stdin.resume());
  });
  const end = (): void => {
    if (!socket.destroyed) writeFrame(socket, 'stdin_end');
  };
  stdin.on('end', end);
  stdin.on('error', end); // A terminal that is gone.
}

async function receive(socket: TLSSocket, streams: Streams): Promise<StepEnd> {
  const reader = new FrameReader();
  return new Promise((resolve, reject) => {
    const take = ({ kind, body }: Frame): void => {
      if (kind === 'stdout' || kind === 'stderr') show(socket, streams[kind], body);
      else if (kind === 'end') resolve(JSON.parse(body.toString()) as StepEnd);
    };
    socket.on('data', (bytes) => {
      try {
        for (const frame of reader.take(bytes)) take(frame);
      } catch (error) {
        socket.destroy(error as Error);
      }
    });
    socket.on('error', reject);
    socket.on('close', () =>
      reject(new Error('the connection was closed before the command ended')),
    );
  });
}

/** No faster than it is read. */
function show(socket: TLSSocket, to: NodeJS.WritableStream, body: Buffer): void {
  if (to.write(body)) return;
  socket.pause();
  to.once('drain', () => socket.resume());
}
