// Output as a program reads it: all of it, or an error.

import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { LOG_HEADERS } from '../../../../src/kernel/api/log-headers.ts';
import type { HeadConnection } from '../../../../src/kernel/sdk/line.ts';
import { readLogs, readOutput } from '../../../../src/kernel/sdk/logs.ts';

/** A head that answers with this text, and says of it at its end whether something is lacking. */
function lineOf(text: string, isLacking: boolean): HeadConnection {
  const trailers = { [LOG_HEADERS.lacking]: String(isLacking) };
  const answer = () => Object.assign(Readable.from([Buffer.from(text)]), { headers: {}, trailers });
  return { stream: async () => answer() } as unknown as HeadConnection;
}

test('[W8] output of which the rest has not come is never shown as whole', async () => {
  assert.equal(await readOutput(lineOf('all', false), '1', {}), 'all');
  await assert.rejects(readOutput(lineOf('some', true), '1', {}), {
    code: 'log.lacking',
    kind: 'unavailable',
    details: { task: '1' },
  });
  const long = 'x'.repeat(16 * 1024 ** 2 + 1);
  await assert.rejects(readOutput(lineOf(long, false), '1', {}), /more than 16777216 bytes/);
  const beginning = await readOutput(lineOf(long, false), '1', { bytesMax: long.length });
  assert.equal(beginning.length, long.length);
  const came: string[] = [];
  await assert.rejects(
    async () => {
      for await (const piece of readLogs(lineOf('some', true), '1', {})) came.push(String(piece));
    },
    { code: 'log.lacking' },
  );
  assert.deepEqual(came, ['some'], 'what came is given out once');
});
