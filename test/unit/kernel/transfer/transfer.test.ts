// Files sent to a real head and fetched from it, over lines that break: whole and verified at the
// end, and nothing sent twice that had arrived.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { transferOf } from '../../../../src/kernel/cli/connection/transfer-context.ts';
import type { Context } from '../../../../src/kernel/cli/context.ts';
import { Api } from '../../../../src/kernel/connect/api.ts';
import { SessionCache } from '../../../../src/kernel/connect/sessions.ts';
import type { BlobHash } from '../../../../src/kernel/model/blob.ts';
import { downloadFiles } from '../../../../src/kernel/transfer/download.ts';
import type { HeadAccess } from '../../../../src/kernel/transfer/head-access.ts';
import { localBytes, readLocalFile } from '../../../../src/kernel/transfer/local-file.ts';
import { uploadFiles } from '../../../../src/kernel/transfer/upload.ts';
import { startWorld, type World, type WorldOptions } from '../head/http/fixture.ts';

const MIB = 1_048_576;

interface Bench {
  readonly world: World;
  readonly access: HeadAccess;
  readonly directory: string;
  readonly line: Line;
  file(name: string, content: string | Buffer): string;
}

/** Between client and head; cuts each connection after so many bytes of either direction. */
class Line {
  cutAfter = Number.POSITIVE_INFINITY;
  /** Carried by all connections, in both directions. */
  bytes = 0;
  connections = 0;

  carry(client: Socket, port: number): void {
    this.connections += 1;
    const head = connect(port, '127.0.0.1');
    let left = this.cutAfter;
    const end = (): void => {
      client.destroy();
      head.destroy();
    };
    for (const [from, to] of [
      [client, head],
      [head, client],
    ] as const) {
      from.on('error', end).on('close', end);
      from.on('data', (bytes) => {
        this.bytes += bytes.length;
        left -= bytes.length;
        if (left < 0) end();
        else if (!to.write(bytes)) from.pause();
      });
      to.on('drain', () => from.resume());
    }
  }
}

async function bench(t: TestContext, options: WorldOptions = {}): Promise<Bench> {
  const world = await startWorld(t, { blobBytesMax: 64 * MIB, ...options });
  const line = new Line();
  const server = createServer((socket) => line.carry(socket, world.http.port ?? 0));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  const api = new Api({
    location: {
      kind: 'url',
      url: new URL(`https://127.0.0.1:${port}`),
      fingerprint: world.http.fingerprint,
      token: await world.token('alice'),
    },
    sessions: new SessionCache({}),
    timeoutMs: 60_000,
  });
  t.after(() => api.close());
  const context = { api: async () => api, note: () => undefined } as unknown as Context;
  const { access } = transferOf(context);
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-files-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return {
    world,
    access,
    directory,
    line,
    file(name, content) {
      const at = path.join(directory, name);
      writeFileSync(at, content);
      return at;
    },
  };
}

function sha256(content: string | Buffer): BlobHash {
  return createHash('sha256').update(content).digest('hex') as BlobHash;
}

test('equal contents travel once, and what the head has does not travel again', async (t) => {
  const { access, file, line } = await bench(t);
  const paths = [file('a', 'same'), file('b', 'same'), file('c', ''), file('d', 'other')];
  const files = await Promise.all(paths.map((one) => readLocalFile(one)));
  assert.deepEqual(await uploadFiles(access, files), { count: 3, bytes: 9 });
  const before = line.bytes;
  assert.deepEqual(await uploadFiles(access, files), { count: 0, bytes: 0 });
  assert.ok(line.bytes - before < 4000);
});

test('[F2] many small files travel together, and those that came before the line broke do not again', async (t) => {
  const { access, line, directory, file } = await bench(t);
  const contents = Array.from({ length: 300 }, (_, at) =>
    randomBytes(at % 3 === 0 ? 9000 : at % 50),
  );
  const files = await Promise.all(
    contents.map((content, at) => readLocalFile(file(`f${at}`, content))),
  );
  const total = contents.reduce((sum, { length }) => sum + length, 0);
  line.cutAfter = 300_000;
  await uploadFiles(access, files);
  assert.ok(line.connections > 3 && line.connections < 30, `${line.connections} connections`);
  // What was on its way when the line broke goes again; on a busy machine that is more.
  assert.ok(line.bytes < 3 * total, `${line.bytes} bytes for ${total}`);
  line.bytes = 0;
  const copies = files.map((one, at) => ({ ...one, path: path.join(directory, `c${at}`) }));
  await downloadFiles(access, copies);
  assert.ok(line.bytes < 2 * total, `${line.bytes} bytes for ${total}`);
  for (const [at, content] of contents.entries()) {
    assert.ok(readFileSync(path.join(directory, `c${at}`)).equals(content));
  }
  assert.ok(readdirSync(directory).every((name) => !name.endsWith('.part')));
});

test('[F2] an upload goes on where the line broke, as often as it breaks', async (t) => {
  const { access, file, line, world } = await bench(t);
  const content = randomBytes(8 * MIB);
  const big = await readLocalFile(file('big', content));
  line.cutAfter = 2 * MIB;
  let moved = 0;
  await uploadFiles(access, [big], (bytes) => {
    moved += bytes;
  });
  assert.ok(line.connections > 4, `${line.connections} connections`);
  assert.ok(line.bytes < 3 * content.length, `${line.bytes} bytes for ${content.length}`);
  assert.ok(moved >= content.length);
  const opened = await world.blobs.open(big.hash);
  assert.ok(opened.ok);
  assert.ok((await opened.value.readAll()).equals(content));
  await opened.value.close();
});

test('[F2] a download goes on where the line broke, and is put in its place when it is whole', async (t) => {
  const { access, file, line, directory } = await bench(t);
  const content = randomBytes(8 * MIB);
  const { hash, size } = await readLocalFile(file('big', content));
  await uploadFiles(access, [await readLocalFile(path.join(directory, 'big'))]);
  line.cutAfter = 2 * MIB;
  const before = line.bytes;
  const target = file('copy', 'what was there');
  const seen = new Set<string>();
  const modes = new Set<number>();
  await downloadFiles(access, [{ hash, size, path: target, mode: 0o640 }], {
    moved: () => {
      seen.add(readFileSync(target, 'utf8').slice(0, 20));
      const [part = ''] = readdirSync(directory).filter((name) => name.endsWith('.part'));
      modes.add(statSync(path.join(directory, part)).mode & 0o777);
    },
  });
  assert.deepEqual([...seen], ['what was there'], 'until all of it has come');
  assert.deepEqual([...modes], [0o600], 'nobody else reads what may become theirs alone');
  assert.ok(readFileSync(target).equals(content));
  assert.equal(statSync(target).mode & 0o777, 0o640);
  assert.ok(line.bytes - before < 2 * content.length);
  assert.deepEqual(readdirSync(directory).sort(), ['big', 'copy']);
});

test('what an earlier download left is gone on with, and damage in it is mended', async (t) => {
  const { access, file, line, directory } = await bench(t);
  const content = randomBytes(2 * MIB);
  const { hash, size } = await readLocalFile(file('big', content));
  await uploadFiles(access, [await readLocalFile(path.join(directory, 'big'))]);
  const target = path.join(directory, 'copy');
  const aside = `${target}.${hash.slice(0, 12)}.part`;
  writeFileSync(aside, content.subarray(0, MIB));
  const before = line.bytes;
  await downloadFiles(access, [{ hash, size, path: target }]);
  assert.ok(line.bytes - before < 1.5 * MIB, 'half of it');
  assert.ok(readFileSync(target).equals(content));
  for (const wrong of [randomBytes(MIB), randomBytes(3 * MIB)]) {
    writeFileSync(aside, wrong);
    await downloadFiles(access, [{ hash, size, path: target }]);
    assert.ok(readFileSync(target).equals(content));
  }
});

test('a content that is damaged on the head never becomes a file', async (t) => {
  const { access, file, world, directory } = await bench(t);
  const long = 'h'.repeat(20_000);
  const blobs = path.join(world.directory, 'blobs');
  const pack = path.join(blobs, 'packs/1');
  const damage = {
    a: () => writeFileSync(pack, `${readFileSync(pack, 'latin1').slice(0, -1)}O`, 'latin1'),
    b: (hash: string) =>
      writeFileSync(path.join(blobs, 'sha256', hash.slice(0, 2), hash.slice(2)), `${long}O`),
  };
  for (const [name, content] of [
    ['a', 'hello'],
    ['b', `${long}o`],
  ] as const) {
    const sent = await readLocalFile(file(name, content));
    await uploadFiles(access, [sent]);
    damage[name](sent.hash);
    const target = path.join(directory, 'copy');
    const { hash, size } = sent;
    await assert.rejects(downloadFiles(access, [{ hash, size, path: target }]), {
      code: 'blob.damaged',
    });
  }
  assert.deepEqual(readdirSync(directory), ['a', 'b']);
});

test('[F14] what is whole comes, whatever is damaged on the head beside it', async (t) => {
  const { access, file, world, directory } = await bench(t);
  const blobs = path.join(world.directory, 'blobs');
  const placeOf = (hash: string) => path.join(blobs, 'sha256', hash.slice(0, 2), hash.slice(2));
  const contents = {
    tiny: 'tiny',
    small: 's'.repeat(20_000),
    gone: 'g'.repeat(20_000),
    longer: 'l'.repeat(20_000),
    large: 'x'.repeat(MIB),
    cut: 'c'.repeat(MIB),
    lost: 'v'.repeat(MIB),
    turned: 't'.repeat(20_000),
  };
  const wanted = new Map<string, { hash: BlobHash; size: number; path: string }>();
  for (const [name, content] of Object.entries(contents)) {
    const sent = await readLocalFile(file(name, content));
    await uploadFiles(access, [sent]);
    wanted.set(name, {
      hash: sent.hash,
      size: sent.size,
      path: path.join(directory, `to-${name}`),
    });
  }
  const at = (name: string) => placeOf(wanted.get(name)?.hash ?? '');
  for (const name of ['gone', 'lost']) rmSync(at(name));
  writeFileSync(at('turned'), 'T'.repeat(20_000));
  writeFileSync(at('longer'), 'l'.repeat(300_000));
  truncateSync(at('cut'), 1000);
  const flaws: Record<string, string> = {};
  await downloadFiles(access, [...wanted.values()], {
    flawed: (one, { code }) => {
      flaws[path.basename(one.path)] = code;
    },
  });
  assert.deepEqual(flaws, {
    'to-gone': 'blob.not_found',
    'to-lost': 'blob.not_found',
    'to-cut': 'blob.damaged',
    'to-turned': 'blob.damaged',
    'to-longer': 'blob.damaged',
  });
  for (const name of ['tiny', 'small', 'large'] as const) {
    assert.equal(readFileSync(path.join(directory, `to-${name}`), 'utf8'), contents[name]);
  }
  const came = readdirSync(directory).filter((name) => name.startsWith('to-'));
  assert.deepEqual(came.sort(), ['to-large', 'to-small', 'to-tiny'], 'and nothing of the others');
});

test('what is to be sent is told before, and what is only in memory goes as files do', async (t) => {
  const { access, file, world } = await bench(t);
  const small = localBytes('a list', Buffer.from('small'));
  const large = localBytes('a long list', randomBytes(MIB));
  const all = [small, large, await readLocalFile(file('a', 'abc'))];
  const begun: number[] = [];
  const moved: number[] = [];
  const send = () =>
    uploadFiles(
      ...([access, all] as const),
      (bytes) => moved.push(bytes),
      (bytes) => begun.push(bytes),
    );
  await send();
  assert.equal(
    moved.reduce((sum, bytes) => sum + bytes, 0),
    MIB + 8,
  );
  await send();
  assert.deepEqual(begun, [MIB + 8, 0]);
  for (const { hash, bytes = Buffer.alloc(0) } of [small, large]) {
    const opened = await world.blobs.open(hash);
    assert.ok(opened.ok);
    assert.ok((await opened.value.readAll()).equals(bytes));
    await opened.value.close();
  }
});

test('thousands of small files leave the process time for others', async (t) => {
  const { file } = await bench(t);
  const at = file('a', randomBytes(200_000));
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  for (let count = 0; count < 500; count += 1) await readLocalFile(at);
  clearInterval(timer);
  assert.ok(turns >= 5, `${turns} turns`);
});

test('a file that changes while it is read or sent is said, and nothing of it is kept', async (t) => {
  const { access, file, world } = await bench(t);
  const grows = file('grows', randomBytes(4 * MIB));
  const before = await readLocalFile(grows);
  appendFileSync(grows, 'x');
  await assert.rejects(uploadFiles(access, [before]), /grows changed while it was read/);
  const [changes, shrinks] = [
    file('changes', randomBytes(4 * MIB)),
    file('shrinks', Buffer.alloc(4 * MIB)),
  ];
  const sent = await readLocalFile(changes);
  let isFirst = true;
  const change = (): void => {
    // In place: the next piece, which is read meanwhile, must not find the file shorter.
    if (isFirst) writeFileSync(changes, Buffer.alloc(4 * MIB), { flag: 'r+' });
    isFirst = false;
  };
  await assert.rejects(uploadFiles(access, [sent], change), /changes changed while it was read/);
  const shrinking = uploadFiles(access, [await readLocalFile(shrinks)], () =>
    truncateSync(shrinks, 10),
  );
  await assert.rejects(shrinking, /shrinks became shorter while it was sent/);
  for (const { hash } of [before, sent]) assert.equal((await world.blobs.open(hash)).ok, false);
});

test('what is no ordinary file is refused with its name and what it is', async (t) => {
  const { directory, file } = await bench(t);
  const at = (name: string) => path.join(directory, name);
  mkdirSync(at('folder'));
  execFileSync('mkfifo', [at('pipe')]);
  symlinkSync('/dev/zero', at('link'));
  symlinkSync('nowhere', at('broken'));
  const server = createServer().listen(at('socket'));
  t.after(() => server.close());
  const words: [string, RegExp][] = [
    ['folder', /cannot send .*folder: it is a directory/],
    ['pipe', /cannot send .*pipe: it is a pipe/],
    ['link', /cannot send .*link: it is a device/],
    ['socket', /cannot read .*socket: /],
    ['broken', /cannot read .*broken: no such file or directory/],
    ['missing', /cannot read .*missing: no such file or directory/],
  ];
  for (const [name, expected] of words) {
    await assert.rejects(readLocalFile(at(name)), { message: expected, code: 'argument.invalid' });
  }
  const linked = file('target', 'x');
  symlinkSync(linked, at('good'));
  assert.equal((await readLocalFile(at('good'))).hash, sha256('x'));
});

/** Uid that no distribution gives out: root, who reads everything, reads as that one. */
const STRANGER = 42_009;

test('a file that may not be read is refused', async (t) => {
  const { file, directory } = await bench(t);
  const [secret, open] = [file('secret', 'x'), file('open', 'x')];
  chmodSync(directory, 0o755);
  chmodSync(secret, 0);
  chmodSync(open, 0o644);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(STRANGER);
  try {
    assert.equal((await readLocalFile(open)).hash, sha256('x'));
    await assert.rejects(readLocalFile(secret), /permission denied/);
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});

test('a full head is told with what is the matter, before a byte is sent', async (t) => {
  const { access, file, line } = await bench(t, { blobBytesMax: MIB });
  const big = await readLocalFile(file('big', randomBytes(8 * MIB)));
  const sending = uploadFiles(access, [big]);
  await assert.rejects(sending, { code: 'blob.quota', kind: 'resource_exhausted' });
  assert.ok(line.bytes < 4 * MIB, `${line.bytes} bytes went out`);
});

test('a download that nobody may have, or into a place that cannot be, is refused', async (t) => {
  const { access, directory, file } = await bench(t);
  const wanted = { hash: sha256('x'), size: 1 };
  await assert.rejects(downloadFiles(access, [{ ...wanted, path: path.join(directory, 'x') }]), {
    code: 'blob.not_found',
  });
  for (const content of [Buffer.from('y'), randomBytes(MIB)]) {
    const { hash, size } = await readLocalFile(file('a', content));
    await uploadFiles(access, [await readLocalFile(path.join(directory, 'a'))]);
    await assert.rejects(
      downloadFiles(access, [{ hash, size, path: path.join(directory, 'no/such/x') }]),
      /cannot write .*no\/such\/x: no such file or directory/,
    );
  }
});

test('a full disk here keeps what came, to go on from', {
  skip: process.getuid?.() !== 0 && 'only root mounts a small disk',
}, async (t) => {
  const { access, file, directory } = await bench(t);
  const content = randomBytes(2 * MIB);
  const { hash, size } = await readLocalFile(file('big', content));
  await uploadFiles(access, [await readLocalFile(path.join(directory, 'big'))]);
  const small = mkdtempSync(path.join(tmpdir(), 'weft-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', small]);
  t.after(() => {
    execFileSync('umount', [small]);
    rmSync(small, { recursive: true });
  });
  const other = path.join(small, 'other');
  writeFileSync(other, Buffer.alloc(2 * MIB));
  const target = path.join(small, 'copy');
  await assert.rejects(downloadFiles(access, [{ hash, size, path: target }]), {
    message: /cannot write .*copy: the disk is full/,
    hint: /kept beside it/,
  });
  const [left = ''] = readdirSync(small).filter((name) => name.endsWith('.part'));
  assert.ok(statSync(path.join(small, left)).size > 0);
  rmSync(other);
  await downloadFiles(access, [{ hash, size, path: target }]);
  assert.ok(readFileSync(target).equals(content));
});
