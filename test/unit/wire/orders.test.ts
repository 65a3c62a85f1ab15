// Orders of one message: what they share goes over the wire once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LaunchOrder, Order } from '../../../src/core/model/orders.ts';
import { decodeHeadMessage, encode, encodeOrders } from '../../../src/wire/codec.ts';
import { idOf, launch, shell } from '../agent/orders.ts';

const environment = { HOME: '/home/alice', LANG: 'C.UTF-8', EMPTY: '' };

function read(bytes: Uint8Array): readonly Order[] {
  const message = decodeHeadMessage(bytes);
  assert.ok(message.ok && message.value.kind === 'orders');
  return message.value.orders as readonly Order[];
}

const end = (jobId: number): Order => ({ kind: 'end', epochId: idOf(jobId), graceMs: 1, why: 'x' });

const anyLaunch = fc
  .record({
    jobId: fc.nat(),
    line: fc.constantFrom('true', 'false'),
    environment: fc.constantFrom(environment, {}, { HOME: '/' }),
    files: fc.constantFrom({}, { stdout: 'a' }, { stdout: 'a', stderr: 'b' }),
    walltimeMs: fc.constantFrom(null, 5),
    nodeRank: fc.nat(2),
    array: fc.constantFrom(null, { first: 0, last: 9, count: 10 }),
  })
  .map(({ jobId, line, ...other }): Order => launch(jobId, shell(line), other));

test('short orders are read as what they were, in their order', () => {
  const any = fc.array(fc.oneof(anyLaunch, fc.nat().map(end)));
  fc.assert(
    fc.property(any, fc.boolean(), (orders, short) => {
      assert.deepEqual(read(encodeOrders(orders, short)), orders);
    }),
  );
});

test('tasks of an array say and share their environment once', () => {
  const tasks = [1, 2, 3].map((job) => launch(job, shell('true'), { environment }));
  const bytes = encodeOrders(tasks, true);
  assert.equal(Buffer.from(bytes).toString('latin1').split('/home/alice').length, 2);
  const [first, ...others] = read(bytes) as readonly LaunchOrder[];
  for (const other of others) assert.equal(other.environment, first?.environment);
});

test('an agent that does not read short orders gets whole ones', () => {
  const orders = [launch(1, shell('true')), launch(2, shell('true'))];
  assert.deepEqual(encodeOrders(orders, false), encode({ kind: 'orders', orders }));
});

test('an order like one that did not come is a refusal', () => {
  const short = { kind: 'launch', likeBefore: true, epochId: idOf(1) };
  const message = decodeHeadMessage(encode({ kind: 'orders', orders: [end(1), short] }));
  assert.ok(!message.ok);
  assert.match(message.error, /none before it/);
});
