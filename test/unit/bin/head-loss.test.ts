// A real head that is killed and whose log is damaged: it says what is missing, goes on only when
// it is told to, gives no id twice, and shows the loss from then on.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import type { InfoReply } from '../../../src/kernel/api/cluster.ts';
import { HeadDirectory } from '../../support/head-process.ts';
import type { Call } from '../../support/local-client.ts';

const WAITING = { program: { kind: 'shell', line: 'true' } };

/** One that is known and not there: a job fits it and waits. */
const NODE = {
  name: 'n1',
  resources: { cpuCount: 4, memoryBytes: 2 ** 32, gpuCount: 0, counted: {} },
  labels: [],
  replace: true,
};

async function submit(call: Call): Promise<number> {
  const { jobId } = await call<{ jobId: number }>('POST', '/v1/jobs', WAITING);
  return jobId;
}

test('[S12] a head whose log is gone names the lost jobs and goes on only when told to', async (t) => {
  const head = new HeadDirectory(t);
  const first = await head.serve();
  await first.call('POST', '/v1/nodes', NODE);
  const ids = [];
  for (let count = 0; count < 12; count += 1) ids.push(await submit(first.call));
  assert.deepEqual(ids, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  await head.end('SIGKILL');
  rmSync(head.file('weft.db-wal'));

  const refused = await head.start();
  assert.equal(refused.code, 65, refused.error);
  assert.match(refused.error, /ends at record 0, .* are missing, with jobs 1 to 12\./);
  assert.match(refused.error, /--accept-loss/);
  assert.match(head.log, /with jobs 1 to 12/);

  const second = await head.serve(['--listen', 'none', '--accept-loss']);
  await second.call('POST', '/v1/nodes', NODE);
  assert.equal(await submit(second.call), 13, 'the ids of lost jobs are not given again');
  const { losses } = await second.call<InfoReply>('GET', '/v1/info');
  assert.deepEqual(
    losses.map(({ lastSeq, jobIdFrom, jobIdTo }) => [lastSeq, jobIdFrom, jobIdTo]),
    [[0, 1, 12]],
  );
  assert.match(head.log, /accepted records are lost; the head goes on without them/);
  const said = await head.weft('info');
  assert.match(said, /^Lost: records 1 to \d+, with jobs 1 to 12; accepted with --accept-loss/m);
  assert.match(await head.weft('doctor'), /its store lost records 1 to \d+, with jobs 1 to 12/);
  await head.end('SIGKILL');

  // Accepted once is accepted: the next start needs no word, and a whole log loses nothing.
  const third = await head.serve();
  assert.equal(await submit(third.call), 14);
  assert.equal((await third.call<InfoReply>('GET', '/v1/info')).losses.length, 1);
});

test('a head whose database is gone beside its other state does not begin an empty cluster', async (t) => {
  const head = new HeadDirectory(t);
  const { call } = await head.serve(['--listen', '127.0.0.1:0']);
  await call('POST', '/v1/nodes', NODE);
  assert.equal(await submit(call), 1);
  await head.end('SIGTERM');
  rmSync(head.file('weft.db'));
  const refused = await head.start(['--listen', '127.0.0.1:0']);
  assert.equal(refused.code, 65);
  assert.match(refused.error, /weft\.db is missing, and weft\.mark beside it says/);
  rmSync(head.file('weft.mark'));
  assert.match((await head.start(['--listen', 'none'])).error, /tls\/key\.pem beside it says/);
  mkdirSync(head.file('archive/jobs/5000000'), { recursive: true });
  const again = await head.serve(['--listen', 'none', '--accept-loss']);
  await again.call('POST', '/v1/nodes', NODE);
  assert.ok((await submit(again.call)) > 5_000_000, 'ids that may have been given are skipped');
});

test('key and certificate that are both gone beside a known cluster are missed', async (t) => {
  const head = new HeadDirectory(t);
  await head.serve(['--listen', '127.0.0.1:0']);
  await head.end('SIGTERM');
  rmSync(head.file('tls'), { recursive: true });
  const { code, error } = await head.start(['--listen', '127.0.0.1:0']);
  assert.equal(code, 65);
  assert.match(error, /certificate\.pem and .*key\.pem are missing\. .* fingerprint [0-9a-f]{64}/);
  assert.match(error, /--new-identity/);
});
