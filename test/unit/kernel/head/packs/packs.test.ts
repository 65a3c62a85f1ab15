// Packs of small contents on real files: there once they are on the disk, whole or not at all after
// a crash, and gone with what nobody needs.

import assert from 'node:assert/strict';
import { hash as hashOf } from 'node:crypto';
import {
  appendFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  encodeGroup,
  HEADER_BYTES,
  readFront,
  readStart,
  type SmallContent,
} from '../../../../../src/kernel/head/packs/pack-format.ts';
import { Packs } from '../../../../../src/kernel/head/packs/packs.ts';
import type { BlobHash } from '../../../../../src/kernel/model/blob.ts';
import { PACKED_SIZE_MAX } from '../../../../../src/kernel/model/limits.ts';

function contentOf(text: string): SmallContent {
  return { hash: hashOf('sha256', text, 'hex') as BlobHash, bytes: Buffer.from(text) };
}

async function bench(t: TestContext) {
  const directory = await mkdtemp(path.join(tmpdir(), 'weft-packs-'));
  let now = 1000;
  const open = (): Packs => {
    const packs = new Packs(directory, () => now);
    packs.prepare();
    return packs;
  };
  const made = {
    directory,
    packs: open(),
    file: (id: number) => path.join(directory, String(id)),
    /** Starts a head again on the same files, after one that was killed. */
    restart: () => {
      made.packs = open();
    },
    advance: (ms: number) => {
      now += ms;
    },
    read: (text: string) => made.packs.read(contentOf(text).hash)?.toString() ?? null,
  };
  t.after(async () => {
    await made.packs.close();
    rmSync(directory, { recursive: true });
  });
  return made;
}

test('what was sent together lies in one file, and is there for the next head', async (t) => {
  const made = await bench(t);
  const added = await made.packs.append('alice', ['a', '', 'b'].map(contentOf));
  assert.deepEqual(added, [1, 0, 1]);
  await made.packs.append('alice', [contentOf('c')]);
  assert.deepEqual(readdirSync(made.directory), ['1']);
  for (const turn of ['as it came', 'after a kill']) {
    for (const text of ['a', '', 'b', 'c']) assert.equal(made.read(text), text, turn);
    const [one] = [contentOf('a')];
    assert.ok(made.packs.isHeld('alice', one.hash));
    assert.equal(made.packs.isHeld('bob', one.hash), false, 'knowing a hash is no right');
    made.restart();
  }
});

test('who has sent the same holds it too, and it counts once', async (t) => {
  const made = await bench(t);
  const same = contentOf('same');
  await made.packs.append('alice', [same, same]);
  assert.deepEqual(await made.packs.append('bob', [same]), []);
  made.restart();
  assert.deepEqual(made.packs.holdersOf(same.hash), ['alice', 'bob']);
  assert.equal([...made.packs.all()].length, 1);
});

test('a content is spared from when it came or was last asked for', async (t) => {
  const { packs, advance } = await bench(t);
  const one = contentOf('one');
  await packs.append('alice', [one]);
  advance(5);
  assert.equal(packs.look(one.hash)?.touchedAt, 1000);
  assert.equal(packs.touch(one.hash), 3);
  assert.equal(packs.look(one.hash)?.touchedAt, 1005);
  assert.equal(packs.touch(contentOf('two').hash), null);
});

test('cut at any byte, a pack keeps its whole groups, and goes on behind them', async (t) => {
  const made = await bench(t);
  await made.packs.append('alice', [contentOf('kept')]);
  const whole = statSync(made.file(1)).size;
  await made.packs.append('alice', ['torn', 'off'].map(contentOf));
  const bytes = readFileSync(made.file(1));
  for (let length = whole; length < bytes.length; length += 1) {
    writeFileSync(made.file(1), bytes.subarray(0, length));
    made.restart();
    assert.equal(made.read('kept'), 'kept');
    assert.equal(made.read('torn'), null, `${length} bytes`);
    assert.equal(statSync(made.file(1)).size, whole, 'what is behind goes');
  }
  await made.packs.append('alice', [contentOf('next')]);
  made.restart();
  assert.deepEqual([made.read('kept'), made.read('next')], ['kept', 'next']);
});

test('of what may not have been on the disk every byte is looked at, once the length is there', async (t) => {
  const made = await bench(t);
  await made.packs.append('alice', [contentOf('kept')]);
  await made.packs.append('alice', ['good', 'lost'].map(contentOf));
  const bytes = readFileSync(made.file(1));
  // As a file system leaves it whose machine lost power: the length is new, the last block is not.
  writeFileSync(made.file(1), Buffer.concat([bytes.subarray(0, -4), Buffer.alloc(4)]));
  made.restart();
  assert.equal(made.read('kept'), 'kept');
  assert.deepEqual([made.read('good'), made.read('lost')], [null, null]);
});

test('bytes that are no group end a pack, whatever they say', async (t) => {
  const made = await bench(t);
  await made.packs.append('alice', [contentOf('kept')]);
  const whole = readFileSync(made.file(1));
  const fronts = [
    Buffer.alloc(HEADER_BYTES),
    Buffer.alloc(200, 0xff),
    Buffer.concat([whole.subarray(0, 4), Buffer.alloc(100, 0xff)]),
    Buffer.from(whole).fill(1, HEADER_BYTES, HEADER_BYTES + 1),
  ];
  for (const front of fronts) {
    writeFileSync(made.file(1), whole);
    appendFileSync(made.file(1), front);
    made.restart();
    assert.equal(made.read('kept'), 'kept');
    assert.equal(statSync(made.file(1)).size, whole.length);
  }
});

test('a front that was changed in any byte is none', () => {
  const [front = Buffer.alloc(0)] = encodeGroup('alice', [contentOf('a'), contentOf('b')], 7);
  const read = readFront(Buffer.from(front));
  assert.equal(read?.user, 'alice');
  assert.equal(read?.settled, 7);
  for (let at = 0; at < front.length; at += 1) {
    const changed = Buffer.from(front);
    changed[at] = (changed[at] as number) ^ 1;
    assert.equal(readFront(changed), null, `byte ${at}`);
  }
  assert.equal(readStart(Buffer.alloc(10)), null);
});

test('contents that are too large, or too many, are for files of their own', async (t) => {
  const { packs } = await bench(t);
  assert.ok(packs.takes(PACKED_SIZE_MAX));
  assert.equal(packs.takes(PACKED_SIZE_MAX + 1), false);
});

test('a pack of which little is needed goes; what is needed is elsewhere then, held as before', async (t) => {
  const made = await bench(t);
  const large = Array.from({ length: 400 }, (_, at) => contentOf(`${at} ${'x'.repeat(16_000)}`));
  const both = contentOf('of both');
  await made.packs.append('alice', [...large, both]);
  await made.packs.append('bob', [both]);
  for (const { hash } of large.slice(1)) made.packs.remove(hash);
  await made.packs.tidy();
  assert.deepEqual(readdirSync(made.directory), ['2']);
  assert.ok(statSync(made.file(2)).size < 40_000);
  for (const turn of ['at once', 'for the next head']) {
    assert.deepEqual([...made.packs.holdersOf(both.hash)].sort(), ['alice', 'bob'], turn);
    assert.equal(made.read('of both'), 'of both');
    assert.equal(made.packs.read((large[0] as SmallContent).hash)?.length, 16_002);
    assert.equal(made.packs.read((large[1] as SmallContent).hash), null);
    made.restart();
  }
});

test('a small pack of which nothing is needed goes once another is written to', async (t) => {
  const made = await bench(t);
  await made.packs.append('alice', [contentOf('a')]);
  made.packs.remove(contentOf('a').hash);
  await made.packs.tidy();
  assert.deepEqual(readdirSync(made.directory), ['1'], 'it is the one that is written to');
  await made.packs.append('alice', [contentOf('b')]);
  assert.equal(made.read('b'), 'b');
});

test('what comes while packs are tidied stays', async (t) => {
  const made = await bench(t);
  const large = Array.from({ length: 400 }, (_, at) => contentOf(`${at} ${'x'.repeat(16_000)}`));
  await made.packs.append('alice', large);
  for (const { hash } of large) made.packs.remove(hash);
  const coming = made.packs.append('alice', [contentOf('new')]);
  await made.packs.tidy();
  await coming;
  assert.equal(made.read('new'), 'new');
  await made.packs.tidy();
  assert.equal(made.read('new'), 'new');
  made.restart();
  assert.equal(made.read('new'), 'new');
});

const NO_MOUNT = process.getuid?.() !== 0 && 'only root mounts a small disk';

test('on a full disk nothing is there by half, and what was there stays', {
  skip: NO_MOUNT,
}, async (t) => {
  const { execFileSync } = await import('node:child_process');
  const directory = await mkdtemp(path.join(tmpdir(), 'weft-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory]);
  const packs = new Packs(directory, () => 0);
  t.after(async () => {
    await packs.close();
    execFileSync('umount', [directory]);
    rmSync(directory, { recursive: true });
  });
  packs.prepare();
  await packs.append('alice', [contentOf('first')]);
  const { size } = statSync(path.join(directory, '1'));
  const much = Array.from({ length: 100 }, (_, at) => contentOf(`${at} ${'x'.repeat(16_000)}`));
  await assert.rejects(packs.append('alice', much), { code: 'ENOSPC' });
  assert.equal(statSync(path.join(directory, '1')).size, size);
  assert.equal([...packs.all()].length, 1);
  await packs.append('alice', [contentOf('second')]);
  assert.equal(packs.read(contentOf('second').hash)?.toString(), 'second');
});

test('a pack that is shorter than it was gives no content rather than a part of it', async (t) => {
  const made = await bench(t);
  await made.packs.append('alice', [contentOf('hello')]);
  truncateSync(made.file(1), statSync(made.file(1)).size - 1);
  assert.equal(made.read('hello'), null);
});
