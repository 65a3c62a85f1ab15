// The door for schedulers that speak the Maui wiki protocol: one request per connection, and for
// whoever is slow, silent or too many one stated rule.

import { createServer, type Server, type Socket } from 'node:net';
import type { WikiAnswers } from '../../fabric/wiki/answer.ts';
import { wikiProblem } from '../../fabric/wiki/codes.ts';
import { WikiReader } from '../../fabric/wiki/reader.ts';
import type { Log } from '../../ports/log.ts';

/** The same as Slurm's: a request has to be there whole within this time, and its reply to be read. */
const PATIENCE_MS = 10_000;
/** Connections at once: each may hold a request of 2 MiB. */
const CONNECTIONS_MAX = 32;

export interface WikiDoorOptions {
  readonly host: string;
  readonly port: number;
  readonly answers: WikiAnswers;
  readonly log: Log;
  /** Default: 10 s. */
  readonly patienceMs?: number;
}

export interface WikiDoor {
  readonly port: number;
  close(): Promise<void>;
}

/** Resolves when it listens; rejects with words when it cannot. */
export async function openWikiDoor(options: WikiDoorOptions): Promise<WikiDoor> {
  const { host, port, log } = options;
  const open = new Set<Socket>();
  // Half open: the reply goes out whether or not the client has closed its side.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    serve(socket, options);
  });
  server.maxConnections = CONNECTIONS_MAX;
  await listening(server, host, port);
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  log.info({ host, port: bound }, 'the door for wiki schedulers is open');
  return {
    port: bound,
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of open) socket.destroy();
      return closed;
    },
  };
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    // Stays: what goes wrong with one that knocks later is no reason to end the head.
    server.on('error', (error) => {
      reject(new Error(`wiki.listen: ${host}:${port} cannot be opened: ${error.message}`));
    });
    server.listen({ host, port }, () => resolve());
  });
}

function serve(socket: Socket, options: WikiDoorOptions): void {
  const { answers, log, patienceMs = PATIENCE_MS } = options;
  const reader = new WikiReader();
  let isReading = true;
  let timer = setTimeout(() => onSilence(), patienceMs);
  const reply = (packet: Uint8Array): void => {
    clearTimeout(timer);
    timer = setTimeout(() => socket.destroy(), patienceMs);
    socket.end(packet);
  };
  const onSilence = (): void => {
    isReading = false;
    const words = `the request was not there within ${patienceMs / 1000} s, only ${reader.progress}`;
    reply(answers.refusal(wikiProblem('silence', words)));
  };
  socket.on('data', (chunk) => {
    if (!isReading) return;
    const read = reader.push(chunk);
    if (read.ok && read.value === null) return;
    isReading = false;
    clearTimeout(timer);
    if (!read.ok) return reply(answers.refusal(read.error));
    answers.answer(read.value as Uint8Array).then(reply, (error: unknown) => {
      log.error({ error }, 'a request of a wiki scheduler failed');
      socket.destroy();
    });
  });
  // Half a packet and no more: nobody waits for the rest.
  socket.on('end', () => {
    if (!isReading) return;
    isReading = false;
    const words = `the connection ended after ${reader.progress}`;
    reply(answers.refusal(wikiProblem('data', words)));
  });
  socket.on('error', () => socket.destroy());
  socket.once('close', () => clearTimeout(timer));
}
