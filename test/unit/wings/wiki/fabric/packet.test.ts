// Packets of the wiki protocol: their size, their text, and what is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sealWikiReply } from '../../../../../src/wings/wiki/fabric/envelope.ts';
import {
  formatWikiPacket,
  readWikiHeader,
  readWikiText,
  WIKI_PACKET_BYTES_MAX,
} from '../../../../../src/wings/wiki/fabric/packet.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

test('a signed reply is, byte for byte, what Maui reads', () => {
  const data = 'SC=-700 RESPONSE=No such job';
  const reply = sealWikiReply(data, { key: 42, nowS: 1_000_000_000, user: 'rm' });
  assert.equal(
    Buffer.from(formatWikiPacket(reply)).toString(),
    `00000073\nCK=d4c5ae0df2a3f725 TS=1000000000 AUTH=rm DT=${data}`,
  );
});

test('without a key a reply is not signed', () => {
  assert.equal(sealWikiReply('SC=0', { key: null, nowS: 1, user: 'rm' }), 'SC=0');
});

test('the ninth byte of a header may be anything', () => {
  for (const delimiter of ['\n', ' ', '\0']) {
    assert.deepEqual(readWikiHeader(bytes(`00000069${delimiter}`)), { ok: true, value: 69 });
  }
});

test('sizes that are none, nothing, or too large are refused with what was expected', () => {
  for (const [header, words] of [
    ['0000006x\n', /8 digits/],
    ['GET / HT', /8 digits/],
    ['00000000\n', /expected 1 to 2097152/],
    ['02097153\n', /expected 1 to 2097152/],
  ] as const) {
    const read = readWikiHeader(bytes(header));
    assert.ok(!read.ok, header);
    assert.equal(read.error.code, -240);
    assert.match(read.error.text, words);
  }
  assert.deepEqual(readWikiHeader(bytes('02097152\n')), { ok: true, value: WIKI_PACKET_BYTES_MAX });
});

test('one NUL behind the text is taken away, and none within it is read', () => {
  assert.deepEqual(readWikiText(bytes('CMD=X\0')), { ok: true, value: 'CMD=X' });
  for (const wrong of [bytes('CMD=\0X'), Uint8Array.of(0x43, 0xff)]) {
    const read = readWikiText(wrong);
    assert.ok(!read.ok);
    assert.equal(read.error.code, -246);
  }
});

test('the header counts bytes, not characters', () => {
  assert.equal(Buffer.from(formatWikiPacket('é')).toString(), '00000002\né');
  assert.throws(() => formatWikiPacket('x'.repeat(WIKI_PACKET_BYTES_MAX + 1)), /in a packet/);
});
