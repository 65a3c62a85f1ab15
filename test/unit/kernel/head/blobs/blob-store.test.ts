// The store of blobs on real files: whole or not there, resumed, verified, held by who sent them,
// and swept only when nothing needs them.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  existsSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { outputBytesMin } from '../../../../../src/bin/head-files.ts';
import { References } from '../../../../../src/kernel/files/blobs/references.ts';
import { versionOf } from '../../../../../src/kernel/files/verified.ts';
import type { Giver } from '../../../../../src/kernel/head/blobs/blob-room.ts';
import {
  type BlobReader,
  BlobStore,
  type BlobStoreOptions,
} from '../../../../../src/kernel/head/blobs/blob-store.ts';
import type { BlobHash } from '../../../../../src/kernel/model/blob.ts';
import { VirtualClock } from '../../agent/fake-world.ts';
import { KeptLog } from '../http/fixture.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const BLOCK = 4096;

function hashOf(content: string): BlobHash {
  return createHash('sha256').update(content).digest('hex') as BlobHash;
}

async function* pieces(...all: string[]): AsyncGenerator<Uint8Array> {
  for (const piece of all) yield Buffer.from(piece);
}

/** A line that breaks after these. */
async function* broken(...all: string[]): AsyncGenerator<Uint8Array> {
  yield* pieces(...all);
  throw new Error('ECONNRESET');
}

function reader(user: string): BlobReader {
  return { user, by: null };
}

const givers: readonly Giver[] = [];
const namesFilled = async (): Promise<void> => undefined;

interface Bench {
  readonly directory: string;
  readonly clock: VirtualClock;
  readonly names: References;
  readonly log: KeptLog;
  store: BlobStore;
  /** Starts a head again on the same files. */
  restart(): Promise<void>;
  /** Sends all of it. */
  send(user: string, content: string): ReturnType<BlobStore['receive']>;
  files(): string[];
}

async function bench(
  t: TestContext,
  bytesMax = 100 * BLOCK,
  more: Partial<BlobStoreOptions> = {},
): Promise<Bench> {
  const directory = await mkdtemp(path.join(tmpdir(), 'weft-blobs-'));
  t.after(async () => {
    await made.store.close();
    rmSync(directory, { recursive: true });
  });
  const clock = new VirtualClock();
  // The files are touched by this clock, which must not be before their birth.
  await clock.advance(Date.now());
  const names = new References();
  const log = new KeptLog();
  const open = async (): Promise<BlobStore> => {
    const options = {
      directory,
      bytesMax,
      diskFreeMin: 0,
      names,
      namesFilled,
      givers,
      clock,
      log,
      ...more,
    };
    const store = new BlobStore(options);
    await store.prepare();
    return store;
  };
  const made: Bench = {
    directory,
    clock,
    names,
    log,
    store: await open(),
    async restart() {
      made.store = await open();
    },
    send(user, content) {
      const piece = { offset: 0, size: Buffer.byteLength(content) };
      return made.store.receive(user, hashOf(content), piece, pieces(content));
    },
    files: () =>
      readdirSync(directory, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.startsWith('total'))
        .map(({ parentPath, name }) => path.relative(directory, path.join(parentPath, name))),
  };
  return made;
}

async function read(store: BlobStore, hash: BlobHash): Promise<string | null> {
  const opened = await store.open(hash);
  if (!opened.ok) return null;
  const text = (await opened.value.readAll()).toString();
  await opened.value.close();
  return text;
}

test('[F16] a file is said to be verified while it is as its bytes have passed', async (t) => {
  const b = await bench(t);
  const isVerified = async (): Promise<boolean> => {
    const [file] = await b.store.files(reader('anna'), [hashOf('content')]);
    assert.ok(file !== undefined);
    return file.verified === versionOf(statSync(file.path, { bigint: true }));
  };
  await b.send('anna', 'content');
  assert.ok(await isVerified());
  const [file] = await b.store.files(reader('anna'), [hashOf('content')]);
  writeFileSync(file?.path ?? '', 'cOntent');
  assert.equal(await isVerified(), false, 'somebody has written to it');
  await b.restart();
  assert.equal(await isVerified(), false, 'this head has not seen its bytes');
});

test('[F1] a blob is there when all of it has come and is what it was said to be', async (t) => {
  const { store, files, send } = await bench(t);
  const hash = hashOf('hello');
  assert.deepEqual(await store.lacking('alice', [hash]), [{ hash, offset: 0 }]);
  assert.deepEqual(await send('alice', 'hello'), { ok: true, value: { offset: 5, isHeld: true } });
  assert.deepEqual(await store.lacking('alice', [hash]), []);
  assert.equal(await read(store, hash), 'hello');
  const place = `${hash.slice(0, 2)}/${hash.slice(2)}`;
  assert.deepEqual(files().sort(), [`held/alice/${place}`, `sha256/${place}`]);
  assert.equal(store.bytes, BLOCK);
});

test('a file without a byte is a blob too', async (t) => {
  const { store, send } = await bench(t);
  assert.ok((await send('alice', '')).ok);
  assert.equal(await read(store, hashOf('')), '');
});

test('[F2] an upload goes on where its line broke, also after a restart of the head', async (t) => {
  const made = await bench(t);
  const hash = hashOf('hello world');
  const receive = (offset: number, source: AsyncIterable<Uint8Array>) =>
    made.store.receive('alice', hash, { offset, size: 11 }, source);
  assert.deepEqual(await receive(0, broken('he', 'll')), {
    ok: true,
    value: { offset: 4, isHeld: false },
  });
  assert.equal(await read(made.store, hash), null, 'nothing of it is visible');
  assert.deepEqual(await receive(4, pieces('o ')), {
    ok: true,
    value: { offset: 6, isHeld: false },
  });
  await made.restart();
  assert.deepEqual(await made.store.lacking('alice', [hash]), [{ hash, offset: 6 }]);
  const elsewhere = await receive(5, pieces(' world'));
  assert.equal(!elsewhere.ok && elsewhere.error.code, 'blob.offset');
  assert.deepEqual(await receive(6, pieces('world')), {
    ok: true,
    value: { offset: 11, isHeld: true },
  });
  assert.equal(await read(made.store, hash), 'hello world');
});

test('[F1] a wrong hash is refused, and nothing of it is left', async (t) => {
  const { store, files } = await bench(t);
  const hash = hashOf('hello');
  const received = await store.receive('alice', hash, { offset: 0, size: 5 }, pieces('hellO'));
  assert.ok(!received.ok);
  assert.equal(received.error.code, 'blob.hash_mismatch');
  assert.equal(received.error.details['actual'], hashOf('hellO'));
  assert.deepEqual(files(), []);
  assert.deepEqual(await store.lacking('alice', [hash]), [{ hash, offset: 0 }]);
});

test('more bytes than were announced are refused, and nothing of it is left', async (t) => {
  const { store, files } = await bench(t);
  const received = await store.receive(
    'a',
    hashOf('hello'),
    { offset: 0, size: 4 },
    pieces('hello'),
  );
  assert.equal(!received.ok && received.error.code, 'request.malformed');
  assert.deepEqual(files(), []);
});

test('bytes that a crash has lost from an upload are found out at its end', async (t) => {
  const made = await bench(t);
  const hash = hashOf('hello world');
  await made.store.receive('alice', hash, { offset: 0, size: 11 }, broken('hello '));
  const [file = ''] = made.files();
  writeFileSync(path.join(made.directory, file), 'hell\0\0');
  await made.restart();
  const piece = { offset: 6, size: 11 };
  const received = await made.store.receive('alice', hash, piece, pieces('world'));
  assert.equal(!received.ok && received.error.code, 'blob.hash_mismatch');
  assert.deepEqual(made.files(), []);
});

test('[F3] knowing a hash is no right: another user must send the content, and then it lies once', async (t) => {
  const { store, send, files } = await bench(t);
  const hash = hashOf('secret');
  await send('alice', 'secret');
  assert.equal(store.mayRead(reader('bob'), hash), false);
  assert.deepEqual(await store.lacking('bob', [hash]), [{ hash, offset: 0 }]);
  // Nor does bob go on with what alice has sent of another.
  await store.receive('alice', hashOf('more'), { offset: 0, size: 4 }, broken('mo'));
  const jump = await store.receive('bob', hashOf('more'), { offset: 2, size: 4 }, pieces('re'));
  assert.equal(!jump.ok && jump.error.code, 'blob.offset');
  assert.ok((await send('bob', 'secret')).ok);
  assert.equal(store.mayRead(reader('bob'), hash), true);
  assert.equal(store.bytes, BLOCK, 'it counts once');
  assert.equal(files().filter((file) => file.startsWith('sha256/')).length, 1);
});

test('[F3] who has something that names a blob may read it without having sent it', async (t) => {
  const { store, send, names } = await bench(t);
  const hash = hashOf('result');
  await send('alice', 'result');
  names.set('job 1', 'bob', [hash]);
  assert.equal(store.mayRead(reader('bob'), hash), true);
  assert.deepEqual(await store.lacking('bob', [hash]), []);
  names.remove('job 1');
  assert.equal(store.mayRead(reader('bob'), hash), false);
});

test('of two connections that send the same, the newer goes on and the older is told', async (t) => {
  const { store } = await bench(t);
  const hash = hashOf('hello');
  const piece = { offset: 0, size: 5 };
  let goOn = (): void => undefined;
  const stalls = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  async function* stalling(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('he');
    await stalls;
    yield Buffer.from('XXX');
  }
  const older = store.receive('alice', hash, piece, stalling());
  while (store.progress('alice', hash).offset < 2) await new Promise(setImmediate);
  const newer = await store.receive('alice', hash, { offset: 2, size: 5 }, pieces('llo'));
  assert.deepEqual(newer, { ok: true, value: { offset: 5, isHeld: true } });
  goOn();
  const told = await older;
  assert.equal(!told.ok && told.error.code, 'blob.taken_over');
  assert.equal(await read(store, hash), 'hello');
});

test('many who send the same at once end with one blob, whatever the order', async (t) => {
  const { store, send } = await bench(t);
  const content = 'x'.repeat(10_000);
  const users = Array.from({ length: 8 }, (_, at) => `user${at}`);
  const sent = await Promise.all(users.map((user) => send(user, content)));
  assert.ok(
    sent.every(({ ok }) => ok),
    JSON.stringify(sent),
  );
  assert.ok(users.every((user) => store.mayRead(reader(user), hashOf(content))));
  const twice = await Promise.all([send('carol', content), send('carol', content)]);
  assert.ok(
    twice.some(({ ok }) => ok),
    JSON.stringify(twice),
  );
  assert.equal(await read(store, hashOf(content)), content);
});

test('[F5, F4] beyond the quota nothing is taken, and what nothing names gives way', async (t) => {
  const made = await bench(t, 2 * BLOCK);
  const { clock, names, send } = made;
  const big = await send('alice', 'x'.repeat(3 * BLOCK));
  assert.ok(!big.ok);
  assert.equal(big.error.code, 'blob.quota');
  assert.match(big.error.hint ?? '', /^It can never fit; ask an admin to raise head\.blobs_max\.$/);
  await send('alice', 'one');
  await send('alice', 'two');
  const full = await send('alice', 'three');
  assert.equal(!full.ok && full.error.code, 'blob.quota', 'what has just come stays');
  names.set('job 1', 'alice', [hashOf('one')]);
  await clock.advance(2 * HOUR);
  assert.ok((await send('alice', 'three')).ok);
  assert.deepEqual(await made.store.lacking('alice', ['one', 'two', 'three'].map(hashOf)), [
    { hash: hashOf('two'), offset: 0 },
  ]);
  assert.deepEqual(
    made.files().filter((file) => file.startsWith('trash')),
    [],
  );
});

test('[F4] what nothing names goes after a day without a question, and an upload that nobody goes on with', async (t) => {
  const made = await bench(t);
  const { store, clock, names, send } = made;
  for (const content of ['named', 'asked', 'idle']) await send('alice', content);
  await store.receive('alice', hashOf('half'), { offset: 0, size: 4 }, broken('ha'));
  names.set('job 1', 'alice', [hashOf('named')]);
  await clock.advance(23 * HOUR);
  assert.deepEqual(await store.lacking('alice', [hashOf('asked')]), []);
  await clock.advance(HOUR);
  await store.sweep({ bytes: 0 });
  const hashes = ['named', 'asked', 'idle', 'half'].map(hashOf);
  assert.deepEqual(await store.lacking('alice', hashes), [
    { hash: hashOf('idle'), offset: 0 },
    { hash: hashOf('half'), offset: 0 },
  ]);
  assert.equal(store.mayRead(reader('alice'), hashOf('idle')), false);
  assert.equal(made.files().length, 4, 'two blobs, each held');
  assert.equal(store.bytes, 2 * BLOCK);
});

test('a blob that is being read stays readable when it is swept', async (t) => {
  const { store, clock, send } = await bench(t);
  await send('alice', 'hello');
  const opened = await store.open(hashOf('hello'));
  assert.ok(opened.ok);
  await clock.advance(2 * DAY);
  await store.sweep({ bytes: 0 });
  assert.equal(await read(store, hashOf('hello')), null);
  assert.equal((await opened.value.readAll()).toString(), 'hello');
  await opened.value.close();
});

test('how much is kept is known after a restart, also when nobody has noted it', async (t) => {
  const made = await bench(t);
  await made.send('alice', 'hello');
  await made.store.sweep({ bytes: 0 });
  await made.store.close();
  await made.restart();
  assert.equal(made.store.bytes, BLOCK);
  rmSync(path.join(made.directory, 'total'), { force: true });
  await made.restart();
  await made.store.sweep({ bytes: 0 });
  assert.equal(made.store.bytes, BLOCK);
});

test('files that are no uploads are cleared out of the folder for them', async (t) => {
  const made = await bench(t);
  const incoming = path.join(made.directory, 'incoming');
  const tooLong = path.join(incoming, `${hashOf('x')}.3.alice`);
  writeFileSync(path.join(incoming, 'nonsense'), 'x');
  writeFileSync(tooLong, '');
  truncateSync(tooLong, 4);
  await made.restart();
  assert.deepEqual(readdirSync(incoming), []);
});

const NO_MOUNT = process.getuid?.() !== 0 && 'only root mounts a small disk';

test('[F5, F1] a disk that fills up in the middle is one clear error, and nothing is half there', {
  skip: NO_MOUNT,
}, async (t) => {
  const { execFileSync } = await import('node:child_process');
  const directory = await mkdtemp(path.join(tmpdir(), 'weft-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory]);
  t.after(() => {
    execFileSync('umount', [directory]);
    rmSync(directory, { recursive: true });
  });
  const clock = new VirtualClock();
  const options = { directory, clock, names: new References(), log: new KeptLog() };
  const store = new BlobStore({
    ...options,
    namesFilled,
    givers,
    bytesMax: 2 ** 30,
    diskFreeMin: 0,
  });
  await store.prepare();
  const content = 'x'.repeat(600_000);
  const hash = hashOf(content);
  async function* thenFull(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(content.slice(0, 100_000));
    writeFileSync(path.join(directory, 'other'), Buffer.alloc(800_000));
    yield Buffer.from(content.slice(100_000));
  }
  const received = await store.receive('alice', hash, { offset: 0, size: 600_000 }, thenFull());
  assert.ok(!received.ok);
  assert.equal(received.error.code, 'blob.disk_full');
  assert.match(received.error.details['cause'] ?? '', /ENOSPC/);
  assert.deepEqual(readdirSync(path.join(directory, 'incoming')), []);
  const announced = await store.receive('alice', hash, { offset: 0, size: 600_000 }, pieces());
  assert.equal(!announced.ok && announced.error.code, 'blob.disk_full', 'before a byte is sent');
  rmSync(path.join(directory, 'other'));
  const again = await store.receive('alice', hash, { offset: 0, size: 600_000 }, pieces(content));
  assert.ok(again.ok && again.value.isHeld);
  assert.equal(
    statSync(path.join(directory, 'sha256', hash.slice(0, 2), hash.slice(2))).size,
    600_000,
  );
  assert.ok(existsSync(path.join(directory, 'held/alice')));
});

test('nothing goes before all is named that was there at the start', async (t) => {
  const { directory, clock, names, log, send, store } = await bench(t);
  await send('alice', 'needed');
  await store.close();
  const filled = Promise.withResolvers<void>();
  const namesFilled = () => filled.promise;
  const options = { directory, clock, names, log, namesFilled, givers };
  const next = new BlobStore({ ...options, bytesMax: 2 ** 30, diskFreeMin: 0 });
  await next.prepare();
  await clock.advance(25 * HOUR);
  const swept = next.sweep({ bytes: 0 });
  await new Promise(setImmediate);
  names.set('job 1', 'alice', [hashOf('needed')]);
  filled.resolve();
  await swept;
  assert.ok(next.mayRead(reader('alice'), hashOf('needed')));
  assert.equal(next.sizeOf(hashOf('needed')), 6);
  await next.close();
});

test('nothing is let go for what can never fit', async (t) => {
  const { directory, clock, names, log, store } = await bench(t);
  await store.close();
  const asked: number[] = [];
  const options = { directory, clock, names, log, namesFilled, diskFreeMin: 0 };
  const keep = (_user: string, bytes: number): boolean => asked.push(bytes) < 0;
  const next = new BlobStore({
    ...options,
    bytesMax: BLOCK,
    givers: [{ mayGive: () => 0, give: keep }],
  });
  await next.prepare();
  const received = await next.receive('alice', hashOf('x'), { offset: 0, size: 9000 }, pieces());
  assert.equal(!received.ok && received.error.code, 'blob.quota');
  assert.deepEqual(asked, []);
  await next.close();
});

/** A sender that has brought these, and brings no more before `goOn`. */
function stalling(first: string, rest: string) {
  const stalls = Promise.withResolvers<void>();
  async function* source(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(first);
    await stalls.promise;
    yield Buffer.from(rest);
  }
  return { source: source(), goOn: stalls.resolve };
}

test('[F13] what is only announced takes no room from others, and makes nothing go', async (t) => {
  const asked: string[] = [];
  const giver: Giver = {
    mayGive: () => 100 * BLOCK,
    give: (user) => asked.push(user) < 0,
  };
  const made = await bench(t, 4 * BLOCK, { givers: [giver] });
  const { clock, store, send } = made;
  await send('alice', 'idle');
  await clock.advance(2 * HOUR);
  const content = 'x'.repeat(4 * BLOCK);
  const piece = { offset: 0, size: content.length };
  await store.receive('bob', hashOf(content), piece, broken());
  const slow = stalling('x', content.slice(1));
  const sending = store.receive('bob', hashOf(content), piece, slow.source);
  while (store.progress('bob', hashOf(content)).offset < 1) await new Promise(setImmediate);
  assert.ok(store.mayRead(reader('alice'), hashOf('idle')));
  assert.ok((await send('alice', 'y'.repeat(2 * BLOCK))).ok, 'there is room for others meanwhile');
  assert.deepEqual(asked, []);
  slow.goOn();
  const sent = await sending;
  assert.equal(!sent.ok && sent.error.code, 'blob.quota', 'what comes has no room any more');
  assert.deepEqual(asked, ['bob'], 'nobody else is asked to do without anything');
});

test('[F13] what a job leaves ends what users send when there is no other room', async (t) => {
  const { store, send } = await bench(t, 4 * BLOCK);
  const content = 'x'.repeat(3 * BLOCK);
  const slow = stalling(content.slice(1), 'x');
  const piece = { offset: 0, size: content.length };
  const sending = store.receive('bob', hashOf(content), piece, slow.source);
  while (store.progress('bob', hashOf(content)).offset < 1) await new Promise(setImmediate);
  const result = 'y'.repeat(2 * BLOCK);
  assert.equal((await send('alice', result)).ok, false, 'another upload waits');
  const output = { offset: 0, size: result.length, isOutput: true };
  const never = { ...output, size: 5 * BLOCK };
  assert.equal((await store.receive('alice', hashOf('z'), never, pieces('z'))).ok, false);
  assert.ok((await store.receive('alice', hashOf(result), output, pieces(result))).ok);
  slow.goOn();
  const sent = await sending;
  assert.ok(!sent.ok);
  assert.equal(sent.error.code, 'blob.quota');
  assert.match(sent.error.hint ?? '', /What jobs leave comes first/);
});

test('[F13] users never fill what is kept free for what jobs leave', async (t) => {
  const { store, send } = await bench(t, 4 * BLOCK, { outputBytesMin: BLOCK });
  const fill = await send('bob', 'x'.repeat(4 * BLOCK));
  assert.equal(!fill.ok && fill.error.code, 'blob.quota');
  assert.ok((await send('bob', 'x'.repeat(3 * BLOCK))).ok);
  assert.equal((await send('bob', 'y')).ok, false);
  const output = { offset: 0, size: 1, isOutput: true };
  assert.ok((await store.receive('alice', hashOf('y'), output, pieces('y'))).ok);
});

test('a content that comes without its hash is kept by the one of its bytes', async (t) => {
  const { store } = await bench(t, 100 * BLOCK);
  const received = await store.receiveMany('bob', [{ bytes: Buffer.from('few') }]);
  assert.deepEqual(received, { ok: true, value: 1 });
  assert.ok(store.mayRead({ user: 'bob', by: null }, hashOf('few')));
  await store.close();
});

test('[F15] what a user sends, and what their jobs leave, counts for them and for nobody else', async (t) => {
  const made = await bench(t, 100 * BLOCK, { userBytesMax: 3 * BLOCK });
  const { send, clock, names } = made;
  const code = async (sent: ReturnType<Bench['send']>) => {
    const received = await sent;
    return received.ok ? 'ok' : received.error.code;
  };
  assert.equal(await code(send('bob', 'x'.repeat(2 * BLOCK))), 'ok');
  assert.equal(made.store.bytesOf('bob'), 2 * BLOCK);
  const left = 'left by a job';
  const output = { offset: 0, size: left.length, isOutput: true };
  assert.ok((await made.store.receive('bob', hashOf(left), output, pieces(left))).ok);
  assert.equal(made.store.bytesOf('bob'), 3 * BLOCK);
  assert.equal(await code(send('bob', 'more')), 'blob.user_quota');
  const frames = () =>
    made.store.receiveMany('bob', [{ hash: hashOf('few'), bytes: Buffer.from('few') }]);
  const many = await frames();
  assert.equal(!many.ok && many.error.code, 'blob.user_quota');
  assert.equal(await code(send('bob', 'x'.repeat(4 * BLOCK))), 'blob.user_quota');
  assert.equal(await code(send('alice', 'more')), 'ok', 'others have room');
  await made.store.close();
  await made.restart();
  assert.equal(made.store.bytesOf('bob'), 0);
  await made.store.count();
  assert.equal(made.store.bytesOf('bob'), 3 * BLOCK);
  assert.equal(await code(send('bob', 'more')), 'blob.user_quota');
  await send('alice', 'idle');
  await clock.advance(2 * HOUR);
  names.set('job 1', 'bob', [hashOf(left)]);
  assert.equal(await code(send('bob', 'more')), 'ok', 'what nothing of theirs needs makes room');
  assert.equal(made.store.bytesOf('bob'), 2 * BLOCK);
  assert.ok(made.store.mayRead(reader('alice'), hashOf('idle')), 'and nothing of others');
  assert.ok((await frames()).ok);
  await made.store.count();
  assert.deepEqual(
    [made.store.bytesOf('bob'), made.store.bytesOf('alice')],
    [3 * BLOCK, 2 * BLOCK],
  );
});

test("[F13] a sweep for somebody else stands for nobody's own: nothing else goes for that", async (t) => {
  const asked: string[] = [];
  const give = (user: string) => asked.push(user) < 0;
  const gate = Promise.withResolvers<void>();
  const made = await bench(t, 100 * BLOCK, {
    userBytesMax: BLOCK,
    givers: [{ mayGive: () => BLOCK, give }],
    namesFilled: () => gate.promise,
  });
  const { store, send, clock } = made;
  await store.count();
  assert.ok((await send('bob', 'idle')).ok);
  await clock.advance(2 * HOUR);
  const sweep = store.sweep.bind(store);
  const first = sweep({ bytes: BLOCK, user: 'alice' });
  store.sweep = (short) => {
    const own = sweep(short);
    gate.resolve();
    return own;
  };
  assert.ok((await send('bob', 'more')).ok);
  await first;
  assert.deepEqual(asked, []);
});

test('[F13] for what a job leaves unfinished uploads end before anything archived goes', async (t) => {
  const asked: string[] = [];
  const give = (user: string) => asked.push(user) < 0;
  const { store } = await bench(t, 4 * BLOCK, {
    givers: [{ mayGive: () => 4 * BLOCK, give }],
  });
  const content = 'x'.repeat(3 * BLOCK);
  const piece = { offset: 0, size: content.length };
  await store.receive('bob', hashOf(content), piece, broken(content.slice(1)));
  assert.equal(store.progress('bob', hashOf(content)).offset, content.length - 1);
  const result = 'y'.repeat(2 * BLOCK);
  const output = { offset: 0, size: result.length, isOutput: true };
  assert.ok((await store.receive('alice', hashOf(result), output, pieces(result))).ok);
  assert.deepEqual(asked, []);
});

test('[F13] what is kept free for what jobs leave is free on the disk, too', async (t) => {
  const { store, send } = await bench(t, 2 ** 60, { outputBytesMin: 2 ** 59 });
  const sent = await send('bob', 'x');
  assert.equal(!sent.ok && sent.error.code, 'blob.disk_full');
  const output = { offset: 0, size: 1, isOutput: true };
  assert.ok((await store.receive('alice', hashOf('y'), output, pieces('y'))).ok);
});

test('[F13] of a disk that is smaller than the quota a share is kept for what jobs leave', () => {
  const { blocks, bsize } = statfsSync(tmpdir());
  const sized = { directory: tmpdir(), blobBytesMax: 2 ** 60, multiUser: true };
  assert.ok(outputBytesMin(sized) <= (blocks * bsize) / 10);
  assert.equal(outputBytesMin({ ...sized, blobBytesMax: 10 }), 1);
  assert.equal(outputBytesMin({ ...sized, multiUser: false }), 0);
});
