// The door for wiki schedulers on a real socket: what is slow, broken or silent has its answer in
// bounded time, and keeps nobody else waiting.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ok } from '../../../../src/core/base/result.ts';
import { WikiAnswers } from '../../../../src/fabric/wiki/answer.ts';
import { WIKI_PACKET_BYTES_MAX } from '../../../../src/fabric/wiki/packet.ts';
import { openWikiDoor } from '../../../../src/head/door/wiki-server.ts';
import { exchange, MauiClient } from '../../../support/maui-client.ts';

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

async function withDoor(use: (port: number) => Promise<void>, patienceMs = 60_000): Promise<void> {
  const records = [{ id: 'n1', state: 'Idle', fields: [] }];
  const cluster = {
    nodes: () => records,
    jobs: () => records,
    act: () => Promise.resolve(ok('done')),
  };
  const answers = new WikiAnswers({ cluster, key: 42, unsigned: false, now: Date.now });
  const where = { host: '127.0.0.1', port: 0 };
  const door = await openWikiDoor({ ...where, answers, log: QUIET, patienceMs });
  try {
    await use(door.port);
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
      const reply = await exchange(port, Buffer.from(text), true);
      assert.match(reply, new RegExp(`^CK=\\S+ TS=\\d+ AUTH=weft DT=SC=${code} RESPONSE=\\S`));
      await new MauiClient({ port, key: 42 }).nodes();
    }));
}

test('[D3] silence is answered in time, and holds up nobody', () =>
  withDoor(async (port) => {
    const silent = exchange(port, Buffer.from('00000100\nCMD='));
    await new MauiClient({ port, key: 42 }).nodes();
    assert.match(await silent, /SC=-244 RESPONSE=.*only 4 of 100 bytes of the request$/);
  }, 300));

test('[D3] a request of 2 MiB is read, and one byte more refused unread', () =>
  withDoor(async (port) => {
    const header = String(WIKI_PACKET_BYTES_MAX).padStart(8, '0');
    const large = Buffer.alloc(WIKI_PACKET_BYTES_MAX, 'x');
    const reply = await exchange(port, Buffer.concat([Buffer.from(`${header}\n`), large]));
    assert.match(reply, /SC=-300/);
  }));

test('[D3] late stamps and wrong keys are refused, and the reply to them is signed', () =>
  withDoor(async (port) => {
    const late = new MauiClient({ port, key: 42, aheadS: 301 });
    await assert.rejects(late.nodes(), /SC=-350 RESPONSE=the stamp is 30\d s ahead/);
    const unsigned = new MauiClient({ port, key: null });
    await assert.rejects(unsigned.nodes(), /SC=-422/);
  }));
