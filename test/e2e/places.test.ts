// Places that pass from task to task of an array, on real nodes: with a head and an agent killed in
// the middle.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from './support/hosts.ts';
import { LocalCluster } from './support/local-cluster.ts';

describe('places of an array', () => {
  const cluster = new LocalCluster();
  before(() => cluster.up('--nodes', '2'));
  after(() => cluster.close());

  /** How many tasks have begun in the place of another, as events tell; `stop` ends the count. */
  async function countPlaced(): Promise<{ readonly placed: () => number; stop: () => void }> {
    const socketPath = join(cluster.state, 'weft.sock');
    const token = await cluster.ok('token', 'create', '--expires', '1h');
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${token}` };
    const asked = request({ socketPath, path: '/v1/events', headers }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    assert.equal(answer.statusCode, 200);
    let said = '';
    answer.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const placed = (): number => said.split('"kind":"part_placed"').length - 1;
    return { placed, stop: () => asked.destroy() };
  }

  it('[A35] short tasks of a shared directory follow each other, each once', async () => {
    const count = await countPlaced();
    const log = join(cluster.work, 'log');
    writeFileSync(log, '');
    const id = await cluster.ok(
      'run',
      '--array',
      '0-299',
      '--',
      `echo $WEFT_ARRAY_INDEX >> ${log}`,
    );
    assert.equal((await cluster.weft('wait', id)).code, 0);
    await until(
      'most tasks began in the place of another',
      () => count.placed() > 150 || undefined,
    );
    count.stop();
    const lines = readFileSync(log, 'utf8').trim().split('\n').map(Number);
    assert.deepEqual(
      lines.sort((a, b) => a - b),
      Array.from({ length: 300 }, (_, index) => index),
    );
  });

  it('[A35] why says that a task is next, and where', async () => {
    const log = join(cluster.work, 'some');
    writeFileSync(log, '');
    const line = `echo $WEFT_ARRAY_INDEX >> ${log}; sleep 0.1`;
    const id = await cluster.ok('run', '--array', '0-299', '--', line);
    const words = /^It is pending: next on n[12], when a task of its job ends there\.$/m;
    // Asked without a program in between: by the time that one has started, it has begun.
    const says = async (index: number): Promise<boolean> => {
      const path = `/v1/jobs/${encodeURIComponent(`${id}[${index}]`)}/why`;
      const answer = await cluster.client.call<{ words: string }>('GET', path);
      return words.test(answer.words);
    };
    await until('one of those to come says so', async () => {
      const begun = readFileSync(log, 'utf8').split('\n').length - 1;
      for (let index = begun; index < Math.min(begun + 40, 300); index += 1) {
        if (await says(index)) return true;
      }
      return undefined;
    });
    await cluster.ok('cancel', id);
    assert.notEqual((await cluster.weft('wait', id)).code, 0);
  });

  it('[A35, S6] a head and the agents killed in the middle: all complete, none is left out', async () => {
    const log = join(cluster.work, 'more');
    writeFileSync(log, '');
    const line = `echo $WEFT_ARRAY_INDEX >> ${log}; sleep 0.02`;
    const id = await cluster.ok('run', '--array', '0-399', '--on-node-loss', 'wait', '--', line);
    const begun = (): number => readFileSync(log, 'utf8').split('\n').length - 1;
    await until('some have begun', () => begun() > 60 || undefined);
    await cluster.kill('head');
    await until('more have begun', () => begun() > 140 || undefined);
    await cluster.kill('n1');
    assert.equal((await cluster.weft('wait', id)).code, 0);
    const indices = readFileSync(log, 'utf8').trim().split('\n').map(Number);
    assert.deepEqual(indices.length, 400, 'each began once, as launchers have lived on');
    assert.equal(new Set(indices).size, 400);
  });
});
