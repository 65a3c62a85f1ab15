// A reservation on real nodes: who waits for its end, who fits in before it, who runs inside.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from './support/hosts.ts';
import { LocalCluster } from './support/local-cluster.ts';

interface Shown {
  readonly slots: readonly { readonly from: number; readonly until: number }[];
}

describe('reservations on a local cluster', () => {
  let cluster: LocalCluster;
  before(async () => {
    cluster = await LocalCluster.start('--nodes', '2', '--listen', 'none');
  });
  after(() => cluster.close());

  const done = (id: string) =>
    until(`job ${id} is done`, async () => {
      const job = await cluster.job(id);
      return job.state === 'done' ? job : undefined;
    });

  const why = async (id: string): Promise<string> =>
    (await cluster.client.call<{ words: string }>('GET', `/v1/jobs/${id}/why`)).words;

  it('[R1, R2] a long job waits for its end, a short one runs before, a member inside', async () => {
    const form = ['-t', '10s', '-n', '2', '--name', 'lab', '-o', 'json'];
    const made = await cluster.ok('reserve', 'create', '--at', '+25s', ...form);
    const [slot] = (JSON.parse(made) as Shown).slots;
    assert.ok(slot);
    // All at once, and asked without programs: it must be through before the slot comes.
    const [long, short, member] = await Promise.all([
      cluster.ok('run', '-t', '1h', '--', 'true'),
      cluster.ok('run', '-t', '2s', '--', 'true'),
      cluster.ok('run', '--reservation', 'lab', '-t', '5s', '--', 'true'),
    ]);
    assert.match(await why(long), /could run into reservation lab on n\d, which starts in /);
    assert.match(await why(member), /reservation lab starts in /);
    assert.ok(((await done(short)).startedAt ?? Infinity) < slot.from);
    const inside = await done(member);
    assert.ok((inside.startedAt ?? 0) >= slot.from && (inside.startedAt ?? 0) < slot.until);
    assert.ok(((await done(long)).startedAt ?? 0) >= slot.until);
    assert.equal(await cluster.ok('reserve', 'list'), 'No reservations.');
  });

  it('[R6] cancelled while it lasts, its nodes are free at once and its member runs on', async () => {
    await cluster.ok('reserve', 'create', '-t', '1h', '-n', '2', '--name', 'now');
    const gate = 'until [ -e gate ]; do sleep 0.05; done';
    const member = await cluster.ok('run', '--reservation', 'now', '-t', '10m', '--', gate);
    const waiting = await cluster.ok('run', '-t', '10m', '--', 'touch gate');
    await until('the member runs', async () =>
      (await cluster.job(member)).state === 'running' ? true : undefined,
    );
    assert.equal((await cluster.job(waiting)).state, 'pending');
    await cluster.ok('reserve', 'cancel', 'now');
    assert.equal((await done(waiting)).outcome?.kind, 'completed');
    assert.equal((await done(member)).outcome?.kind, 'completed');
  });
});
