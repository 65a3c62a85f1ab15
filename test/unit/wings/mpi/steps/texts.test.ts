// What weft-rsh reads: its arguments, its environment, and frames.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { findNode, readAllocation } from '../../../../../src/wings/mpi/steps/allocation.ts';
import { asSaidElsewhere, readArguments } from '../../../../../src/wings/mpi/steps/arguments.ts';
import { FRAME_BYTES_MAX, FrameReader, KINDS } from '../../../../../src/wings/mpi/steps/frames.ts';

test('arguments are those of rsh and ssh', () => {
  const read = (...words: string[]) => readArguments(words, {});
  const wish = { host: 'n2', command: 'orted -mca a b', takesInput: true };
  assert.deepEqual(read('n2', 'orted', '-mca', 'a', 'b'), { ok: true, value: wish });
  assert.deepEqual(read('-x', '-o', 'A=b', 'n2', 'orted -mca a b'), { ok: true, value: wish });
  const quiet = { ...wish, takesInput: false };
  assert.deepEqual(read('-n', '-q', 'n2', 'orted -mca a b'), { ok: true, value: quiet });
});

test('a command that others are not to read stands in a variable', () => {
  const variables = { WEFT_RSH_COMMAND: 'env KEY=secret true' };
  const wish = { host: 'n2', command: 'env KEY=secret true', takesInput: true };
  assert.deepEqual(readArguments(['n2'], variables), { ok: true, value: wish });
  const said = readArguments(['n2', 'hostname'], variables);
  assert.equal(said.ok && said.value.command, 'hostname', 'words are what is meant');
});

test('[A31] the remote shell of this node is named as the one of the node that runs the command', () => {
  const said = (command: string) => asSaidElsewhere(command, '/n1/bin/weft-rsh');
  const own = `\${WEFT_RSH}`;
  assert.equal(said('orted -mca agent "/n1/bin/weft-rsh" -x 1'), `orted -mca agent "${own}" -x 1`);
  assert.equal(said("a '/n1/bin/weft-rsh' /n1/bin/weft-rsh n3"), `a "${own}" ${own} n3`);
  assert.equal(said('ls /n1/bin'), 'ls /n1/bin');
  assert.equal(asSaidElsewhere('ls', undefined), 'ls');
});

for (const [words, says] of [
  [[], /usage/],
  [['n2'], /usage/],
  [['-p', '22', 'n2', 'true'], /-p is not an option/],
  [['bob@n2', 'true'], /runs as the user of its job/],
] as const) {
  test(`weft-rsh ${words.join(' ')} is refused`, () => {
    const read = readArguments(words, {});
    assert.match(read.ok ? '' : read.error, says);
  });
}

test('a process finds its nodes, itself and the key', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-steps-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'slots');
  writeFileSync(file, 'n1.lab slots=2\nn2.lab slots=2\nn22.lab slots=2\n');
  const environment = {
    WEFT_TASK_ID: '42[7]',
    WEFT_EPOCH: '3',
    WEFT_NODE_RANK: '1',
    WEFT_HOSTFILE_SLOTS: file,
    WEFT_STEP_KEY: 'k',
  };
  const read = readAllocation(environment);
  assert.ok(read.ok);
  const nodes = ['n1.lab', 'n2.lab', 'n22.lab'];
  assert.deepEqual(read.value, { epochId: '42[7]#3', nodes, self: 'n2.lab', key: 'k' });
  assert.deepEqual(findNode(read.value, 'n22.lab'), { ok: true, value: 'n22.lab' });
  assert.deepEqual(findNode(read.value, 'n2'), { ok: true, value: 'n2.lab' });
  const other = findNode(read.value, 'n3');
  assert.match(other.ok ? '' : other.error, /'n3' is not a node of this job; it has n1\.lab, n2/);
  const plain = readAllocation({ ...environment, WEFT_STEP_KEY: undefined });
  assert.match(plain.ok ? '' : plain.error, /submitted without --mpi/);
  const outside = readAllocation({});
  assert.match(outside.ok ? '' : outside.error, /inside a job only/);
});

test('frames are read however they are cut', () => {
  const bytes = Buffer.concat([
    frame('stdout', 'hello'),
    frame('stdin_end', ''),
    frame('end', '{}'),
  ]);
  for (let cut = 1; cut < bytes.length; cut += 1) {
    const reader = new FrameReader();
    const frames = [...reader.take(bytes.subarray(0, cut)), ...reader.take(bytes.subarray(cut))];
    const shown = frames.map(({ kind, body }) => `${kind} ${body}`);
    assert.deepEqual(shown, ['stdout hello', 'stdin_end ', 'end {}']);
  }
});

test('what is no frame is refused before it is waited for', () => {
  assert.throws(() => new FrameReader().take(Buffer.from('GET / HTTP/1.1\r\n')));
  const long = Buffer.alloc(5);
  long.writeUInt32BE(FRAME_BYTES_MAX + 1, 1);
  assert.throws(() => new FrameReader().take(long));
});

function frame(kind: (typeof KINDS)[number], text: string): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt8(KINDS.indexOf(kind));
  header.writeUInt32BE(text.length, 1);
  return Buffer.concat([header, Buffer.from(text)]);
}
