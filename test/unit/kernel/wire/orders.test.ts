// Orders of one session: what they share goes over the wire once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LaunchOrder, Order } from '../../../../src/kernel/model/orders.ts';
import { decodeHeadMessage, encode, encodeOrders } from '../../../../src/kernel/wire/codec.ts';
import { OrderReader, OrderWriter, type SentOrder } from '../../../../src/kernel/wire/orders.ts';
import { idOf, launch, shell } from '../agent/orders.ts';

const environment = { HOME: '/home/alice', LANG: 'C.UTF-8', EMPTY: '' };

function read(bytes: Uint8Array, kept: OrderReader): readonly Order[] {
  const message = decodeHeadMessage(bytes, kept);
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
    // A field that one order has and the next has not.
    more: fc.constantFrom({}, { mpi: { ranksPerNode: 2, key: 'k' } }),
  })
  .map(({ jobId, line, more, ...own }): Order => launch(jobId, shell(line), { ...own, ...more }));

/** Each list as one message of the same session. */
function session(messages: readonly (readonly Order[])[]): (readonly Order[])[] {
  const writer = new OrderWriter();
  const reader = new OrderReader();
  return messages.map((orders) =>
    read(
      encodeOrders(
        orders.map((order) => writer.write(order)),
        null,
      ),
      reader,
    ),
  );
}

test('kept and short orders are read as what they were, in their order', () => {
  const any = fc.array(fc.array(fc.oneof(anyLaunch, fc.nat().map(end))));
  fc.assert(fc.property(any, (messages) => assert.deepEqual(session(messages), messages)));
});

test('more environments than are kept take the places of the oldest', () => {
  const orders = Array.from({ length: 50 }, (_, at) =>
    launch(at + 1, shell('true'), { environment: { AT: `${at % 20}` } }),
  );
  const messages = [orders, orders.toReversed(), orders];
  assert.deepEqual(session(messages), messages);
});

test('tasks of an array say and share their environment once, over several messages', () => {
  const writer = new OrderWriter();
  const reader = new OrderReader();
  const messages = [1, 2, 3].map((job) => {
    const order = launch(job, shell('true'), { environment });
    return encodeOrders([writer.write(order)], null);
  });
  const saying = messages.filter((bytes) => Buffer.from(bytes).includes('/home/alice'));
  assert.equal(saying.length, 1);
  const orders = messages.flatMap((bytes) => read(bytes, reader)) as readonly LaunchOrder[];
  for (const order of orders) assert.equal(order.environment, orders[0]?.environment);
});

test('whole orders are read without a word about what is kept', () => {
  const orders = [launch(1, shell('true')), launch(2, shell('true'))];
  assert.deepEqual(read(encode({ kind: 'orders', orders }), new OrderReader()), orders);
});

test('an order like one that was not kept, or for no slot, is a refusal', () => {
  const refusal = (order: object): string => {
    const message = decodeHeadMessage(encode({ kind: 'orders', orders: [end(1), order] }));
    assert.ok(!message.ok);
    return message.error;
  };
  const short: SentOrder = { kind: 'launch', like: 3, epochId: idOf(1) };
  assert.match(refusal(short), /no order is kept in slot 3/);
  for (const keep of [-1, 16, 0.5, 'x', 1e9]) {
    assert.match(refusal({ ...launch(1, shell('true')), keep }), /cannot be kept/);
  }
});

test('what an order lacks does not come from the one that is kept', () => {
  const orders = [
    launch(1, shell('true'), { environment, mpi: { ranksPerNode: 2, key: 'secret' } }),
    launch(2, shell('true'), { environment }),
  ];
  assert.deepEqual(session([orders]), [orders]);
});
