// What nodes and users of tests send to a head: contents, and questions for a task.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import type { Client } from '../../../../../src/kernel/api/client.ts';
import type { BlobHash } from '../../../../../src/kernel/model/blob.ts';
import type { FakeAgent, World } from './fixture.ts';

export function sha256(content: string): BlobHash {
  return createHash('sha256').update(content).digest('hex') as BlobHash;
}

export async function send(client: Client, content: string): Promise<BlobHash> {
  const hash = sha256(content);
  await client.call('sendBlob', {
    params: { hash },
    query: { offset: 0, size: content.length },
    bytes: { length: content.length, open: () => Readable.from([Buffer.from(content)]) },
  });
  return hash;
}

/** What a node asks, with its secret and for a task. */
export async function ask(
  world: World,
  { name, secret }: FakeAgent,
  { epoch, ...what }: { method: string; path: string; epoch?: string; body?: unknown },
): Promise<{ status: number; text: string; code: string | undefined }> {
  const outgoing = request({
    socketPath: world.socketPath,
    method: what.method,
    path: what.path,
    headers: {
      authorization: `Node ${name}:${secret}`,
      ...(epoch === undefined ? {} : { 'weft-epoch': epoch }),
      ...(what.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
  });
  outgoing.end(
    what.body === undefined || typeof what.body === 'string'
      ? what.body
      : JSON.stringify(what.body),
  );
  const [answer] = await once(outgoing, 'response');
  const text = Buffer.concat(await answer.toArray()).toString();
  const code = answer.statusCode === 200 ? undefined : JSON.parse(text).error?.code;
  return { status: answer.statusCode, text, code };
}
