// What `run`, `submit` and `logs` tell about files, arrays and other systems' words.

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { LOG_HEADERS } from '../../../../src/kernel/api/log-headers.ts';
import type { Submission } from '../../../../src/kernel/model/submission.ts';
import { type Answers, type Asked, FakeHead, refusal } from './fake-head.ts';
import { doneJob, jobView } from './views.ts';

const REPLY = { jobId: 42, taskCount: 1, directory: '/work', again: false };

function accepts(reply: object = {}, job = doneJob('failed', { code: 5 })): Answers {
  return {
    'POST /v1/jobs': () => ({ json: { ...REPLY, ...reply } }),
    'GET /v1/jobs/42/wait': () => ({ json: { job, task: null } }),
  };
}

const ELSEWHERE = refusal('log.elsewhere', 'failed_precondition', 'The output goes to a file.');

test('run --follow with an output file says where it is and ends as the job does', async () => {
  await using head = await FakeHead.start({
    ...accepts(),
    'GET /v1/jobs/42/logs': ({ query }) =>
      query['stream'] === 'stdout' ? { status: 409, json: ELSEWHERE } : { text: 'oh\n' },
  });
  const said = await head.weft('run', '--output', 'F', '-f', 'x');
  const where = 'weft: standard output goes to /work/F; it is not shown here\n';
  const ended = 'weft: job 42: failed (exit 5)\n';
  assert.deepEqual(said, { code: 5, out: '', error: `${where}oh\n${ended}` });
  const both = await head.weft('run', '--output', 'F', '--error', '/tmp/E', '-f', 'x');
  const too = 'weft: standard error goes to /tmp/E; it is not shown here\n';
  assert.deepEqual(both, { code: 5, out: '', error: where + too + ended });
});

test('a job outside shared directories says where its files are', async () => {
  await using head = await FakeHead.start(accepts({ directory: null }));
  const plain = await head.weft('run', 'x');
  assert.equal(plain.out, '42\n');
  const where =
    /job 42 runs in an empty directory .* shares \/work; output files are kept on the head: weft pull 42/;
  assert.match(plain.error, where);
  const output = await head.weft('run', '--output', 'F', 'x');
  assert.match(output.error, /its standard output does not go to F but to the head: weft logs 42/);
  const kept = 'weft: output files are kept on the head: weft pull 42\n';
  assert.equal((await head.weft('run', '--private', 'x')).error, kept);
  assert.equal((await head.weft('run', '--out', 'r/**', 'x')).error, kept);
  assert.equal((await head.weft('run', '--private', '--out', 'none', 'x')).error, '');
  // Whoever stays learns it at the end, and only when there is something.
  const stays = async (outputs: object | null) => {
    await using one = await FakeHead.start({
      ...accepts({ directory: null }, doneJob('completed', { code: 0 })),
      'GET /v1/jobs/42': () => ({ json: { ...jobView(), outputs } }),
    });
    return (await one.weft('run', '--private', '--wait', 'x')).error;
  };
  assert.equal(await stays(null), '');
  assert.equal(await stays({ tasks: 1, files: 1, bytes: 1, leftOut: 0, more: false }), kept);
  const none = await head.weft('run', '--out', 'none', 'x');
  assert.match(none.error, /files that it writes there are removed when it ends/);
});

test('an array that names one file is told that each task writes its own', async () => {
  await using head = await FakeHead.start(accepts());
  const one = await head.weft('run', '--array', '0-3', '--output', 'F', 'x');
  assert.equal(one.error, 'weft: each task writes a file of its own: /work/F.%a\n');
  assert.equal((await head.weft('run', '--array', '0-3', '--output', 'F%a', 'x')).error, '');
});

test('--follow shows all tasks of an array, each line with its index', async () => {
  await using head = await FakeHead.start({
    ...accepts(),
    'GET /v1/jobs/42[0]/logs': ({ query }) => ({ text: query['stream'] === 'stdout' ? 'a\n' : '' }),
    'GET /v1/jobs/42[2]/logs': ({ query }) => ({ text: query['stream'] === 'stdout' ? 'b\n' : '' }),
  });
  const said = await head.weft('run', '--array', '0,2', '-f', 'x');
  assert.equal(said.code, 5);
  assert.deepEqual(said.out.split('\n').sort(), ['', '0: a', '2: b']);
});

test('logs of a whole array come task by task, each line with its index', async () => {
  const { request } = jobView();
  await using head = await FakeHead.start({
    'GET /v1/jobs/42': () => ({ json: { array: '0-1', files: {}, request } }),
    'GET /v1/jobs/42[0]/logs': () => ({ text: 'a\nb' }),
    'GET /v1/jobs/42[1]/logs': () => ({ text: 'c\n' }),
  });
  const said = await head.weft('logs', '-o', '42');
  assert.deepEqual(said, { code: 0, out: '0: a\n0: b\n1: c\n', error: '' });
  const other = await head.weft('logs', '42[1]', '--index', '0');
  assert.deepEqual([other.code, other.out], [2, '']);
  assert.match(other.error, /--index: '0' is another task than 42\[1\]/);
  const bytes = await head.weft('logs', '42', '--limit', '5');
  assert.match(bytes.error, /count the bytes of one process; .*name one task of it, as 42\[0\]/);
});

test('logs of an array ask ahead for short outputs, and write all in order', async () => {
  const { request } = jobView();
  const long = Buffer.alloc(200_000, 'x\n');
  let count = 0;
  const asks = new EventEmitter();
  const all = once(asks, 'many').then(() => {});
  const answer = (bytes: Uint8Array, after?: Promise<void>) => (asked: Asked) => {
    count += 1;
    if (count === 16) asks.emit('many');
    const { offset = 0, limit = bytes.length } = asked.query;
    return { bytes: bytes.subarray(Number(offset), Number(limit)), ...(after && { after }) };
  };
  const rest = Array.from({ length: 18 }, (_, at) => at + 2);
  await using head = await FakeHead.start({
    'GET /v1/jobs/42': () => ({ json: { array: '0-19', files: {}, request } }),
    'GET /v1/jobs/42[0]/logs': answer(Buffer.from('a\n'), all),
    'GET /v1/jobs/42[1]/logs': answer(long),
    ...Object.fromEntries(
      rest.map((at) => [`GET /v1/jobs/42[${at}]/logs`, answer(Buffer.from(`${at}\n`))]),
    ),
  });
  const said = await head.weft('logs', '-o', '42');
  const lines = rest.map((at) => `${at}: ${at}\n`).join('');
  const wanted = `0: a\n${'1: x\n'.repeat(100_000)}${lines}`;
  assert.deepEqual([said.code, said.error, said.out === wanted], [0, '', true]);
});

test('the end of each stream is found by its size, and what is before it is told', async () => {
  const asked: unknown[] = [];
  const text = '0123456789';
  await using head = await FakeHead.start({
    'GET /v1/jobs/42': () => ({ json: { array: null, files: {}, request: jobView().request } }),
    'GET /v1/jobs/42/logs': ({ query: { stream, offset = '0', limit } }) => {
      asked.push([stream, offset, limit]);
      const headers = { [LOG_HEADERS.size]: String(text.length) };
      return { text: text.slice(Number(offset), limit === undefined ? 10 : 1), headers };
    },
  });
  const said = await head.weft('logs', '42', '-o', '--last', '4');
  assert.deepEqual([said.code, said.out], [0, '6789']);
  assert.match(said.error, /6 bytes before that are left out by --last/);
  assert.deepEqual(asked, [
    ['stdout', '0', '1'],
    ['stdout', '6', undefined],
  ]);
  assert.equal((await head.weft('logs', '42', '-o', '--last', '1K')).error, '');
  const both = await head.weft('logs', '42', '--last', '4', '--offset', '1');
  assert.match(both.error, /cannot be used with option '--offset/);
});

test('logs of a job with several processes are of all of them, and options choose', async () => {
  const request = { ...jobView().request, nodeCount: 2, processesPerNode: 2 };
  const wide = { array: null, files: { stderr: 'E' }, request };
  await using head = await FakeHead.start({
    'GET /v1/jobs/42': () => ({ json: wide }),
    'GET /v1/jobs/43': () => ({ json: { ...wide, files: {}, ranksPerNode: 2 } }),
    'GET /v1/jobs/42/logs': ({ query }) => ({ text: `${query['nodeRank']} ${query['rank']}\n` }),
    'GET /v1/jobs/43/logs': () => ({ text: 'all ranks\n' }),
  });
  const out = async (...words: string[]) => (await head.weft('logs', ...words)).out;
  assert.equal(await out('42'), '0.0: 0 0\n0.1: 0 1\n1.0: 1 0\n1.1: 1 1\n');
  assert.equal(await out('42', '--node', '1'), '1.0: 1 0\n1.1: 1 1\n');
  assert.equal(await out('42', '--rank', '1'), '0.1: 0 1\n1.1: 1 1\n');
  assert.equal(await out('42', '--node', '1', '--rank', '0', '--limit', '9'), '1 0\n');
  assert.equal(await out('43'), 'all ranks\n', 'they speak through the program on the first node');
  const unclear = await head.weft('logs', '42', '--offset', '9');
  assert.match(unclear.error, /choose it with --node and --rank/);
  const elsewhere = await head.weft('logs', '42', '-e');
  assert.match(elsewhere.error, /The output of 42 goes to E on its nodes, not to the head/);
  const both = await head.weft('logs', '42', '-a', '--node', '0', '--rank', '0');
  assert.equal(both.out, '0 0\n');
  assert.match(both.error, /The output of 42 goes to E/);
});

test('logs -a shows the stream that has no file, and says where the other one is', async () => {
  const { request } = jobView();
  for (const [file, left] of [
    ['stdout', 'stderr'],
    ['stderr', 'stdout'],
  ] as const) {
    await using head = await FakeHead.start({
      'GET /v1/jobs/42': () => ({ json: { array: null, files: { [file]: '/data/F' }, request } }),
      'GET /v1/jobs/42/logs': ({ query }) =>
        query['stream'] === file ? { status: 409, json: ELSEWHERE } : { text: 'said\n' },
    });
    const { code, out, error } = await head.weft('logs', '-a', '42');
    assert.equal(code, 0, error);
    const where = /^weft: The output of 42 goes to \/data\/F on its nodes, not to the head[^\n]*\n/;
    assert.match(error, where);
    const rest = error.replace(where, '');
    assert.deepEqual([out, rest], left === 'stdout' ? ['said\n', ''] : ['', 'said\n']);
  }
});

test('submit leaves a byte order mark out, which would hide the first line', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-script-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const script = path.join(folder, 'marked.sh');
  writeFileSync(script, '\uFEFF#!/bin/sh\n#WEFT --cpus 2\necho hi\n');
  await using head = await FakeHead.start(accepts());
  const { error, code } = await head.weft('submit', script);
  assert.equal(code, 0);
  assert.match(error, /marked\.sh begins with a byte order mark; it is left out/);
  const sent = head.work[0]?.body as Submission;
  assert.equal(sent.cpuCount, 2);
  assert.ok(sent.program.kind === 'script' && sent.program.text.startsWith('#!'));
});

for (const [argv, words] of [
  [['run', '--', 'cat', 'caf\uFFFD.txt'], /^weft: an argument has bytes that/],
  [
    ['run', '--chdir', '/data/caf\uFFFD', 'true'],
    /^weft: the name of the working directory has bytes/,
  ],
  [
    ['run', '--env', 'NAME=caf\uFFFD', 'true'],
    /^weft: the environment variable NAME has bytes .*\n.*env -u NAME/,
  ],
  [['run', '--name', 'caf\uFFFD', 'true'], /^weft: what stands at --name has bytes that/],
  [['run', '--output', '/tmp/caf\uFFFD.log', 'true'], /^weft: what stands at --output has bytes/],
  [['run', '--in', 'data=caf\uFFFD', 'true'], /^weft: what stands at --in has bytes that/],
  [['run', '--out', 'caf\uFFFD', 'true'], /^weft: what stands at --out has bytes that/],
  [['run', '--sweep', 'n=1', 'm=caf\uFFFD', '--', 'x', '{n}'], /^weft: what stands at --sweep has/],
  [['run', '--nodes-named', 'caf\uFFFD', 'x'], /^weft: what stands at --nodes-named has bytes/],
] as const) {
  test(`what is no UTF-8 is refused before anything is sent: weft ${argv.slice(0, 3).join(' ')}`, async () => {
    await using head = await FakeHead.start(accepts());
    const { error, code } = await head.weft(...argv);
    assert.equal(code, 2, error);
    assert.match(error, words);
    assert.deepEqual(head.work, []);
  });
}

test('a script that is no UTF-8 is refused with the line, and one that names U+FFFD is none', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-script-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const script = path.join(folder, 'old.sh');
  await using head = await FakeHead.start(accepts());
  writeFileSync(script, '#!/bin/sh\necho café\n', 'latin1');
  const { error, code } = await head.weft('submit', script);
  assert.equal(code, 2);
  assert.match(
    error,
    /old\.sh:2: the line has bytes that are no UTF-8\n.*iconv -f latin1 -t utf-8/,
  );
  assert.deepEqual(head.work, []);
  writeFileSync(script, "#!/bin/sh\ngrep '\uFFFD' data\n");
  assert.equal((await head.weft('submit', script)).code, 0);
});

test('submit puts Windows line ends right and points out the lines of other systems', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-script-'));
  const script = path.join(folder, 'sim.sh');
  writeFileSync(script, '#!/bin/sh\r\n#SBATCH -n 4\r\n#WEFT --cpus 2\r\necho hi\r\n');
  try {
    await using head = await FakeHead.start(accepts());
    const { error, code } = await head.weft('submit', script);
    assert.equal(code, 0);
    assert.match(error, /sim\.sh has Windows line endings/);
    assert.match(error, /sim\.sh: its #SBATCH line \(2\) is not read, its #WEFT lines are\n/);
    const sent = head.work[0]?.body as Submission;
    assert.deepEqual([sent.name, sent.cpuCount], ['sim.sh', 2]);
    assert.ok(sent.program.kind === 'script' && !sent.program.text.includes('\r'));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a file for output with a field that nobody fills in is refused', async () => {
  await using head = await FakeHead.start(accepts());
  const { code, error } = await head.weft('run', '--output', 'x/%A.log', '--', 'true');
  assert.deepEqual([code, head.work], [2, []]);
  assert.match(error, /--output: '%A' stands for nothing; there are %j job, %a index/);
  assert.equal((await head.weft('run', '--error', '%j_%a%%.log', '--', 'true')).code, 0);
});
