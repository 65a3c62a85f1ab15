// What the tests of notifiers share: something to tell, a folder with programs and secrets, and web
// servers on loopback that answer as they are told.

import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { JobId, UserName } from '../../../../../src/kernel/model/ids.ts';
import type { News, Target } from '../../../../../src/kernel/model/notification.ts';
import { parseTarget } from '../../../../../src/kernel/model/notification.ts';
import { systemClock } from '../../../../../src/kernel/os/clock.ts';
import { systemCommands } from '../../../../../src/kernel/os/commands.ts';
import { type Message, messageOfAll } from '../../../../../src/wings/notify/head/message.ts';
import {
  type NotifierOptions,
  notifiersOf,
} from '../../../../../src/wings/notify/head/notifiers.ts';

export const NEWS: News = {
  subject: { kind: 'job', jobId: 42 as JobId },
  name: 'train',
  owner: 'ann' as UserName,
  outcome: 'failed',
  exit: { code: 3 },
  submittedAt: 1_700_000_000_000,
  startedAt: 1_700_000_060_000,
  endedAt: 1_700_000_160_000,
};

export function message(news: Partial<News> = {}): Message {
  return messageOfAll([{ ...NEWS, ...news }], 'lab');
}

export function notifiers(options: Partial<NotifierOptions>) {
  const none = { matrix: null, webhook: null, commands: {}, mail: null, timeoutMs: 5000 };
  return notifiersOf({ ...none, ...options }, { commands: systemCommands, clock: systemClock });
}

export function target(text: string): Target {
  const read = parseTarget(text);
  if (!read.ok) throw new Error(read.error);
  return read.value;
}

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Answers each request by this; keeps what came. Closed after the test. */
export async function serve(
  t: TestContext,
  answer: (request: Received, response: ServerResponse) => void,
): Promise<{ readonly port: number; readonly received: Received[]; readonly server: Server }> {
  const received: Received[] = [];
  const server = createServer((incoming, response) => {
    let body = '';
    incoming.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    incoming.on('end', () => {
      const { method = '', url = '', headers } = incoming;
      const request = { method, url, headers, body };
      received.push(request);
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, received, server };
}

/** A file of the test's folder. */
export function fileIn(folder: string, name: string, text: string, mode = 0o600): string {
  const file = path.join(folder, name);
  writeFileSync(file, text, { mode });
  return file;
}
