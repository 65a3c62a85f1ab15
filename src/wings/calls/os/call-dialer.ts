// The line of a worker to the head: the handshake of a WebSocket (RFC 6455) on a connection of its
// own.

import { createHash, randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { formatDuration } from '../../../kernel/base/duration.ts';
import { type HeadPlace, openStream } from '../../../kernel/os/head-stream.ts';
import type { CallLine, DialCalls } from '../ports/call-line.ts';

export interface CallAddress {
  readonly head: HeadPlace;
  readonly path: string;
  readonly authorization: string;
  /** Further headers, asked for at each dial. */
  readonly headers?: () => Readonly<Record<string, string>>;
  /** For each step of a dial. Default: 10 s. */
  readonly timeoutMs?: number;
}

const DIAL_TIMEOUT_MS = 10_000;
/** Bound for the head's answer. */
const ANSWER_BYTES_MAX = 65_536;
/** What the RFC appends to a key. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Dials once per call; the caller decides when to try again. */
export function callDialer(door: CallAddress): DialCalls {
  return async () => {
    const { timeoutMs = DIAL_TIMEOUT_MS } = door;
    const { host, stream } = await openStream(door.head, timeoutMs);
    const key = randomBytes(16).toString('base64');
    stream.write(requestOf(door, host, key));
    const { answer, rest } = await answerOn(stream, timeoutMs);
    const flaw = flawOf(answer, key);
    if (flaw === null) return { stream: stream.setNoDelay(true), rest };
    stream.destroy();
    throw new Error(flaw);
  };
}

function requestOf(door: CallAddress, host: string, key: string): string {
  const { path, authorization, headers = () => ({}) } = door;
  const lines = [
    ...[`GET ${path} HTTP/1.1`, `Host: ${host}`, `Authorization: ${authorization}`],
    ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
    `Sec-WebSocket-Key: ${key}`,
  ];
  for (const [name, value] of Object.entries(headers())) lines.push(`${name}: ${value}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** The head of the answer, and what came behind it. */
function answerOn(
  stream: Socket,
  timeoutMs: number,
): Promise<{ answer: string } & Pick<CallLine, 'rest'>> {
  let bytes: Buffer = Buffer.alloc(0);
  return new Promise((resolve, reject) => {
    const failed = (error?: Error): void => {
      reject(error ?? new Error('the head closed the connection'));
      stream.destroy();
    };
    const late = new Error(`no answer from the head within ${formatDuration(timeoutMs)}`);
    const timer = setTimeout(() => failed(late), timeoutMs);
    const hear = (chunk: Buffer): void => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      const end = bytes.indexOf('\r\n\r\n');
      if (end < 0 && bytes.length <= ANSWER_BYTES_MAX) return;
      clearTimeout(timer);
      // What follows is for whoever listens next.
      stream.off('data', hear).off('error', failed).off('close', failed).pause();
      if (end < 0) return failed(new Error('the answer of the head has no end'));
      resolve({ answer: bytes.toString('latin1', 0, end), rest: bytes.subarray(end + 4) });
    };
    stream.on('data', hear).once('error', failed).once('close', failed);
  });
}

function flawOf(answer: string, key: string): string | null {
  const status = /^HTTP\/1\.1 (\d{3})\b/.exec(answer)?.[1];
  if (status === undefined) return 'what answered is no head';
  if (status !== '101') {
    return `the head answered ${status}${status === '401' ? ': unknown secret' : ''}`;
  }
  const accept = createHash('sha1').update(`${key}${GUID}`).digest('base64');
  const said = /^sec-websocket-accept: *(\S+)/im.exec(answer)?.[1];
  return said === accept ? null : 'the head answered another handshake';
}
