// The X11 protocol, as far as it is spoken: bytes as the protocol's document has them, in any
// pieces.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  findCookie,
  localDisplay,
} from '../../../../../../src/wings/owner/cli/watch-session/displays.ts';
import {
  encodeQueryExtension,
  encodeQueryInfo,
  encodeSetUp,
  type Message,
  Messages,
  readExtension,
  readIdleMs,
} from '../../../../../../src/wings/owner/cli/watch-session/x11.ts';

/** A greeting with a vendor of 5 letters, 2 formats and one screen, whose root is 0x1234. */
function welcome(): Buffer {
  const rest = Buffer.alloc(32 + 8 + 16 + 40);
  rest.writeUInt16LE(5, 16);
  rest.writeUInt8(1, 20);
  rest.writeUInt8(2, 21);
  rest.write('Xtest', 32, 'latin1');
  rest.writeUInt32LE(0x1234, 32 + 8 + 16);
  const head = Buffer.from([1, 0, 11, 0, 0, 0, rest.length / 4, 0]);
  return Buffer.concat([head, rest]);
}

function reply(fill: (bytes: Buffer) => void, more = 0): Buffer {
  const bytes = Buffer.alloc(32 + more);
  bytes.writeUInt8(1, 0);
  bytes.writeUInt32LE(more / 4, 4);
  fill(bytes);
  return bytes;
}

const MAPPING_CHANGED = Buffer.concat([Buffer.from([34]), Buffer.alloc(31)]);
const LAST = reply((bytes) => bytes.writeUInt32LE(4711, 16));

test('requests are the bytes of the protocol', () => {
  const cookie = { name: 'MIT', data: Buffer.from([1, 2, 3, 4]) };
  assert.equal(encodeSetUp(cookie).toString('hex'), '6c000b0000000300040000004d49540001020304');
  assert.equal(encodeSetUp(null).toString('hex'), '6c000b000000000000000000');
  assert.equal(encodeQueryExtension('ABCDE').toString('hex'), '62000400050000004142434445000000');
  assert.equal(encodeQueryInfo(144, 0x1234).toString('hex'), '9001020034120000');
});

test('what the server says is read in whatever pieces it comes', () => {
  const extension = reply((bytes) => {
    bytes.writeUInt8(1, 8);
    bytes.writeUInt8(144, 9);
  });
  const all = Buffer.concat([welcome(), MAPPING_CHANGED, extension, LAST]);
  const cuts = fc.array(fc.integer({ min: 0, max: all.length }), { maxLength: 12 });
  fc.assert(
    fc.property(cuts, (places) => {
      const messages = new Messages();
      const found: Message[] = [];
      const ends = [...places.sort((a, b) => a - b), all.length];
      let from = 0;
      for (const end of ends) {
        found.push(...messages.take(all.subarray(from, end)));
        from = end;
      }
      assert.deepEqual(
        found.map(({ kind }) => kind),
        ['welcome', 'reply', 'reply'],
      );
      const [first, second, third] = found;
      assert.ok(first?.kind === 'welcome' && first.root === 0x1234);
      assert.ok(second?.kind === 'reply' && readExtension(second.bytes) === 144);
      assert.ok(third?.kind === 'reply' && readIdleMs(third.bytes) === 4711);
    }),
  );
});

test('refusals, errors and nonsense are told apart', () => {
  const why = Buffer.from('No protocol\n');
  const refusal = Buffer.concat([Buffer.from([0, why.length, 11, 0, 0, 0, 3, 0]), why]);
  assert.deepEqual(new Messages().take(refusal), [{ kind: 'refused', why: 'No protocol' }]);
  const failed = new Messages();
  failed.take(welcome());
  assert.deepEqual(failed.take(Buffer.concat([Buffer.from([0, 9]), Buffer.alloc(30)])), [
    { kind: 'error', code: 9 },
  ]);
  const short = Buffer.from([1, 0, 11, 0, 0, 0, 1, 0, 0, 0, 0, 0]);
  assert.equal(new Messages().take(short)[0]?.kind, 'broken');
  const long = new Messages();
  long.take(welcome());
  const endless = Buffer.from([1, 0, 0, 0, 255, 255, 255, 255, ...new Array<number>(24).fill(0)]);
  assert.equal(long.take(endless)[0]?.kind, 'broken');
  assert.equal(readExtension(reply(() => undefined)), null);
});

test('any bytes at all: never a crash, never an endless loop', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 6 }), (pieces) => {
      const messages = new Messages();
      for (const piece of pieces) messages.take(piece);
    }),
  );
});

function entry(family: number, ...fields: (string | Buffer)[]): Buffer {
  const parts = fields.map((field) => {
    const bytes = Buffer.from(field as string, 'latin1');
    const length = Buffer.alloc(2);
    length.writeUInt16BE(bytes.length);
    return Buffer.concat([length, bytes]);
  });
  return Buffer.concat([Buffer.from([family >> 8, family & 255]), ...parts]);
}

test('the cookie of this display and this host is found among those of others', () => {
  const method = 'MIT-MAGIC-COOKIE-1';
  const file = Buffer.concat([
    entry(0, '\x7f\0\0\x01', '0', method, 'network'),
    entry(256, 'desk', '1', method, 'other display'),
    entry(256, 'laptop', '0', method, 'other host'),
    entry(256, 'desk', '0', 'XDM-AUTHORIZATION-1', 'other method'),
    entry(256, 'desk', '0', method, 'right'),
  ]);
  const found = (display: number, host: string): string | undefined =>
    findCookie(file, display, host)?.data.toString();
  assert.equal(found(0, 'desk'), 'right');
  assert.equal(found(1, 'desk'), 'other display');
  // After the host was given another name its old cookie is still good.
  assert.equal(found(0, 'renamed'), 'other host');
  assert.equal(found(7, 'desk'), undefined);
  assert.equal(findCookie(entry(65_535, '', '', method, 'any'), 3, 'x')?.data.toString(), 'any');
  for (let length = 0; length < file.length; length += 1) {
    findCookie(file.subarray(0, length), 0, 'desk');
  }
});

test('only displays of this machine are watched', () => {
  assert.equal(localDisplay(':0'), 0);
  assert.equal(localDisplay('unix:12.0'), 12);
  for (const text of ['localhost:10.0', 'far:0', ':', ':x', '0', ':0.0.0']) {
    assert.throws(() => localDisplay(text), /is no display of this machine/);
  }
});
