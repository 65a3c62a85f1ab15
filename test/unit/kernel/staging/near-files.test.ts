// Contents copied from files of a head on the same machine: only from those that it means, and only
// as their hash says.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { versionOf } from '../../../../src/kernel/files/verified.ts';
import type { BlobHash } from '../../../../src/kernel/model/blob.ts';
import { refuse } from '../../../../src/kernel/model/errors.ts';
import { failure } from '../../../../src/kernel/model/failure.ts';
import { NearFiles, NotHere } from '../../../../src/kernel/staging/near-files.ts';
import type { HeadAccess } from '../../../../src/kernel/transfer/head-access.ts';

const SIZE = 300_000;

function world(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-near-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const bytes = Buffer.alloc(SIZE, 'abc');
  const hash = createHash('sha256').update(bytes).digest('hex') as BlobHash;
  const file = path.join(folder, 'content');
  writeFileSync(file, bytes);
  const { dev, ino } = statSync(file, { bigint: true });
  const said = { hash, path: file, dev: String(dev), ino: String(ino) };
  const asked: number[] = [];
  const near = new NearFiles();
  const find = async (answer: () => unknown = () => ({ files: [said] }), size = SIZE) => {
    const call = (_route: string, { body }: { body: { hashes: string[] } }) => {
      asked.push(body.hashes.length);
      return Promise.resolve().then(answer);
    };
    const access = { head: () => Promise.resolve({ call }) } as unknown as HeadAccess;
    return near.find(access, [{ hash, size }]);
  };
  const to = path.join(folder, 'copy');
  return { hash, bytes, file, said, asked, find, to };
}

test('[F16] a content is copied from the file that the head names, once verified', async (t) => {
  const { hash, bytes, find, to } = world(t);
  const copy = (await find()).get(hash);
  assert.ok(copy !== undefined);
  for (const name of [to, `${to}2`]) {
    await copy(name);
    assert.ok(readFileSync(name).equals(bytes));
  }
  await assert.rejects(copy(to), { code: 'EEXIST' }, 'nothing is replaced');
});

test('[F16] the copy is a file of its own: what a task writes there changes nothing here', async (t) => {
  const { hash, bytes, file, find, to } = world(t);
  await (await find()).get(hash)?.(to);
  assert.notEqual(statSync(to).ino, statSync(file).ino);
  writeFileSync(to, 'other');
  assert.ok(readFileSync(file).equals(bytes));
});

test('[F16] a damaged file is no content, also one that was whole before', async (t) => {
  const { hash, file, find, to } = world(t);
  const copy = (await find()).get(hash);
  await copy?.(to);
  const { atime, mtime } = statSync(file);
  const bytes = readFileSync(file);
  bytes[7] = 0;
  writeFileSync(file, bytes);
  // The time of the last change that nobody can set tells it all the same.
  utimesSync(file, atime, mtime);
  await assert.rejects(async () => copy?.(`${to}2`), { code: 'blob.damaged' });
  appendFileSync(file, 'more');
  await assert.rejects(async () => copy?.(`${to}3`), { code: 'blob.damaged' });
});

test('[F16] what the head has hashed as it came is hashed here only once it is another', async (t) => {
  const { hash, file, said, find, to } = world(t);
  const bytes = Buffer.alloc(SIZE, 'xyz');
  writeFileSync(file, bytes);
  const verified = versionOf(statSync(file, { bigint: true }));
  const answer = () => ({ files: [{ ...said, verified }] });
  const copy = (await find(answer)).get(hash);
  await copy?.(to);
  assert.ok(readFileSync(to).equals(bytes), 'nobody has looked whether these are the bytes');
  // The same time and the same size: the system knows better.
  const { atime, mtime } = statSync(file);
  writeFileSync(file, bytes);
  utimesSync(file, atime, mtime);
  await assert.rejects(async () => copy?.(`${to}2`), { code: 'blob.damaged' });
});

test('[F16] another file in its place, or none, is not near', async (t) => {
  const { hash, file, find, to } = world(t);
  const copy = (await find()).get(hash);
  renameSync(file, `${file}.before`);
  await assert.rejects(async () => copy?.(to), NotHere);
  writeFileSync(file, readFileSync(`${file}.before`));
  await assert.rejects(async () => copy?.(to), NotHere);
  assert.equal(existsSync(to), false);
});

test('small contents are not asked for, and a head that gives no answer has none near', async (t) => {
  const { asked, find } = world(t);
  assert.equal((await find(undefined, 1000)).size, 0);
  assert.deepEqual(asked, []);
  const unknown = () => {
    throw failure(refuse('request.malformed', { what: 'no such route' }));
  };
  assert.equal((await find(unknown)).size, 0);
  assert.deepEqual(asked, [1]);
});
