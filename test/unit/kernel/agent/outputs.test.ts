// Shipping of output: in pieces, within a window, bounded, and again after a break.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { FakeWorld } from './fake-world.ts';
import { launch, shell } from './orders.ts';

const OUT = '/state/spool/1000/s1.0.out';
const KEY = '1#1/0/stdout';
let world = new FakeWorld();

async function begin(logBytesMax = 10_000_000): Promise<void> {
  world = new FakeWorld({ logBytesMax });
  await world.start();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
}

/** The file is emptied for the next task, or gone. */
function isKept(): boolean {
  return (world.files.files.get(OUT)?.length ?? 0) > 0;
}

function pieces(): { offset: number; length: number }[] {
  return world.head.received.flatMap((message) =>
    message.kind === 'log' && message.name.stream === 'stdout'
      ? [{ offset: message.offset, length: message.bytes.length }]
      : [],
  );
}

/** What the head says of the file, whether or not it is so. */
async function acknowledge(
  offset: number,
  end: boolean,
  stream: 'stdout' | 'stderr' = 'stdout',
): Promise<void> {
  const { epochId } = launch(1, shell('x'));
  const name = { epochId, nodeRank: 0, rank: 0, stream } as const;
  world.head.tell({ kind: 'log_ack', name, offset, end });
  await world.clock.settle();
}

/** Stdout is sent and acknowledged but for its end piece; stderr is complete. */
async function sendEnd(): Promise<void> {
  await begin();
  world.files.files.set(OUT, Buffer.from('one'));
  await world.clock.advance(500);
  world.head.acknowledges = false;
  world.launcher.exit(1, { code: 0 });
  await world.clock.settle();
  assert.deepEqual(pieces().at(-1), { offset: 3, length: 0 });
  await acknowledge(0, true, 'stderr');
}

afterEach(async () => {
  await world.kill();
});

test('a little of a task that ends soon goes with its end, in one piece', async () => {
  await begin();
  await world.clock.advance(150);
  world.files.files.set(OUT, Buffer.from('one'));
  await world.clock.advance(200);
  world.files.files.set(OUT, Buffer.from('one two'));
  world.launcher.exit(1, { code: 0 });
  await world.clock.settle();
  const [piece, ...more] = world.head.received.flatMap((message) =>
    message.kind === 'log' && message.name.stream === 'stdout' ? [message] : [],
  );
  assert.deepEqual([piece?.offset, piece?.bytes.length, piece?.end], [0, 7, true]);
  assert.deepEqual(more, []);
});

test('output is shipped while the task runs, what is new each time', async () => {
  await begin();
  world.files.files.set(OUT, Buffer.from('one'));
  await world.clock.advance(500);
  world.files.files.set(OUT, Buffer.from('one two'));
  await world.clock.advance(500);
  assert.deepEqual(pieces(), [
    { offset: 0, length: 3 },
    { offset: 3, length: 4 },
  ]);
  assert.equal(world.head.ended.has(KEY), false);
});

test('files of what the launcher has not started are not looked at', async () => {
  world = new FakeWorld();
  await world.start();
  world.launcher.answersStarts = false;
  let looks = 0;
  const size = world.files.size.bind(world.files);
  world.files.size = (path) => {
    looks += 1;
    return size(path);
  };
  world.head.order(launch(1, shell('x')));
  await world.clock.advance(1000);
  assert.equal(looks, 0);
  world.launcher.tell({ kind: 'started', launchId: 1 });
  await world.clock.advance(1000);
  assert.ok(looks > 0);
});

test('no more than a window is under way without an acknowledgement', async () => {
  await begin();
  world.head.acknowledges = false;
  world.files.files.set(OUT, Buffer.alloc(5_000_000, 'x'));
  await world.clock.advance(2000);
  const sent = pieces().reduce((sum, { length }) => sum + length, 0);
  assert.equal(sent, 1_048_576);
  assert.ok(pieces().every(({ length }) => length <= 262_144));
});

test('everything arrives, in order, before the files are removed', async () => {
  await begin();
  const text = Buffer.from(Array.from({ length: 400_000 }, (_, at) => `${at}\n`).join(''));
  world.files.files.set(OUT, text);
  world.launcher.exit(1, { code: 0 });
  await world.clock.settle();
  assert.ok(world.head.logs.get(KEY)?.equals(text));
  assert.equal(isKept(), false);
});

test('beyond the limit output is counted, not shipped, but for its end', async () => {
  await begin(1000);
  world.files.files.set(OUT, Buffer.alloc(2500, 'x'));
  world.launcher.exit(1, { code: 0 });
  await world.clock.settle();
  assert.equal(world.head.logs.get(KEY)?.length, 1000);
  assert.equal(world.head.dropped.get(KEY), 1250);
  assert.equal(world.agent?.state.epochs.size, 0);
});

test('after a break the rest goes on from what the head has', async () => {
  await begin();
  world.files.files.set(OUT, Buffer.from('one'));
  await world.clock.advance(500);
  world.head.acknowledges = false;
  world.files.files.set(OUT, Buffer.from('one two'));
  world.launcher.exit(1, { code: 0 });
  await world.clock.settle();
  assert.ok(isKept(), 'kept until acknowledged');
  world.head.acknowledges = true;
  world.head.cut();
  await world.clock.advance(6000);
  assert.equal(pieces().at(-1)?.offset, 3);
  assert.equal(isKept(), false);
});

test('a restarted agent ships what is left of an epoch that ended without it', async () => {
  await begin();
  await world.kill();
  world.files.files.set(OUT, Buffer.from('late'));
  world.launcher.exit(1, { code: 0 });
  await world.start();
  await world.clock.settle();
  assert.equal(world.head.logs.get(KEY)?.toString(), 'late');
  assert.ok(world.head.ended.has(KEY));
});

test('a piece without an answer is sent again after a while', async () => {
  await begin();
  world.head.acknowledges = false;
  world.files.files.set(OUT, Buffer.from('one'));
  await world.clock.advance(1000);
  assert.equal(pieces().length, 1);
  await world.clock.advance(11_000);
  assert.equal(pieces().length, 2);
});

test('[W4] an acknowledgement that comes twice does not stand for the end', async () => {
  await sendEnd();
  await acknowledge(3, false);
  assert.ok(isKept(), 'kept until the head has the end');
  await acknowledge(3, true);
  assert.equal(isKept(), false);
});

test('[W4] an old acknowledgement that overtakes costs a repetition, and nothing is lost', async () => {
  await begin();
  world.head.acknowledges = false;
  world.files.files.set(OUT, Buffer.from('one two'));
  await world.clock.advance(500);
  await acknowledge(7, false);
  await acknowledge(3, false);
  world.head.acknowledges = true;
  world.launcher.exit(1, { code: 0 });
  await world.clock.advance(11_000);
  assert.equal(world.head.logs.get(KEY)?.toString(), 'one two');
  assert.ok(world.head.ended.has(KEY));
  assert.equal(isKept(), false);
});

test('a head that has lost some gets it again at once, also of a task that writes every second', async () => {
  await begin();
  world.files.files.set(OUT, Buffer.from('one two'));
  await world.clock.advance(1000);
  world.head.acknowledges = false;
  world.files.files.set(OUT, Buffer.from('one two three'));
  await world.clock.advance(1000);
  assert.deepEqual(pieces().at(-1), { offset: 7, length: 6 });
  await acknowledge(3, false);
  assert.deepEqual(pieces().at(-1), { offset: 3, length: 10 });
  // The answer to what was under way meanwhile: not sent a third time for it.
  const before = pieces().length;
  await acknowledge(3, false);
  assert.equal(pieces().length, before);
  world.files.files.set(OUT, Buffer.from('one two three four'));
  await world.clock.advance(1000);
  assert.deepEqual(pieces().at(-1), { offset: 13, length: 5 });
});

test('[W4] an acknowledgement of the end that is lost is asked for again', async () => {
  await sendEnd();
  world.head.acknowledges = true;
  await world.clock.advance(11_000);
  assert.equal(isKept(), false);
});

test('that there is no output is told with the end', async () => {
  world = new FakeWorld();
  await world.start();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  world.launcher.exit(1, { code: 0 });
  await world.clock.settle();
  assert.equal(pieces().length, 0);
  assert.equal(world.head.endOf(launch(1, shell('x')).epochId)?.silentNodeRank, 0);
  assert.equal(world.agent?.state.epochs.size, 0);
});

test('with anything written, the end is said with the output, also after a break', async () => {
  world = new FakeWorld();
  await world.start();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  world.files.files.set(OUT, Buffer.from('one'));
  world.head.cut();
  world.launcher.exit(1, { code: 0 });
  await world.clock.advance(6000);
  assert.equal(world.head.endOf(launch(1, shell('x')).epochId)?.silentNodeRank, undefined);
  assert.equal(world.head.logs.get(KEY)?.toString(), 'one');
  assert.ok(world.head.ended.has(KEY) && !isKept());
});
