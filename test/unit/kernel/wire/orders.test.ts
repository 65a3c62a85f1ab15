// Orders of one session: what they share goes over the wire once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Program } from '../../../../src/kernel/model/job.ts';
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
    program: fc.constantFrom<Program>(
      shell('true'),
      shell('false'),
      { kind: 'script', text: '#!/bin/sh', args: [] },
      { kind: 'script', text: '#!/bin/sh', args: ['a', 'b'] },
      { kind: 'script', text: '#!/bin/bash', args: ['a'] },
    ),
    environment: fc.constantFrom(environment, {}, { HOME: '/' }),
    files: fc.constantFrom({}, { stdout: 'a' }, { stdout: 'a', stderr: 'b' }),
    walltimeMs: fc.constantFrom(null, 5),
    nodeRank: fc.nat(2),
    array: fc.constantFrom(null, { first: 0, last: 9, count: 10 }),
    // A field that one order has and the next has not.
    more: fc.constantFrom({}, { mpi: { ranksPerNode: 2, key: 'k' } }),
  })
  .map(({ jobId, program, more, ...own }): Order => launch(jobId, program, { ...own, ...more }));

/** Each list as one message of the same session. */
function session(
  messages: readonly (readonly Order[])[],
  sharesScripts = true,
): (readonly Order[])[] {
  const writer = new OrderWriter({ sharesScripts });
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
  fc.assert(
    fc.property(any, fc.boolean(), (messages, sharesScripts) =>
      assert.deepEqual(session(messages, sharesScripts), messages),
    ),
  );
});

test('more environments than are kept take the places of the oldest', () => {
  const orders = Array.from({ length: 50 }, (_, at) =>
    launch(at + 1, shell('true'), { environment: { AT: `${at % 20}` } }),
  );
  const messages = [orders, orders.toReversed(), orders];
  assert.deepEqual(session(messages), messages);
});

test('tasks of an array say and share their environment once, over several messages', () => {
  const writer = new OrderWriter({ sharesScripts: true });
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

const script = (job: number, args: readonly string[]): LaunchOrder =>
  launch(job, { kind: 'script', text: `#!/bin/sh\n${'#'.repeat(4000)}`, args }, { environment });

test('jobs of a batch say their script once, and only to an agent that knows of that', () => {
  const bytesOf = (sharesScripts: boolean): number[] => {
    const writer = new OrderWriter({ sharesScripts });
    return [1, 2, 3].map((job) => {
      const order = script(job, [`job-${job}`]);
      return encodeOrders([writer.write(order)], null).length;
    });
  };
  const [first = 0, ...others] = bytesOf(true);
  assert.ok(first > 4000);
  for (const bytes of others) assert.ok(bytes < 200, `${bytes} bytes`);
  for (const bytes of bytesOf(false)) assert.ok(bytes > 4000, `${bytes} bytes`);
  const orders = [script(1, ['a']), script(2, ['b', 'c']), script(3, []), script(4, ['a'])];
  assert.deepEqual(session([orders]), [orders]);
});

test('arguments for an order that is no script are a refusal', () => {
  const keep = { ...launch(1, shell('true')), keep: 0 };
  const args = { kind: 'launch', like: 0, epochId: idOf(2), args: ['a'] };
  const message = decodeHeadMessage(encode({ kind: 'orders', orders: [keep, args] }));
  assert.ok(!message.ok && /slot 0 has no script/.test(message.error));
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
