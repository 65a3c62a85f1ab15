// `--in` and `--out` of run and submit: what is asked of the head before, and what the job names.

import assert from 'node:assert/strict';
import { hash as hashOf } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { runWeft } from '../../../../../src/kernel/cli/main.ts';
import { parseFileSet } from '../../../../../src/kernel/files/file-set.ts';
import { type Answers, capture, FakeHead, refusal } from '../fake-head.ts';

const REPLY = { jobId: 42, taskCount: 1, directory: null, again: false };
const TWO = hashOf('sha256', '1,2\n');

interface Bench {
  readonly head: FakeHead;
  readonly file: (name: string, text: string) => string;
  /** What the head was sent as the submission's body. */
  readonly submitted: () => Record<string, unknown>;
  readonly asked: () => readonly string[];
}

/** A head that has every content. */
async function bench(t: TestContext, answers: Answers = {}): Promise<Bench> {
  const head = await FakeHead.start({
    'POST /v1/blobs/lacking': () => ({ json: { lacking: [] } }),
    'POST /v1/jobs': () => ({ json: REPLY }),
    ...answers,
  });
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-staged-'));
  t.after(async () => {
    await head[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });
  const bodies = (at: string) =>
    head.work.flatMap((asked) => (asked.path === at && asked.method === 'POST' ? asked.body : []));
  return {
    head,
    file(name, text) {
      writeFileSync(path.join(folder, name), text);
      return path.join(folder, name);
    },
    submitted: () => bodies('/v1/jobs').at(-1) as Record<string, unknown>,
    asked: () => bodies('/v1/blobs/lacking').flatMap((body) => (body as { hashes: [] }).hashes),
  };
}

test('inputs and patterns go with the submission, for a directory of its own', async (t) => {
  const { head, file, submitted, asked } = await bench(t);
  const input = `${file('a.csv', '1,2\n')}=in.csv`;
  const said = await head.weft('run', '--in', input, '--out', 'r/**', '--out', '!*.tmp', 'x');
  assert.deepEqual([said.code, said.out], [0, '42\n']);
  const { directory, staging } = submitted();
  assert.deepEqual(directory, { kind: 'private' });
  const { inputs, outputs } = staging as { inputs: string; outputs: string[] };
  assert.deepEqual(outputs, ['r/**', '!*.tmp']);
  const [first, list] = asked();
  assert.deepEqual([first, list], [TWO, inputs], 'the list is sent like a file');
});

test('the list that is sent is one that the head reads', async (t) => {
  let sent = '';
  const lacking = (body: unknown) =>
    (body as { hashes: string[] }).hashes.slice(1).map((hash) => ({ hash, offset: 0 }));
  const { head, file } = await bench(t, {
    'POST /v1/blobs/lacking': ({ body }) => ({ json: { lacking: lacking(body) } }),
    'POST /v1/blobs': ({ body }) => {
      sent = String(body);
      return { json: { count: 1 } };
    },
  });
  assert.equal((await head.weft('run', '--in', file('a.csv', '1,2\n'), 'x')).code, 0);
  const set = parseFileSet(sent.slice(sent.indexOf('{')));
  assert.ok(set.ok);
  const [entry] = set.value.common;
  assert.deepEqual(
    { ...entry, mode: 0 },
    { path: 'a.csv', kind: 'file', size: 4, mode: 0, sha256: TWO },
  );
});

test('a script says its files in #WEFT lines, and the command line adds to them', async (t) => {
  const { head, file, submitted, asked } = await bench(t);
  const [a, b] = [file('a', 'A'), file('b', 'B')];
  const script = file('s.sh', `#!/bin/sh\n#WEFT --in ${a} --out 'r/**'\ntrue\n`);
  assert.equal((await head.weft('submit', '--in', b, '--out', 'log', script)).code, 0);
  assert.deepEqual(asked().slice(0, 2), [hashOf('sha256', 'A'), hashOf('sha256', 'B')]);
  assert.deepEqual((submitted()['staging'] as { outputs: [] }).outputs, ['r/**', 'log']);
  const wrong = file('w.sh', '#!/bin/sh\n#WEFT --name x --in a=../b\ntrue\n');
  assert.match((await head.weft('submit', wrong)).error, /w\.sh:2:16: --in: 'a=\.\.\/b': /);
});

test('what is wrong is said before the head is asked anything', async (t) => {
  const { head, file } = await bench(t);
  const good = file('a', 'A');
  const missing = await head.weft('run', '--in', `${good}x`, '--in', `${good}y`, 'x');
  assert.equal(missing.code, 2);
  assert.match(missing.error, /ax' does not exist\..*\n--in: .*ay' does not exist/);
  const shared = await head.weft('run', '--in', good, '--chdir', '/tmp', 'x');
  assert.match(shared.error, /--in and --out are for a directory of its own, --chdir is for/);
  assert.equal(head.work.length, 0);
});

test('what the head has removed meanwhile is sent again, and not without end', async (t) => {
  let refusals = 1;
  const lost = refusal('files.lacking', 'failed_precondition', 'The head lacks 1.');
  const { head, file, asked } = await bench(t, {
    'POST /v1/jobs': () => {
      refusals -= 1;
      return refusals >= 0 ? { status: 409, json: lost } : { json: REPLY };
    },
  });
  const input = file('a', 'A');
  assert.equal((await head.weft('run', '--in', input, 'x')).out, '42\n');
  assert.equal(asked().length, 4, 'both contents, twice');
  refusals = 100;
  const never = await head.weft('run', '--in', input, 'x');
  assert.match(never.error, /The head lacks 1\./);
  assert.equal(never.code, 5);
});

test('--dry-run says what would go, and sends nothing', async (t) => {
  const { head, file } = await bench(t, {
    'POST /v1/blobs/lacking': () => ({ json: { lacking: [{ hash: TWO, offset: 1 }] } }),
    'POST /v1/jobs/rehearse': () => ({ json: { words: 'It would start at once.' } }),
  });
  const inputs = ['--in', file('a', '1,2\n'), '--in', file('b', 'B')];
  const said = await head.weft('run', '--dry-run', ...inputs, 'x');
  assert.equal(
    said.out,
    '2 files with 5 bytes would go with it; 1 of them with 3 bytes would be sent.\nIt would start at once.\n',
  );
  assert.deepEqual(
    head.work.map(({ path: at }) => at),
    ['/v1/blobs/lacking', '/v1/jobs/rehearse'],
  );
});

test('a file that goes before it is read is a usage failure with a hint, with --wait too', async (t) => {
  const { head, file, submitted } = await bench(t);
  const input = file('a.csv', '1,2\n');
  const program = file('own', '#!/bin/sh\n');
  chmodSync(program, 0o755);
  const argv = ['run', '--wait', '--in', 'a.csv', '--', './own'];
  // It is told that the program goes, too, between looking at the files and reading them.
  const onError = () => rmSync(input, { force: true });
  const typed = { program: 'weft', argv, onError, cwd: path.dirname(input) };
  const said = await capture(head.directory, typed, runWeft);
  assert.equal(said.code, 2, said.error);
  assert.match(
    said.error,
    /--in: cannot read \S+a\.csv: no such file.*\n {2}It was there a moment/,
  );
  assert.equal(submitted(), undefined);
});

test('a name with = below a file is told, not a crash', async (t) => {
  const { head, file } = await bench(t);
  const said = await head.weft('run', '--in', `${file('a', 'A')}/x=y`, 'x');
  assert.equal(said.code, 2, said.error);
  assert.match(said.error, /a\/x' does not exist/);
});

test('files go with a pool as they do with a job', async (t) => {
  const { head, file, asked } = await bench(t, {
    'POST /v1/pools': () => ({ json: { jobId: 7, name: null, again: false } }),
  });
  const input = `${file('a.csv', '1,2\n')}=in.csv`;
  const said = await head.weft('pool', 'start', '-n', '2', '--in', input, '--clean-env');
  assert.equal(said.out, 'Pool 7 is started: 2 workers.\n', said.error);
  const last = head.work.at(-1);
  assert.ok(last !== undefined);
  const { directory, staging } = last.body as { directory: object; staging: { inputs: string } };
  assert.deepEqual(directory, { kind: 'private' });
  assert.equal(staging.inputs, asked()[1]);
});
