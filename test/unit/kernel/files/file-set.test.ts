// Lists of files: what is written is read again, and what would lead outside or twice to one place
// is not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type FileEntry, pathFlaw, togetherFlaw } from '../../../../src/kernel/files/entry.ts';
import {
  entriesFor,
  type FileSet,
  formatFileSet,
  hashesOf,
  ownFiles,
  parseFileSet,
} from '../../../../src/kernel/files/file-set.ts';
import type { BlobHash } from '../../../../src/kernel/model/blob.ts';

const A = 'a'.repeat(64) as BlobHash;
const B = 'b'.repeat(64) as BlobHash;

function file(path: string, sha256: BlobHash = A): FileEntry {
  return { path, kind: 'file', size: 5, mode: 0o644, sha256 };
}

function folder(path: string): FileEntry {
  return { path, kind: 'folder', size: 0, mode: 0o755 };
}

function link(path: string, target: string): FileEntry {
  return { path, kind: 'link', size: 0, mode: 0o777, target };
}

function reading(common: readonly unknown[], tasks?: Record<string, unknown>): string {
  const text = JSON.stringify({ version: 1, common, ...(tasks === undefined ? {} : { tasks }) });
  const read = parseFileSet(text);
  return read.ok ? 'fine' : read.error;
}

const name = fc.constantFrom('a', 'b', 'c d', 'ä', 'x.y');
const entry = fc
  .tuple(fc.array(name, { minLength: 1, maxLength: 3 }), fc.constantFrom(A, B))
  .map(([names, hash]) => file(names.join('/'), hash));

test('what is written is read as it was, and equal lists have equal texts', () => {
  const lists = fc.uniqueArray(entry, { selector: ({ path }) => path });
  fc.assert(
    fc.property(lists, lists, (common, own) => {
      const set: FileSet = { version: 1, common, tasks: { 3: own } };
      const text = formatFileSet(set);
      assert.equal(
        formatFileSet({ version: 1, common: common.toReversed(), tasks: { 3: own } }),
        text,
      );
      const read = parseFileSet(text);
      if (!read.ok) return assert.match(read.error, /twice|lies in/);
      assert.deepEqual(new Set(entriesFor(read.value, 3)), new Set([...common, ...own]));
      assert.deepEqual(new Set(entriesFor(read.value, 4)), new Set(common));
    }),
  );
});

test('a list that is read never leads outside, and no two entries to one place', () => {
  const parts = fc.constantFrom('a', 'b', '..', '.', '', '/', 'c\0');
  const any = fc
    .tuple(fc.array(parts, { maxLength: 4 }), fc.constantFrom('file', 'link', 'folder'))
    .map(([names, kind]) => ({ ...file(names.join('/')), kind, target: names.join('/') }));
  fc.assert(
    fc.property(fc.array(any, { maxLength: 4 }), (common) => {
      if (reading(common) !== 'fine') return;
      const paths = common.map(({ path }) => path);
      assert.equal(new Set(paths).size, paths.length);
      for (const path of paths) assert.doesNotMatch(`/${path}/`, /\/\/|\/\.\.?\/|\0/);
    }),
  );
});

test('paths that lead outside, and links that do, are refused by name', () => {
  const wrong: readonly [unknown, RegExp][] = [
    [file('../a'), /"\.\.\/a" has a part '\.\.'/],
    [file('/etc/passwd'), /"\/etc\/passwd" is not relative/],
    [file('a//b'), /has a part ''/],
    [file(''), /a path is empty/],
    [file('a\0'), /is no path/],
    [file('\ud800'), /is no path/],
    [file('x'.repeat(256)), /has a name that is too long/],
    [file('x/'.repeat(2500)), /is too long/],
    [link('a', '../b'), /"a" is a link that leads outside/],
    [link('a', '/b'), /"a" is a link that leads outside/],
    [link('a', 'b/../c'), /"a" is a link that leads outside/],
    [link('a', ''), /"a" is a link that leads outside/],
    [{ ...file('a'), mode: 0o4755 }, /"a" has no mode from 0 to 0777/],
    [{ ...file('a'), size: -1 }, /"a" has no size/],
    [{ ...file('a'), sha256: 'A'.repeat(64) }, /"a" has no SHA-256/],
    [{ ...file('a'), kind: 'fifo' }, /"a" is neither file nor folder nor link/],
    [null, /an entry is no object/],
    [{}, /an entry has no path/],
  ];
  for (const [entry, words] of wrong) assert.match(reading([entry]), words);
  assert.equal(reading([link('x/a', '../b'), file('b')]), 'fine');
});

test('nothing is there twice, or inside of what is no folder', () => {
  assert.match(reading([file('a'), file('a')]), /"a" is there twice/);
  assert.match(reading([file('a'), file('a/b/c')]), /"a\/b\/c" lies in "a", which is a file/);
  assert.match(reading([link('a', 'b'), file('a/b')]), /"a\/b" lies in "a", which is a link/);
  assert.equal(reading([folder('a'), file('a/b')]), 'fine');
  assert.equal(reading([file('ab'), file('a/b')]), 'fine');
});

test('entries together are judged as one by one with each other', () => {
  const name = fc.constantFrom('a', 'b', 'a0', 'a-');
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
  const kind = fc.constantFrom<FileEntry['kind']>('file', 'folder', 'link');
  const entry = fc.record({ path, kind }).map((one): FileEntry => ({ ...one, size: 0, mode: 0 }));
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 6 }), (entries) => {
      const clash = entries.some((a, at) =>
        entries.some((b, other) => {
          if (at === other) return false;
          return a.path === b.path || (a.kind !== 'folder' && b.path.startsWith(`${a.path}/`));
        }),
      );
      assert.equal(togetherFlaw(entries) !== null, clash);
    }),
  );
});

test('a file lies in no more than 200 folders', () => {
  assert.equal(pathFlaw(`${'d/'.repeat(200)}f`), null);
  assert.match(pathFlaw(`${'d/'.repeat(201)}f`) ?? '', /too many folders/);
});

test("a task's own files must fit to the common ones; a folder may be named by both", () => {
  assert.match(
    reading([file('a')], { 0: [file('b')], 7: [file('a')] }),
    /task 7: "a" is there twice/,
  );
  assert.match(reading([file('a')], { 7: [file('a/b')] }), /task 7: "a\/b" lies in "a"/);
  assert.match(reading([file('a/b')], { 7: [file('a')] }), /task 7: "a\/b" lies in "a"/);
  assert.equal(reading([folder('a'), file('a/b')], { 7: [folder('a'), file('a/c')] }), 'fine');
  const set = parseFileSet(
    formatFileSet({ version: 1, common: [folder('a')], tasks: { 7: [folder('a'), file('a/c')] } }),
  );
  assert.ok(set.ok);
  assert.deepEqual(
    entriesFor(set.value, 7).map(({ path }) => path),
    ['a', 'a/c'],
  );
});

test('a text that is no list says so', () => {
  const wrong: readonly [string, RegExp][] = [
    ['{"version":1,"common":[', /not whole/],
    [' '.repeat(64 * 1_048_576 + 1), /too long/],
    ['[]', /no known version/],
    ['{"version":2,"common":[]}', /no known version/],
    ['{"version":1}', /is none/],
    ['{"version":1,"common":[],"tasks":[]}', /is none/],
    ['{"version":1,"common":[],"tasks":{"-1":[]}}', /'-1' has no list/],
    ['{"version":1,"common":[],"tasks":{"01":[]}}', /'01' has no list/],
    ['{"version":1,"common":[],"tasks":{"1":{}}}', /'1' has no list/],
  ];
  for (const [text, words] of wrong) {
    const read = parseFileSet(text);
    assert.ok(!read.ok);
    assert.match(read.error, words);
  }
});

test('more entries than may be are refused, over all lists together', () => {
  const many = Array.from({ length: 60_000 }, (_, at) => file(`f${at}`));
  assert.match(reading(many, { 0: many }), /120000 files are too many; 100000 at most/);
});

test('what only one task has is told from what others have too', () => {
  const tasks = { 3: [file('own', B), file('same', A), folder('f'), link('l', 'own')] };
  const set: FileSet = { version: 1, common: [file('common', A)], tasks };
  assert.deepEqual(
    ownFiles(set, 3).map(({ path }) => path),
    ['own'],
  );
  assert.deepEqual(ownFiles(set, 4), []);
});

test('every content is named once, whatever names it', () => {
  const tasks = { 1: [file('b', B)], 2: [file('c', A)] };
  const named = hashesOf({ version: 1, common: [file('a', A), folder('d')], tasks });
  assert.deepEqual([...named.keys()], [A, B]);
});
