// The listener for wiki schedulers on a real socket: what is slow, broken or silent has its answer
// in bounded time, and keeps nobody else waiting.

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { ok } from '../../../../../src/kernel/base/result.ts';
import { WikiAnswers } from '../../../../../src/wings/wiki/fabric/answer.ts';
import { WIKI_PACKET_BYTES_MAX } from '../../../../../src/wings/wiki/fabric/packet.ts';
import { admissionBy } from '../../../../../src/wings/wiki/head/admission.ts';
import {
  openWikiListener,
  type WikiListenerOptions,
} from '../../../../../src/wings/wiki/head/wiki-server.ts';
import { exchange, MauiClient } from '../../../../support/maui-client.ts';

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

type Place = WikiListenerOptions['at'];

const ADMITTED: Place = { host: '127.0.0.1', port: 0, admission: () => Promise.resolve(null) };

async function withDoor(
  use: (port: number) => Promise<void>,
  { patienceMs = 60_000, at = ADMITTED }: { patienceMs?: number; at?: Place } = {},
): Promise<void> {
  const records = [{ id: 'n1', state: 'Idle', fields: [] }];
  const cluster = {
    nodes: () => records,
    jobs: () => records,
    act: () => Promise.resolve(ok('done')),
  };
  const answers = new WikiAnswers({ cluster, key: 42, unsigned: false, now: Date.now });
  const door = await openWikiListener({ at, answers, log: QUIET, patienceMs });
  try {
    await use(door.port ?? 0);
  } finally {
    await door.close();
  }
}

const BROKEN = [
  ['GET / HTTP/1.1\r\n\r\n', -240],
  ['00000000\n', -240],
  ['02097153\n', -240],
  ['00000010\nhello', -246],
  ['0000', -246],
  ['00000005\nhello', -300],
] as const;

for (const [text, code] of BROKEN) {
  test(`[D3] ${JSON.stringify(text)} and an end is answered with ${code}`, () =>
    withDoor(async (port) => {
      const reply = await exchange(port, Buffer.from(text), 'end');
      assert.match(reply, new RegExp(`^SC=${code} RESPONSE=\\S`));
      await new MauiClient({ port, key: 42 }).nodes();
    }));
}

test('[D3] silence is answered in time, and holds up nobody', () =>
  withDoor(
    async (port) => {
      const silent = exchange(port, Buffer.from('00000100\nCMD='));
      await new MauiClient({ port, key: 42 }).nodes();
      assert.match(await silent, /SC=-244 RESPONSE=.*only 4 of 100 bytes of the request$/);
    },
    { patienceMs: 300 },
  ));

test('[D3] a request of 2 MiB is read, and one byte more refused unread', () =>
  withDoor(async (port) => {
    const header = String(WIKI_PACKET_BYTES_MAX).padStart(8, '0');
    const large = Buffer.alloc(WIKI_PACKET_BYTES_MAX, 'x');
    const reply = await exchange(port, Buffer.concat([Buffer.from(`${header}\n`), large]));
    assert.match(reply, /SC=-300/);
  }));

test('[D5] what is said to whom nobody knows is not signed: its checksum would tell the key', () =>
  withDoor(async (port) => {
    const late = new MauiClient({ port, key: 42, aheadS: 301 });
    await assert.rejects(late.nodes(), /: SC=-350 RESPONSE=the stamp is 30\d s ahead/);
    const wrong = new MauiClient({ port, key: 43 });
    await assert.rejects(wrong.nodes(), /: SC=-422 RESPONSE=the checksum is wrong/);
    const unsigned = new MauiClient({ port, key: null });
    await assert.rejects(unsigned.nodes(), /answers SC=-422/);
    const text = 'CMD=GETNODES ARG=0:ALL';
    const packet = Buffer.from(`${String(text.length).padStart(8, '0')}\n${text}`);
    assert.doesNotMatch(await exchange(port, packet), /CK=|AUTH=/);
    assert.equal((await new MauiClient({ port, key: 42 }).nodes()).length, 1);
  }));

test('[D6] however many are silent at the listener, whoever polls is answered', (t) =>
  withDoor(async (port) => {
    const silent = Array.from({ length: 200 }, () => {
      const socket = connect({ host: '127.0.0.1', port });
      socket.on('error', () => socket.destroy());
      socket.resume();
      return socket;
    });
    t.after(() => silent.map((socket) => socket.destroy()));
    await until(() => silent.filter(({ destroyed }) => destroyed).length >= 150);
    // Those that are left are young for a moment yet.
    await until(async () => {
      const nodes = await new MauiClient({ port, key: 42 }).nodes().catch(() => []);
      return nodes.length === 1;
    });
  }));

test('[D5] by TCP nobody else of this machine is let in, and other machines by their address', async () => {
  const uid = process.getuid?.() ?? 0;
  const own = { remoteAddress: '127.0.0.1', remotePort: 1 };
  const other = { remoteAddress: '192.0.2.7', remotePort: 1 };
  const by = (isUser: boolean, allow: readonly string[], found: number | null = uid) =>
    admissionBy({
      allow,
      isUser: () => Promise.resolve(isUser),
      peers: { of: () => Promise.resolve(found) },
    });
  assert.equal(await by(true, [])(own), null);
  assert.match((await by(false, ['127.0.0.0/8'])(own)) ?? '', /uid \d+ may not use this listener/);
  assert.match((await by(true, ['127.0.0.1'], null)(own)) ?? '', /does not tell whose/);
  assert.equal(await by(false, ['192.0.2.0/24'])(other), null);
  const mapped = { ...other, remoteAddress: '::ffff:192.0.2.7' };
  assert.equal(await by(false, ['192.0.2.7'])(mapped), null);
  assert.match((await by(true, ['192.0.2.8'])(other)) ?? '', /192\.0\.2\.7 is not in wiki\.allow/);
});

test('[D5] whoever is not admitted hears why, unsigned, whatever they know', () => {
  const admission = () => Promise.resolve('uid 1001 may not use this listener');
  const at = { host: '127.0.0.1', port: 0, admission };
  return withDoor(
    (port) =>
      assert.rejects(
        new MauiClient({ port, key: 42 }).nodes(),
        /: SC=-422 RESPONSE=not admitted: uid 1001/,
      ),
    { at },
  );
});

test('[D5] a unix socket is for its own user, or for a group, in a folder that nobody else writes', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-wiki-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'wiki.sock');
  const at = { path: file, gid: null };
  await withDoor(
    async () => {
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.equal((await new MauiClient({ port: file, key: 42 }).nodes()).length, 1);
      await assert.rejects(
        withDoor(async () => undefined, { at }),
        /another program listens there/,
      );
    },
    { at },
  );
  const group = { path: file, gid: process.getgid?.() ?? 0 };
  // What a head that was killed has left is replaced.
  writeFileSync(file, '');
  await withDoor(async () => assert.equal(statSync(file).mode & 0o777, 0o660), { at: group });
  chmodSync(folder, 0o777);
  await assert.rejects(
    withDoor(async () => undefined, { at }),
    /wiki\.listen: .* others can write to/,
  );
});

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await turn();
}

const turn = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 20));
