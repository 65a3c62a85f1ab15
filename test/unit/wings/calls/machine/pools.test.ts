// Pools: array jobs of workers that come and go by what the pool asks for.

import assert from 'node:assert/strict';
import { lookAhead, pendingOf } from '../../../../../src/kernel/machine/answers/explain.ts';
import { outstanding } from '../../../../../src/kernel/machine/outstanding.ts';
import type { Reply } from '../../../../../src/kernel/machine/reply.ts';
import type { Actor } from '../../../../../src/kernel/model/actor.ts';
import type { JobId, UserName } from '../../../../../src/kernel/model/ids.ts';
import type { PoolSpec } from '../../../../../src/kernel/model/job.ts';
import { POOL_SETTLED_MS, POOLS_PER_USER_MAX } from '../../../../../src/kernel/model/limits.ts';
import { findPool } from '../../../../../src/wings/calls/machine/live.ts';
import type { PoolCommand } from '../../../../../src/wings/calls/machine/pool.ts';
import type { WorkerRequest } from '../../../../../src/wings/calls/model/pool.ts';
import {
  ANN,
  BOB,
  kinds,
  OPERATOR,
  place,
  scenario,
  type TestHead,
} from '../../../../support/controller.ts';
import { why } from '../../../../support/why.ts';

const SYSTEM: Actor = { kind: 'system' };

interface Wish extends Partial<PoolSpec> {
  readonly worker?: WorkerRequest;
  readonly key?: string;
}

function start({ worker = {}, key, ...pool }: Wish = {}): PoolCommand {
  return {
    kind: 'start_pool',
    worker,
    key: key ?? null,
    secret: 'its secret',
    pool: { name: null, min: 0, max: 4, idleMs: 60_000, ...pool },
  };
}

function started(head: TestHead, wish: Wish = {}, by: Actor = ANN): JobId {
  const reply = head.command(start(wish), by);
  assert.equal(reply.kind, 'submitted');
  return (reply as Extract<Reply, { kind: 'submitted' }>).jobId;
}

function ask(head: TestHead, jobId: JobId, target: number): number {
  const reply = head.command({ kind: 'scale_pool', jobId, target }, SYSTEM);
  return (reply as Extract<Reply, { kind: 'changed' }>).count;
}

scenario(
  '[K1] a pool begins with its least workers and has a task for each of its most',
  (head) => {
    head.connect('n1');
    const id = started(head, { min: 2, max: 3, name: 'sums' });
    const { spec, taskCount } = head.job(id);
    assert.deepEqual(
      [spec.name, spec.array, taskCount],
      ['sums', { indices: '0-2', runningMax: 2 }, 3],
    );
    assert.deepEqual(head.schedule(), ['1[0]#1@n1', '1[1]#1@n1']);
    head.crash();
    assert.deepEqual(head.job(id).spec.pool, { name: 'sums', min: 2, max: 3, idleMs: 60_000 });
    assert.deepEqual(head.schedule(), []);
  },
);

scenario('[K1] a pool of none waits, says for what, and goes on after a restart', (head) => {
  head.connect('n1');
  const id = started(head);
  assert.deepEqual(head.schedule(), []);
  assert.equal(why(head, id), 'quota: its pool asks for 0 workers at present; 0 are running');
  const pending = pendingOf(head.job(id), 0);
  assert.equal(lookAhead(head.state, head.settings, pending, head.at).prospect, null);
  head.crash();
  head.connect('n1');
  assert.equal(ask(head, id, 1), 1);
  assert.deepEqual(head.schedule(), ['1[0]#1@n1']);
  assert.equal(why(head, id, 1), 'quota: its pool asks for 1 worker at present; 1 is running');
});

scenario('[K2] a worker that ends starts again, whichever way it ended', (head) => {
  head.connect('n1');
  const id = started(head, { min: 1, max: 1 });
  head.schedule();
  const ends = [{}, { code: 3 }, { signal: 9 }, { cause: 'out_of_memory', code: 137 }] as const;
  for (const [at, end] of ends.entries()) {
    head.started(`${id}[0]#${at + 1}`);
    head.tick(POOL_SETTLED_MS);
    assert.equal(kinds(head.ended(`${id}[0]#${at + 1}`, end)).at(-1), 'task_requeued');
    assert.deepEqual(head.schedule(), [`${id}[0]#${at + 2}@n1`]);
  }
  assert.equal(head.task(`${id}[0]`).failures, 0);
});

scenario('[K2] what its node lost, or somebody requeues, starts again', (head) => {
  head.connect('n1');
  const id = started(head, { min: 1, max: 1, worker: { directory: { kind: 'private' } } });
  head.schedule();
  head.started(`${id}[0]#1`);
  head.command({ kind: 'requeue_task', place: place(`${id}[0]`) }, ANN);
  head.ended(`${id}[0]#1`, { code: 0 });
  assert.deepEqual(head.schedule(), [`${id}[0]#2@n1`]);
  head.started(`${id}[0]#2`);
  head.disconnect('n1');
  head.silence('n1', 60_000);
  head.connect('n2');
  assert.deepEqual(head.schedule(), [`${id}[0]#3@n2`]);
});

scenario(
  '[K2] cancelled or at its time limit a worker is done, and so is a stopped pool',
  (head) => {
    head.connect('n1');
    const id = started(head, { min: 3, max: 3 });
    head.schedule();
    for (const index of [0, 1, 2]) head.started(`${id}[${index}]#1`);
    head.command({ kind: 'cancel_task', place: place(`${id}[0]`) }, ANN);
    assert.equal(kinds(head.ended(`${id}[0]#1`)).at(-1), 'task_done');
    assert.equal(kinds(head.ended(`${id}[1]#1`, { cause: 'timeout' })).at(-1), 'task_done');
    assert.equal(head.outcome(id), null);
    head.command({ kind: 'cancel_task', place: place(`${id}`) }, ANN);
    head.ended(`${id}[2]#1`, { cause: 'ended', signal: 15 });
    assert.equal(head.outcome(id), 'timeout');
    assert.equal(head.state.indexes.pools.size, 0);
  },
);

scenario('[K12] a pool that is closed has completed, its workers and those that waited', (head) => {
  head.connect('n1', { cpus: 1 });
  const id = started(head, { min: 2, max: 2 });
  head.schedule();
  head.started(`${id}[0]#1`);
  head.command({ kind: 'cancel_task', place: place(`${id}`), closes: true }, ANN);
  head.ended(`${id}[0]#1`, { cause: 'ended', signal: 15 });
  assert.deepEqual(head.job(id).outcome, { kind: 'completed', detail: 'closed by ann' });
  assert.equal(head.job(id).losses, 0);
});

scenario('[K3] a worker that ends badly soon after each start is held', (head) => {
  head.connect('n1');
  const id = started(head, { min: 1, max: 1 });
  for (let epoch = 1; epoch <= 3; epoch += 1) {
    assert.equal(head.schedule().length, 1);
    head.started(`${id}[0]#${epoch}`);
    head.ended(`${id}[0]#${epoch}`, { code: 1 });
  }
  assert.match(why(head, id), /^held: held after 3 starts/);
  assert.deepEqual(head.schedule(), []);
  head.command({ kind: 'release_job', jobId: id }, ANN);
  assert.equal(head.schedule().length, 1);
});

scenario('[K3] a start that has worked counts anew', (head) => {
  head.connect('n1');
  const id = started(head, { min: 1, max: 1 });
  for (let epoch = 1; epoch <= 8; epoch += 1) {
    assert.equal(head.schedule().length, 1);
    head.started(`${id}[0]#${epoch}`);
    if (epoch % 3 === 0) head.tick(POOL_SETTLED_MS);
    head.ended(`${id}[0]#${epoch}`, { code: 1 });
  }
  assert.equal(head.task(`${id}[0]`).crashes, 2);
});

scenario('[K4] a pool asks for no fewer than its least and no more than its most', (head) => {
  head.connect('n1');
  const id = started(head, { min: 1, max: 2 });
  assert.equal(ask(head, id, 7), 1);
  assert.equal(head.job(id).entry.runningMax, 2);
  assert.equal(ask(head, id, 9), 0);
  assert.equal(ask(head, id, 0), 1);
  assert.equal(head.job(id).entry.runningMax, 1);
  head.command({ kind: 'scale_pool', jobId: id, min: 3, max: 6, idleMs: 5 }, ANN);
  assert.deepEqual(head.job(id).spec.pool, { name: null, min: 3, max: 6, idleMs: 5 });
  assert.deepEqual(
    head.schedule(),
    [0, 1, 2].map((index) => `${id}[${index}]#1@n1`),
  );
  assert.equal(head.job(id).taskCount, 6);
  head.crash();
  head.connect('n1', { held: head.heldBy('n1') });
  assert.equal(ask(head, id, 6), 1);
  assert.deepEqual(head.schedule(), [`${id}[3]#1@n1`], 'as many as there is room for');
});

scenario('[K4] a pool that is stopped gets no more workers while its last ones end', (head) => {
  head.connect('n1');
  const id = started(head, { min: 1, max: 1 });
  assert.deepEqual(head.schedule(), [`${id}[0]#1@n1`]);
  head.command({ kind: 'scale_pool', jobId: id, max: 2 }, ANN);
  head.command({ kind: 'cancel_task', place: place(`${id}`) }, ANN);
  assert.equal(head.job(id).outcome, null, 'its worker still ends');
  const scale = { kind: 'scale_pool', jobId: id, min: 3, max: 3 } as const;
  assert.equal(head.refused(scale, ANN), 'job.already_done');
  assert.deepEqual(head.schedule(), []);
});

scenario('[K4] bounds that are none are refused, and whose pool it is not', (head) => {
  head.connect('n1');
  const id = started(head, { min: 1, max: 2 });
  const scale = { kind: 'scale_pool', jobId: id } as const;
  assert.equal(head.refused({ ...scale, min: 3 }, ANN), 'argument.invalid');
  assert.equal(head.refused({ ...scale, max: 0 }, ANN), 'argument.invalid');
  assert.equal(head.refused({ ...scale, idleMs: -1 }, ANN), 'argument.invalid');
  assert.equal(head.refused({ ...scale, max: 5 }, BOB), 'auth.not_owner');
  head.command({ ...scale, max: 5 }, OPERATOR);
  const job = head.submit();
  assert.equal(head.refused({ ...scale, jobId: job, max: 5 }, ANN), 'pool.not_found');
  head.command({ kind: 'cancel_task', place: place(`${id}`) }, ANN);
  assert.equal(head.refused({ ...scale, max: 6 }, ANN), 'job.already_done');
  assert.equal(head.refused(start({ max: 0 }), ANN), 'argument.invalid');
  assert.equal(head.refused(start({ min: 5, max: 4 }), ANN), 'argument.invalid');
  assert.equal(head.refused(start({ name: '12' }), ANN), 'argument.invalid');
});

scenario('[K5] a smaller number ends no worker, and who leaves then starts no more', (head) => {
  head.connect('n1');
  const id = started(head, { max: 3 });
  ask(head, id, 3);
  head.schedule();
  for (const index of [0, 1, 2]) head.started(`${id}[${index}]#1`);
  ask(head, id, 1);
  assert.deepEqual(head.orders('n1'), []);
  assert.equal(head.job(id).entry.running, 3);
  head.ended(`${id}[1]#1`);
  assert.deepEqual(head.schedule(), []);
  head.ended(`${id}[0]#1`);
  assert.deepEqual(head.schedule(), []);
  ask(head, id, 2);
  assert.deepEqual(head.schedule(), [`${id}[0]#2@n1`]);
});

scenario('[K6] a name is taken as long as its pool lives, by one owner', (head) => {
  head.connect('n1');
  const id = started(head, { name: 'sums' });
  assert.equal(head.refused(start({ name: 'sums' }), ANN), 'pool.name_taken');
  const other = started(head, { name: 'sums' }, BOB);
  const found = (text: string, owner: string) => {
    const pool = findPool(head.state, text, owner as UserName);
    return pool.ok ? pool.value.id : pool.error.code;
  };
  assert.deepEqual([found('sums', 'ann'), found('sums', 'bob')], [id, other]);
  assert.deepEqual([found(`${id}`, 'bob'), found('sums', 'cy')], [id, 'pool.not_found']);
  head.command({ kind: 'cancel_task', place: place(`${id}`) }, ANN);
  assert.equal(found('sums', 'ann'), 'pool.not_found');
  head.crash();
  started(head, { name: 'sums' });
});

scenario('[K6] a pool that is being stopped has given its name away', (head) => {
  head.connect('n1');
  const id = started(head, { name: 'sums', min: 1 });
  head.schedule();
  head.started(`${id}[0]#1`);
  const found = () => {
    const pool = findPool(head.state, 'sums', 'ann' as UserName);
    return pool.ok ? pool.value.id : pool.error.code;
  };
  head.command({ kind: 'cancel_task', place: place(`${id}`) }, ANN);
  assert.equal(head.job(id).outcome, null, 'its worker still ends');
  assert.equal(found(), id);
  const next = started(head, { name: 'sums' });
  assert.equal(found(), next);
  head.crash();
  assert.equal(found(), next);
  head.ended(`${id}[0]#1`);
  assert.equal(found(), next);
});

scenario('[K13] a pool that was for one program ends when that is gone, and no other', (head) => {
  head.connect('n1');
  const id = started(head, { min: 1, isTemporary: true });
  const other = started(head, { min: 1 });
  head.schedule();
  for (const one of [id, other]) head.started(`${one}[0]#1`);
  const abandon = (jobId: JobId, by: Actor = SYSTEM) =>
    (head.command({ kind: 'abandon_pool', jobId }, by) as { count: number }).count;
  assert.equal(head.refused({ kind: 'abandon_pool', jobId: id }, ANN), 'auth.role_needed');
  assert.deepEqual([abandon(id), abandon(id), abandon(other)], [4, 0, 0]);
  head.ended(`${id}[0]#1`);
  assert.deepEqual(head.job(id).outcome, { kind: 'cancelled', detail: 'its program is gone' });
  assert.equal(head.job(other).outcome, null);
  assert.equal(abandon(id), 0);
});

scenario('[K6] one owner has only so many pools at once', (head) => {
  head.connect('n1');
  for (let count = 0; count < POOLS_PER_USER_MAX; count += 1) started(head);
  assert.equal(head.refused(start(), ANN), 'pool.too_many');
  started(head, {}, BOB);
  head.command({ kind: 'cancel_task', place: place('1') }, ANN);
  started(head);
});

scenario('[K6] the same owner and key give the same pool', (head) => {
  head.connect('n1');
  const id = started(head, { key: 'k', name: 'sums' });
  const again = head.command(start({ key: 'k', name: 'sums' }), ANN);
  assert.deepEqual(again, { kind: 'submitted', jobId: id, again: true });
  head.submit({}, { key: 'other' });
  assert.equal(head.refused(start({ key: 'other' }), ANN), 'key.taken');
});

scenario('[K7] a pool is not retried, nor changed as an array is', (head) => {
  head.connect('n1');
  const id = started(head);
  const change = (wish: object) => ({ kind: 'change_job', jobId: id, change: wish }) as const;
  for (const wish of [{ runningMax: 2 }, { name: 'other' }, { nodeCount: 1 }]) {
    assert.equal(head.refused(change(wish), ANN), 'job.is_pool');
  }
  head.command(change({ nice: 5, walltimeMs: 60_000, cpuCount: 2 }), ANN);
  assert.deepEqual(head.job(id).spec.pool, { name: null, min: 0, max: 4, idleMs: 60_000 });
  assert.deepEqual(head.job(id).spec.array, { indices: '0-3', runningMax: 0 });
  head.command({ kind: 'cancel_task', place: place(`${id}`) }, ANN);
  const retry = {
    kind: 'retry_job',
    jobId: id,
    key: null,
    retired: {},
    dependencies: null,
  } as const;
  assert.equal(head.refused(retry, ANN), 'job.is_pool');
});

scenario('[K9] workers that are lost are counted, those that leave are not', (head) => {
  head.connect('n1');
  const id = started(head, { min: 3, max: 3 });
  head.schedule();
  head.ended(`${id}[0]#1`, { signal: 9 });
  head.ended(`${id}[1]#1`);
  head.schedule();
  head.started(`${id}[1]#2`);
  head.command({ kind: 'cancel_task', place: place(`${id}[2]`) }, ANN);
  head.ended(`${id}[2]#1`, { cause: 'ended', signal: 15 });
  head.command({ kind: 'requeue_task', place: place(`${id}[1]`) }, ANN);
  head.ended(`${id}[1]#2`, { code: 0 });
  assert.equal(head.job(id).losses, 3, 'it was to end, whatever it did');
  head.crash();
  assert.equal(head.job(id).losses, 3);
});

scenario('only agents that know pools are given workers', (head) => {
  head.connect('old', { features: ['mpi', 'stdin', 'warnings'] });
  assert.equal(head.refused(start({ min: 1 }), ANN), 'resources.unsatisfiable');
  head.connect('new', { features: ['pools'] });
  const id = started(head, { min: 1, max: 1 });
  assert.deepEqual(head.schedule(), [`${id}[0]#1@new`]);
});

scenario('a worker gets no array, and nothing of its directory is kept', (head) => {
  head.connect('n1');
  started(head, { min: 1, max: 1 });
  head.schedule();
  const [order] = outstanding(head.state, head.node('n1'), head.settings);
  assert.equal(order?.kind, 'launch');
  if (order?.kind !== 'launch') return;
  assert.deepEqual([order.array, order.staging], [null, null]);
});

scenario('[K8] a worker is told when to replace its process, if its pool says so', (head) => {
  head.connect('n1');
  const recycle = { calls: 100, bytes: 0 };
  const [own, plain] = [started(head, { min: 1, recycle }), started(head, { min: 1 })];
  head.schedule();
  const told = (id: JobId) => {
    const wanted = outstanding(head.state, head.node('n1'), head.settings);
    const order = wanted.find((one) => one.kind === 'launch' && one.place.jobId === id);
    return order?.kind === 'launch' ? order.pool : null;
  };
  assert.deepEqual(told(own), { key: 'its secret', recycle });
  assert.deepEqual(told(plain), { key: 'its secret' });
});

const IMAGE = { kind: 'docker', name: 'lab/node:24' } as const;

scenario('[K14] workers with an image go where its engine is, and are told of it', (head) => {
  head.connect('bare');
  assert.equal(head.refused(start({ min: 1, image: IMAGE }), ANN), 'label.unknown');
  head.connect('old', { labels: ['docker'], features: ['pools'] });
  assert.equal(head.refused(start({ min: 1, image: IMAGE }), ANN), 'resources.unsatisfiable');
  head.connect('new', { labels: ['docker'], features: ['pools', 'pool_images'] });
  const id = started(head, { min: 1, max: 1, image: IMAGE });
  assert.deepEqual(head.schedule(), [`${id}[0]#1@new`]);
  head.crash();
  const [order] = outstanding(head.state, head.node('new'), head.settings);
  assert.equal(order?.kind, 'launch');
  if (order?.kind !== 'launch') return;
  assert.deepEqual(order.pool, { key: 'its secret', image: IMAGE });
});

scenario('[K15] workers for Python go to agents that know them, and are told of it', (head) => {
  head.connect('old', { features: ['pools'] });
  const python = '/opt/venv/bin/python';
  assert.equal(head.refused(start({ min: 1, python }), ANN), 'resources.unsatisfiable');
  head.connect('new', { features: ['pools', 'pool_python'] });
  const id = started(head, { min: 1, max: 1, python });
  assert.deepEqual(head.schedule(), [`${id}[0]#1@new`]);
  head.crash();
  const [order] = outstanding(head.state, head.node('new'), head.settings);
  assert.equal(order?.kind, 'launch');
  if (order?.kind !== 'launch') return;
  assert.deepEqual(order.pool, { key: 'its secret', python });
});

scenario('[K15] what is no interpreter is refused', (head) => {
  head.connect('n1');
  for (const python of ['', '-c', 'two words', './python', '/opt/', '/a\0b']) {
    assert.equal(head.refused(start({ min: 1, python }), ANN), 'argument.invalid', python);
  }
});

scenario('[K14] what is no name of an image is refused', (head) => {
  head.connect('n1', { labels: ['podman'] });
  for (const name of ['', '--privileged', 'two words']) {
    const image = { kind: 'podman', name } as const;
    assert.equal(head.refused(start({ min: 1, image }), ANN), 'argument.invalid', name);
  }
});

scenario(
  '[K14] a directory that no engine can mount is refused, unless there is no image',
  (head) => {
    head.connect('n1', { labels: ['podman'], shared: ['/data'] });
    const worker = { directory: { kind: 'shared', path: '/data/a:b' } } as const;
    const image = { kind: 'podman', name: 'lab/node:24' } as const;
    assert.equal(head.refused(start({ min: 1, image, worker }), ANN), 'argument.invalid');
    started(head, { min: 1, worker });
  },
);
