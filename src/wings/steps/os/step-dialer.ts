// The line of a node to its head for one process of a step.

import type { Socket } from 'node:net';
import { type HeadPlace, openStream } from '../../../kernel/os/head-stream.ts';
import type { DialledProcess, StepLine } from '../ports/steps.ts';

export interface StepDoor {
  readonly head: HeadPlace;
  readonly name: string;
  readonly secret: string;
  /** Named beside the step and the rank: the start of its task. */
  readonly epochHeader: string;
  /** What stands for a process in the path. */
  readonly line: (rank: number, watch: string | undefined) => string;
}

const DIAL_MS = 10_000;

/** Rejects with words when the head cannot be reached, or does not know the process. */
export async function dialStep(door: StepDoor, to: DialledProcess): Promise<StepLine> {
  const { host, stream } = await openStream(door.head, DIAL_MS);
  const { step, rank, epochId, watch } = to;
  const path = `/v1/steps/${encodeURIComponent(step)}/${door.line(rank, watch)}`;
  // Not imported: an import reads every name of the module, and one of them loads a WebSocket
  // client.
  const { request } = process.getBuiltinModule('node:http');
  const asked = request({
    createConnection: () => stream,
    path,
    headers: {
      host,
      authorization: `Node ${door.name}:${door.secret}`,
      connection: 'Upgrade',
      upgrade: 'weft-step',
      [door.epochHeader]: epochId,
    },
  });
  const timer = setTimeout(() => stream.destroy(new Error('no answer from the head')), DIAL_MS);
  stream.once('close', () => clearTimeout(timer));
  const opened = new Promise<StepLine>((resolve, reject) => {
    asked.once('error', reject);
    asked.once('response', ({ statusCode }) => {
      stream.destroy();
      reject(new Error(`the head answered ${statusCode}`));
    });
    asked.once('upgrade', (_answer, socket, rest) => {
      clearTimeout(timer);
      resolve(lineOf(socket, rest));
    });
  });
  asked.end();
  return opened;
}

function lineOf(socket: Socket, rest: Buffer): StepLine {
  socket.setTimeout(0).setNoDelay(true).setKeepAlive(true, 30_000);
  socket.on('error', () => socket.destroy());
  if (rest.length > 0) socket.unshift(rest);
  return {
    send: (bytes) => void socket.write(bytes),
    onBytes: (heard) => void socket.on('data', heard),
    onClose: (gone) => void socket.once('close', gone),
    close: () => socket.end(() => socket.destroy()),
  };
}
