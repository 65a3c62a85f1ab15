// `weft pull` against a head with prepared answers: what is fetched, what is left alone, and that
// nothing outside of the folder is touched, whatever the head says.

import assert from 'node:assert/strict';
import { hash as hashOf } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { frameHeader } from '../../../../src/kernel/api/blob-frames.ts';
import { markOf } from '../../../../src/kernel/connect/process-file.ts';
import type { ManifestEntry } from '../../../../src/kernel/files/manifest.ts';
import { formatRefusal, refuse } from '../../../../src/kernel/model/errors.ts';
import { checkWhole } from '../../../../src/kernel/transfer/pull/bring.ts';
import { checkEntries } from '../../../../src/kernel/transfer/pull/compare.ts';
import { type Answers, FakeHead, type Said } from './fake-head.ts';
import { doneJob, jobView } from './views.ts';

const AT = Date.UTC(2026, 0, 2, 3, 4, 5);

function file(at: string, content: string, mode = 0o644): ManifestEntry {
  const sha256 = hashOf('sha256', content) as never;
  return { path: at, kind: 'file', size: content.length, mode, modifiedAt: AT, sha256 };
}

function folder(at: string, mode = 0o755): ManifestEntry {
  return { path: at, kind: 'folder', size: 0, mode, modifiedAt: AT };
}

function link(at: string, target: string): ManifestEntry {
  return { path: at, kind: 'link', size: 0, mode: 0o777, modifiedAt: AT, target };
}

function manifest(entries: readonly ManifestEntry[], more: object = {}) {
  return {
    version: 1,
    jobId: 42,
    index: null,
    name: 'x',
    owner: 'alice',
    epoch: 1,
    outcome: 'completed',
    exitCode: 0,
    signal: null,
    detail: null,
    nodes: ['n1'],
    files: entries.length,
    bytes: 0,
    leftOut: 0,
    storedAt: AT,
    isPartial: false,
    startedAt: AT,
    endedAt: AT,
    missing: [],
    entries,
    ...more,
  };
}

interface Bench {
  readonly head: FakeHead;
  /** Where the command is typed. */
  readonly cwd: string;
  readonly pull: (...words: string[]) => Promise<Said>;
  /** All hashes whose contents were asked for. */
  readonly fetched: () => readonly string[];
  readonly read: (name: string) => string;
}

/** A head with these contents, and job 42 that has left these entries. */
async function bench(
  t: TestContext,
  contents: readonly string[],
  answers: Answers,
): Promise<Bench> {
  const byHash = new Map(contents.map((content) => [hashOf('sha256', content), content]));
  const frames = (hashes: readonly string[]) =>
    hashes.flatMap((hash) => {
      const content = Buffer.from(byHash.get(hash) ?? '');
      return [frameHeader(hash, content.length), content];
    });
  const head = await FakeHead.start({
    'POST /v1/blobs/read': ({ body }) => ({
      bytes: Buffer.concat(frames((body as { hashes: string[] }).hashes)),
    }),
    ...answers,
  });
  const cwd = mkdtempSync(path.join(tmpdir(), 'weft-pull-'));
  t.after(async () => {
    await head[Symbol.asyncDispose]();
    rmSync(cwd, { recursive: true });
  });
  return {
    head,
    cwd,
    pull: (...words) => head.weft('pull', '--save-dir', cwd, ...words),
    fetched: () =>
      head.work.flatMap((asked) =>
        asked.path === '/v1/blobs/read' ? (asked.body as { hashes: string[] }).hashes : [],
      ),
    read: (name) => readFileSync(path.join(cwd, name), 'utf8'),
  };
}

function plainJob(entries: readonly ManifestEntry[], more: object = {}): Answers {
  return {
    'GET /v1/jobs/42': () => ({ json: doneJob('completed', { code: 0 }) }),
    'GET /v1/jobs/42/outputs': () => ({ json: { tasks: [manifest([])], next: null } }),
    'GET /v1/jobs/42/outputs/0': () => ({ json: manifest(entries, more) }),
  };
}

const USUAL = [
  file('a.csv', '1,2\n', 0o640),
  folder('result', 0o555),
  folder('result/empty'),
  file('result/b', 'B'),
  file('result/again', 'B', 0o755),
  link('result/link', '../a.csv'),
];

test('files, folders, links, modes and times come as the job left them', async (t) => {
  const { pull, cwd, read, fetched } = await bench(t, ['1,2\n', 'B'], plainJob(USUAL));
  const said = await pull('42');
  assert.equal(said.code, 0, said.error);
  assert.match(said.out, /^Fetched 3 files with 6 bytes into \S+\/42\.\n$/);
  assert.deepEqual(
    [read('42/a.csv'), read('42/result/b'), read('42/result/again')],
    ['1,2\n', 'B', 'B'],
  );
  assert.equal(readlinkSync(path.join(cwd, '42/result/link')), '../a.csv');
  const mode = (name: string) => (statSync(path.join(cwd, name)).mode & 0o777).toString(8);
  assert.deepEqual(
    ['42/a.csv', '42/result/again', '42/result', '42/result/empty'].map(mode),
    ['640', '755', '755', '755'],
    'its owner can write to a folder',
  );
  assert.equal(statSync(path.join(cwd, '42/a.csv')).mtimeMs, AT);
  assert.equal(statSync(path.join(cwd, '42/result')).mtimeMs, AT);
  assert.equal(fetched().length, 2, 'equal contents travel once');
  assert.deepEqual(readdirSync(cwd), ['42'], 'nothing else is left');
});

test('what is there is not fetched again; what was changed, cut off or is missing is', async (t) => {
  const { pull, cwd, read, fetched } = await bench(t, ['1,2\n', 'B'], plainJob(USUAL));
  await pull('42');
  const before = fetched().length;
  assert.match((await pull('42')).out, /3 files in \S+\/42, all as the job left them/);
  assert.equal(fetched().length, before);
  writeFileSync(path.join(cwd, '42/a.csv'), '1,3\n');
  chmodSync(path.join(cwd, '42/a.csv'), 0o600);
  writeFileSync(path.join(cwd, '42/result/b'), '');
  rmSync(path.join(cwd, '42/result/again'));
  rmSync(path.join(cwd, '42/result/link'));
  const said = await pull('42');
  assert.match(
    said.out,
    /^Fetched 3 files with 6 bytes .*; 2 of them over others that were there\.\n$/,
  );
  assert.deepEqual([read('42/a.csv'), read('42/result/b')], ['1,2\n', 'B']);
  assert.ok(lstatSync(path.join(cwd, '42/result/link')).isSymbolicLink());
  rmSync(path.join(cwd, '42/a.csv'));
  assert.match((await pull('42')).out, /Fetched 1 file with 4 bytes .*; 2 were there already\.\n$/);
});

test('--dry-run lists with sizes, and writes nothing', async (t) => {
  const { pull, cwd, fetched } = await bench(t, [], plainJob(USUAL));
  const said = await pull('42', '--dry-run', '--glob', '*.csv', '--skip-folders');
  assert.match(said.out, /SIZE +HERE +FILE\n +4 +no +\S+\/42\/a\.csv\n$/);
  assert.match(said.error, /1 file with 4 bytes to fetch/);
  assert.deepEqual([fetched().length, readdirSync(cwd).length], [0, 0]);
  const json = await pull('42', '--dry-run', '-o', 'json', '--include', 'empty$');
  assert.deepEqual(
    JSON.parse(json.out).map(({ kind, size, here }: object & Record<string, unknown>) => [
      kind,
      size,
      here,
    ]),
    [
      ['folder', 0, 'missing'],
      ['folder', 0, 'missing'],
    ],
  );
  assert.match((await pull('42', '-o', 'json')).error, /--output is for --dry-run/);
});

test('patterns choose by the path in the job, and a wrong one is said', async (t) => {
  const { pull, cwd } = await bench(t, ['1,2\n', 'B'], plainJob(USUAL));
  await pull('42', '--include', '^result/', '--exclude', 'link|again', '--skip-folders');
  assert.deepEqual(readdirSync(path.join(cwd, '42'), { recursive: true }).sort(), [
    'result',
    'result/b',
  ]);
  const wrong = await pull('42', '--include', '(', '--glob', '../x');
  assert.equal(wrong.code, 2);
  assert.match(wrong.error, /--include '\(': .*\n--glob '\.\.\/x': /);
  const none = /^No file matches: only folders are in \S+\/42\.\n$/;
  assert.match((await pull('42', '--glob', 'none')).out, none);
  assert.match((await pull('42', '--include', 'link')).out, /^0 files in /, 'a link does');
  assert.match((await pull('42', '--glob', 'none', '--skip-folders')).out, /^Nothing matches\.\n$/);
});

test('each task of an array has its folder, and one of them can be named', async (t) => {
  const array = { ...jobView(), ...doneJob('failed', { code: 1 }), array: '0-2', taskCount: 3 };
  const one = (index: number, content: string, more: object = {}) =>
    manifest([file('r', content)], { index, ...more });
  const { pull, read, cwd } = await bench(t, ['zero', 'two'], {
    'GET /v1/jobs/42': () => ({ json: { ...array, taskCounts: { done: 2, running: 1 } } }),
    'GET /v1/jobs/42/outputs': ({ query }) => ({
      json:
        query['cursor'] === undefined
          ? { tasks: [one(0, 'zero')], next: 1 }
          : { tasks: [one(2, 'two')], next: null },
    }),
    'GET /v1/jobs/42/outputs/0': () => ({ json: one(0, 'zero') }),
    'GET /v1/jobs/42/outputs/2': () => ({
      json: one(2, 'two', {
        outcome: 'failed',
        isPartial: true,
        missing: [{ path: 'core', why: 'it is a pipe' }],
      }),
    }),
  });
  const said = await pull('42');
  assert.deepEqual([read('42/0/r'), read('42/2/r')], ['zero', 'two']);
  assert.match(said.out, /into 2 folders/);
  assert.match(said.error, /1 task of job 42 is not done; pull again for the rest/);
  assert.match(said.error, /42\[2\] ended as failed: its files may be incomplete/);
  assert.match(said.error, /42\[2\]: core was not kept: it is a pipe/);
  rmSync(path.join(cwd, '42'), { recursive: true });
  await pull('42[2]');
  assert.deepEqual(readdirSync(path.join(cwd, '42')), ['2']);
});

test('tasks that did not complete are one note together', async (t) => {
  const tasks = [0, 1, 2].map((index) =>
    manifest([file('r', 'x')], { index, outcome: 'failed', isPartial: true }),
  );
  const { pull } = await bench(t, ['x'], {
    'GET /v1/jobs/42': () => ({
      json: { ...jobView(), array: '0-2', taskCount: 3, taskCounts: { done: 3 } },
    }),
    'GET /v1/jobs/42/outputs': () => ({ json: { tasks, next: null } }),
    ...Object.fromEntries(
      tasks.map((json, index) => [`GET /v1/jobs/42/outputs/${index}`, () => ({ json })]),
    ),
  });
  const { error } = await pull('42');
  const notes = error.split('\n').filter((line) => line.includes('incomplete'));
  const words =
    'weft: 42[0] ended as failed, and 2 more tasks did not complete: their files may be incomplete';
  assert.deepEqual(notes, [words]);
});

test('[F14] what is whole of many tasks comes; what is not is named, with the exit code for it', async (t) => {
  const indices = [0, 1, 2, 3, 4];
  const array = { ...jobView(), ...doneJob('completed', { code: 0 }), array: '0-4', taskCount: 5 };
  const entries = [
    [file('r', 'zero'), file('same', 'damaged')],
    [file('r', 'damaged'), file('other', 'one')],
    [file('r', 'two')],
    [file('../r', 'three')],
    [file('r', 'four')],
  ];
  const damaged = formatRefusal(refuse('outputs.damaged', { task: '42[4]', what: 'cut' }));
  const { pull, read, cwd } = await bench(t, ['zero', 'one', 'two'], {
    'POST /v1/blobs/read': ({ body }) => {
      const known = new Map(['zero', 'one', 'two'].map((text) => [hashOf('sha256', text), text]));
      const { hashes } = body as { hashes: string[] };
      const frames = hashes.flatMap((hash) => {
        const content = Buffer.from(known.get(hash) ?? 'otherwise');
        return [frameHeader(hash, content.length), content];
      });
      return { bytes: Buffer.concat(frames) };
    },
    'GET /v1/jobs/42': () => ({ json: { ...array, taskCounts: { done: 5 } } }),
    'GET /v1/jobs/42/outputs': () => ({
      json: { tasks: indices.map((index) => manifest([], { index })), next: null },
    }),
    ...Object.fromEntries(
      indices
        .slice(0, 4)
        .map((index) => [
          `GET /v1/jobs/42/outputs/${index}`,
          () => ({ json: manifest(entries[index] ?? [], { index }) }),
        ]),
    ),
    'GET /v1/jobs/42/outputs/4': () => ({
      status: 409,
      json: { error: { code: 'outputs.damaged', kind: 'failed_precondition', message: damaged } },
    }),
  });
  mkdirSync(path.join(cwd, '42/1'), { recursive: true });
  writeFileSync(path.join(cwd, '42/1/r'), 'of before');
  const said = await pull('42');
  assert.equal(said.code, 5, said.error);
  assert.deepEqual([read('42/0/r'), read('42/1/other'), read('42/2/r')], ['zero', 'one', 'two']);
  assert.equal(read('42/1/r'), 'of before', 'what was there stays');
  assert.match(said.out, /Fetched 3 files with 10 bytes/);
  assert.match(said.error, /All that is whole was fetched; 4 did not come:/);
  assert.match(said.error, /42\/0\/same: its content is damaged on the head/);
  assert.match(said.error, /42\/1\/r: its content is damaged on the head/);
  assert.match(said.error, /42\[3\]: the list of its files is wrong/);
  assert.match(said.error, /42\[4\]: the list of its files is wrong/);
  assert.deepEqual(readdirSync(path.join(cwd, '42/0')), ['r'], 'and nothing in part');
  const nothing = { placed: [], flawed: [] };
  assert.throws(() => checkWhole(nothing, ['42[4]: …'], ''), { code: 'outputs.partial' });
});

test('a list that leads outside is refused, and nothing is written', async (t) => {
  const lists = [
    [file('../outside', 'x')],
    [file('/tmp/outside', 'x')],
    [link('out', '..'), file('ok', 'x')],
    [link('in', '.'), file('in/x', 'x')],
    [file('a', 'x'), file('a', 'y')],
    [{ ...file('a', 'x'), mode: 0o4755 }],
  ];
  for (const entries of lists) {
    const { pull, cwd } = await bench(t, ['x', 'y'], plainJob(entries));
    assert.throws(() => checkEntries({ task: '42', entries }), { code: 'outputs.damaged' });
    const said = await pull('42');
    assert.match(said.error, /The list of output files of 42 is wrong: .* Nothing was written\./);
    assert.deepEqual(readdirSync(cwd), []);
  }
});

test('links that lie in the folder are not followed', async (t) => {
  const { pull, cwd } = await bench(t, ['1,2\n', 'B'], plainJob(USUAL));
  const outside = path.join(cwd, 'outside');
  mkdirSync(path.join(cwd, '42'));
  mkdirSync(outside);
  writeFileSync(path.join(outside, 'kept'), 'mine');
  symlinkSync(outside, path.join(cwd, '42/result'));
  symlinkSync(path.join(outside, 'kept'), path.join(cwd, '42/a.csv'));
  const said = await pull('42');
  assert.match(said.error, /\/42\/result: a link is where a folder should be/);
  assert.deepEqual(readdirSync(outside), ['kept']);
  rmSync(path.join(cwd, '42/result'));
  assert.equal((await pull('42')).code, 0);
  assert.equal(readFileSync(path.join(outside, 'kept'), 'utf8'), 'mine', 'the link was replaced');
  assert.ok(lstatSync(path.join(cwd, '42/a.csv')).isFile());
});

test('a link or a file in place of a folder above the files is told, and not followed', async (t) => {
  const array = { ...doneJob('completed', { code: 0 }), array: '0-0', taskCount: 1 };
  const listed = { ...manifest([file('r', 'zero'), file('deep/er/s', 'zero')]), index: 0 };
  const { pull, cwd } = await bench(t, ['zero'], {
    'GET /v1/jobs/42': () => ({ json: { ...array, taskCounts: { done: 1 } } }),
    'GET /v1/jobs/42/outputs': () => ({ json: { tasks: [listed], next: null } }),
    'GET /v1/jobs/42/outputs/0': () => ({ json: listed }),
  });
  const outside = path.join(cwd, 'outside');
  mkdirSync(outside);
  const missing = path.join(outside, 'missing');
  for (const at of ['42', '42/0', '42/0/deep', '42/0/deep/er']) {
    const full = path.join(cwd, at);
    mkdirSync(path.dirname(full), { recursive: true });
    for (const target of [outside, missing, null]) {
      if (target === null) writeFileSync(full, 'mine');
      else symlinkSync(target, full);
      for (const words of [[], ['--dry-run']]) {
        const said = await pull('42', ...words);
        const kind = target === null ? 'file' : 'link';
        const what = `weft: ${full}: a ${kind} is where a folder should be\n`;
        assert.ok(said.error.startsWith(what), said.error);
        assert.equal(said.code, 2);
        assert.match(said.error, /Move it away, or name another --save-dir/);
      }
      rmSync(full);
    }
  }
  assert.deepEqual(readdirSync(outside), []);
  assert.equal((await pull('42')).code, 0, 'a folder is no hindrance');
});

test('--save-dir may be a link; a folder that cannot be made is told at once', async (t) => {
  const { head, cwd, read } = await bench(t, ['1,2\n', 'B'], plainJob(USUAL));
  mkdirSync(path.join(cwd, 'real'));
  symlinkSync('real', path.join(cwd, 'named'));
  const saved = await head.weft('pull', '42', '--save-dir', path.join(cwd, 'named'));
  assert.equal(saved.code, 0, saved.error);
  assert.equal(read('real/42/a.csv'), '1,2\n');
  for (const place of ['/proc/x', '/proc/x/y']) {
    const said = await head.weft('pull', '42', '--save-dir', place);
    assert.equal(said.code, 2);
    assert.match(said.error, /^weft: cannot write \/proc\/x: no folder can be made in \/proc\n/);
  }
});

test('a folder where a file should be, and a file where a folder should be, are all told', async (t) => {
  const { pull, cwd } = await bench(t, ['1,2\n', 'B'], plainJob(USUAL));
  mkdirSync(path.join(cwd, '42/a.csv'), { recursive: true });
  writeFileSync(path.join(cwd, '42/result'), 'mine');
  const said = await pull('42');
  assert.equal(said.code, 2);
  assert.match(
    said.error,
    /a\.csv: a folder is where a file should be\n.*result: a file is where a folder/,
  );
  assert.match(said.error, /Move it away, or name another --save-dir/);
  assert.equal(said.error.match(/should be/g)?.length, 2, 'once for all that would be in it');
});

test('a second pull into the same folder is told to wait', async (t) => {
  const { pull, cwd } = await bench(t, [], plainJob(USUAL));
  // A process that lives: the one that started this test.
  const holder = JSON.stringify(markOf(process.ppid));
  writeFileSync(path.join(cwd, '.42.pull.lock'), holder);
  const said = await pull('42');
  assert.equal(said.code, 5);
  const details = { job: '42', folder: cwd, pid: String(process.ppid) };
  assert.ok(said.error.includes(formatRefusal(refuse('pull.busy', details))), said.error);
  assert.ok(!existsSync(path.join(cwd, '42')));
});

test('a job that ended just now has its files a moment later', async (t) => {
  let looks = 0;
  const { pull, read } = await bench(t, ['1,2\n', 'B'], {
    ...plainJob(USUAL),
    'GET /v1/jobs/42': () => ({
      json: { ...doneJob('completed', { code: 0 }), directory: null, endedAt: Date.now() },
    }),
    'GET /v1/jobs/42/outputs': () => {
      looks += 1;
      return { json: { tasks: looks < 3 ? [] : [manifest([])], next: null } };
    },
  });
  assert.equal((await pull('42')).code, 0);
  assert.deepEqual([read('42/a.csv'), looks], ['1,2\n', 3]);
});

test('a job without files says so, and a place that cannot be written is one clear error', async (t) => {
  const none = {
    'GET /v1/jobs/42': () => ({ json: { ...jobView(), id: 42, state: 'running' } }),
    'GET /v1/jobs/42/outputs': () => ({ json: { tasks: [], next: null } }),
  };
  const empty = await bench(t, [], none);
  const said = await empty.pull('42');
  assert.equal(said.code, 3);
  assert.match(said.error, /No files of job 42 are kept\.\n.*It is running; files are kept when/);
  const { head, cwd } = await bench(t, ['1,2\n', 'B'], plainJob(USUAL));
  writeFileSync(path.join(cwd, 'file'), '');
  const wrong = await head.weft('pull', '42', '--save-dir', path.join(cwd, 'file/below'));
  assert.match(wrong.error, /cannot write \S+\/file\/below: a part of its path is not a directory/);
  const dry = await head.weft('pull', '42', '--dry-run', '--save-dir', path.join(cwd, 'file'));
  assert.match(dry.error, /cannot look at \S+\/file\/42: a part of its path is not a directory/);
  assert.equal(dry.code, 2);
});
