// `run`, `submit`, `wait`: what is submitted, and with which exit code they end.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { JobView } from '../../../../src/kernel/api/jobs.ts';
import { runWeft } from '../../../../src/kernel/cli/main.ts';
import type { Submission } from '../../../../src/kernel/model/submission.ts';
import { type Answers, capture, FakeHead, refusal } from './fake-head.ts';
import { doneJob, jobView, nodeView } from './views.ts';

const SUBMITTED = { jobId: 42, taskCount: 1, directory: '/work', again: false };
const ACCEPTS: Answers = { 'POST /v1/jobs': () => ({ json: SUBMITTED }) };

function submitted(head: FakeHead): Submission {
  return head.work.find((asked) => asked.path === '/v1/jobs')?.body as Submission;
}

test('run prints the job id and sends words as they are', async () => {
  await using head = await FakeHead.start(ACCEPTS);
  const said = await head.weft('run', '-n', '2', './x.sh', '-n', '3', 'a b');
  assert.deepEqual(said, { code: 0, out: '42\n', error: '' });
  const { program, nodeCount, name, directory } = submitted(head);
  assert.deepEqual(program, { kind: 'argv', argv: ['./x.sh', '-n', '3', 'a b'] });
  assert.deepEqual([nodeCount, name], [2, undefined]);
  assert.deepEqual(directory, { kind: 'auto', path: '/work' });
});

test('run takes one word with blanks as a line for the shell', async () => {
  await using head = await FakeHead.start(ACCEPTS);
  await head.weft('run', '--', 'sleep 1 && date');
  assert.deepEqual(submitted(head).program, { kind: 'shell', line: 'sleep 1 && date' });
});

test('run sends every option as a field of the submission', async () => {
  await using head = await FakeHead.start(ACCEPTS);
  const said = await head.weft(
    ...[
      'run',
      '--array',
      '0-99:2%10',
      '--after',
      '7',
      '--after',
      '8:any',
      '--nice',
      '-5',
      '--hold',
    ],
    ...['--on-node-loss', 'lease=30m', '--no-requeue', '--retries', '2', '--env', 'A=b=c'],
    ...['--clean-env', '--chdir', 'sub', '--output', '%j.%a.out', '-p', '3', '--cpus', '0'],
    ...['--memory', '2G', '--gpus', '1', '--resource', 'lic=2', '--needs', 'ssd', '--exclusive'],
    ...['--nodes-named', 'n1,n2', '-t', '1h30m', '--partition', 'fast', '--umask', '027', 'true'],
  );
  assert.equal(said.error, '');
  const { array, ...rest } = submitted(head);
  assert.equal(array?.indices.slice(0, 5), '0,2,4');
  assert.equal(array?.runningMax, 10);
  assert.deepEqual(rest, {
    program: { kind: 'argv', argv: ['true'] },
    environment: { A: 'b=c' },
    directory: { kind: 'shared', path: '/work/sub' },
    files: { stdout: '%j.%a.out' },
    processesPerNode: 3,
    cpuCount: 0,
    memoryBytes: 2 * 1024 ** 3,
    gpuCount: 1,
    counted: { lic: 2 },
    labels: ['ssd'],
    nodeNames: ['n1', 'n2'],
    exclusive: true,
    walltimeMs: 5_400_000,
    dependencies: [
      { jobId: 7, condition: 'ok' },
      { jobId: 8, condition: 'any' },
    ],
    nice: -5,
    held: true,
    onNodeLoss: { kind: 'lease', leaseMs: 1_800_000 },
    requeue: false,
    retriesMax: 2,
    partition: 'fast',
    umask: 0o027,
  });
});

test('run names the option whose value is wrong, and asks nobody', async () => {
  await using head = await FakeHead.start(ACCEPTS);
  const said = await head.weft('run', '--memory', '512', 'true');
  assert.equal(said.code, 2);
  assert.equal(said.error, "weft: --memory: '512' has no unit; write 512M or 512G\n");
  assert.deepEqual(head.asked, []);
});

const ENDS: readonly (readonly [JobView, number])[] = [
  [doneJob('completed', { code: 0 }), 0],
  [doneJob('failed', { code: 3 }), 3],
  [doneJob('failed', { signal: 9 }), 137],
  [doneJob('timeout'), 124],
  [doneJob('cancelled'), 143],
  [doneJob('node_fail'), 123],
  [doneJob('launch_failed', null, 'cannot execute ./x: No such file (ENOENT)'), 127],
  [doneJob('launch_failed', null, 'cannot execute ./x: Permission denied (EACCES)'), 126],
];

for (const [job, code] of ENDS) {
  const how = `${job.outcome?.kind} ${JSON.stringify(job.exit)} ${job.outcome?.detail ?? ''}`;
  test(`run --wait and wait exit with ${code} for ${how}`, async () => {
    const wait = () => ({ json: { job, task: null } });
    await using head = await FakeHead.start({ ...ACCEPTS, 'GET /v1/jobs/42/wait': wait });
    assert.equal((await head.weft('run', '--wait', 'x')).code, code);
    assert.equal((await head.weft('wait', '42')).code, code);
  });
}

test('run --wait asks again after a long poll without an end', async () => {
  let polls = 0;
  const timeout = refusal('wait.timeout', 'deadline_exceeded', 'Not finished.');
  const wait = () => {
    polls += 1;
    if (polls < 3) return { status: 504, json: timeout };
    return { json: { job: doneJob('completed'), task: null } };
  };
  await using head = await FakeHead.start({ ...ACCEPTS, 'GET /v1/jobs/42/wait': wait });
  assert.deepEqual(await head.weft('run', '--wait', 'x'), { code: 0, out: '', error: '' });
  assert.equal(polls, 3);
});

for (const state of ['pending', 'running'] as const) {
  test(`run --wait tells after a while why a job waits: one that is ${state}`, async (context) => {
    let polls = 0;
    const looked = Promise.withResolvers<void>();
    const answers: Answers = {
      ...ACCEPTS,
      'GET /v1/jobs/42': () => {
        if (state === 'running') setImmediate(looked.resolve);
        return { json: { ...jobView({ state }), environment: null, script: null } };
      },
      'GET /v1/jobs/42/why': () => {
        setImmediate(looked.resolve);
        const words = 'It is pending: n1 is drained (mine).\nPriority 0.';
        return { json: { state, reason: null, words } };
      },
      // What was told before has been read by the time of the last poll.
      'GET /v1/jobs/42/wait': () => {
        polls += 1;
        if (polls === 1) context.mock.timers.tick(10_000);
        const timeout = refusal('wait.timeout', 'deadline_exceeded', 'Not finished.');
        if (polls < 20) return { status: 504, json: timeout, after: looked.promise };
        return { json: { job: doneJob('completed'), task: null } };
      },
    };
    await using head = await FakeHead.start(answers);
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const { code, out, error } = await head.weft('run', '--wait', 'x');
    assert.deepEqual([code, out], [0, '']);
    assert.equal(error, state === 'running' ? '' : 'weft: job 42 waits: n1 is drained (mine).\n');
  });
}

test('run --wait says that a job is suspended', async (context) => {
  let polls = 0;
  const looked = Promise.withResolvers<void>();
  const answers: Answers = {
    ...ACCEPTS,
    'GET /v1/jobs/42': () => {
      return { json: { ...jobView({ state: 'suspended' }), environment: null, script: null } };
    },
    'GET /v1/jobs/42/why': () => {
      setImmediate(looked.resolve);
      const words = 'It is suspended on n1 since 2026-01-01T10:00:00Z. Node n1 is paused by anna.';
      return { json: { state: 'suspended', reason: null, words } };
    },
    // What was told before has been read by the time of the last poll.
    'GET /v1/jobs/42/wait': () => {
      polls += 1;
      if (polls === 1) context.mock.timers.tick(5000);
      const timeout = refusal('wait.timeout', 'deadline_exceeded', 'Not finished.');
      if (polls < 20) return { status: 504, json: timeout, after: looked.promise };
      return { json: { job: doneJob('completed'), task: null } };
    },
  };
  await using head = await FakeHead.start(answers);
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { code, out, error } = await head.weft('run', '--wait', 'x');
  assert.deepEqual([code, out], [0, '']);
  assert.equal(error, 'weft: job 42 is suspended on n1. Node n1 is paused by anna.\n');
});

test('logs --follow says that a job is suspended', async (context) => {
  const looked = Promise.withResolvers<void>();
  let asked = 0;
  const job = { ...jobView({ state: 'suspended' }), environment: null, script: null, files: {} };
  await using head = await FakeHead.start({
    'GET /v1/jobs/42': () => ({ json: job }),
    'GET /v1/jobs/42/why': () => {
      const words = 'It is suspended on n1 since 2026-01-01T10:00:00Z.';
      return { json: { state: 'suspended', reason: null, words } };
    },
    'GET /v1/jobs/42/logs': () => {
      asked += 1;
      if (asked === 2) context.mock.timers.tick(5000);
      return { text: '', after: looked.promise };
    },
  });
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const argv = ['logs', '-f', '42'];
  const invocation = { program: 'weft', argv, onError: () => looked.resolve() } as const;
  const { error } = await capture(head.directory, invocation, runWeft);
  assert.equal(error, 'weft: job 42 is suspended on n1.\n');
});

test('wait --timeout exits with 8 and says that the job is not affected', async () => {
  const timeout = refusal('wait.timeout', 'deadline_exceeded', 'Not finished.');
  const wait = () => ({ status: 504, json: timeout });
  await using head = await FakeHead.start({ 'GET /v1/jobs/42/wait': wait });
  const said = await head.weft('wait', '--timeout', '50ms', '42');
  assert.deepEqual(said, {
    code: 8,
    out: '',
    error: 'weft: 42: The wait ended after 0.05 s; the job is not affected.\n',
  });
});

test('run --wait ends with 125 when it is refused, run alone with the code of the refusal', async () => {
  const refused = refusal('label.unknown', 'invalid_argument', 'No node has the label x.');
  const answers = { 'POST /v1/jobs': () => ({ status: 400, json: refused }) };
  await using head = await FakeHead.start(answers);
  assert.equal((await head.weft('run', 'true')).code, 2);
  const said = await head.weft('run', '--wait', 'true');
  assert.deepEqual(said, { code: 125, out: '', error: 'weft: No node has the label x.\n' });
});

test('run --follow copies both streams and then exits as the job did', async () => {
  await using head = await FakeHead.start({
    ...ACCEPTS,
    'GET /v1/jobs/42/logs': ({ query }) => ({ text: `from ${query['stream']}\n` }),
    'GET /v1/jobs/42/wait': () => ({ json: { job: doneJob('failed', { code: 5 }), task: null } }),
  });
  const said = await head.weft('run', '-f', 'x');
  const error = 'from stderr\nweft: job 42: failed (exit 5)\n';
  assert.deepEqual(said, { code: 5, out: 'from stdout\n', error });
});

test('[S8] a submission whose answer is lost is sent again with the same key', async () => {
  let tries = 0;
  const answers: Answers = {
    'POST /v1/jobs': () => {
      tries += 1;
      const starting = refusal('head.starting', 'unavailable', 'The head is reading its journal.');
      return tries < 3 ? { status: 503, json: starting } : { json: SUBMITTED };
    },
  };
  await using head = await FakeHead.start(answers);
  assert.equal((await head.weft('run', 'true')).out, '42\n');
  const keys = head.work.map((asked) => asked.headers['idempotency-key']);
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
});

function withScript(text: string): Disposable & { readonly file: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-cli-test-'));
  const file = path.join(folder, 'job.sh');
  writeFileSync(file, text);
  return { file, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

test('submit reads the #WEFT lines of a script, and the command line wins', async () => {
  await using head = await FakeHead.start(ACCEPTS);
  using script = withScript(
    '#!/bin/bash\n#WEFT --cpus 2 --name "my job"\n# other\n#WEFT --needs a\n\necho hi\n#WEFT --cpus 9\n',
  );
  const said = await head.weft('submit', '--cpus', '4', '--needs', 'b', script.file, '--x');
  assert.equal(said.error, '');
  const { cpuCount, name, labels, program } = submitted(head);
  assert.deepEqual([cpuCount, name, labels], [4, 'my job', ['a', 'b']]);
  assert.deepEqual(program.kind === 'script' && program.args, ['--x']);
});

test('submit says file, line and column of a wrong #WEFT line', async () => {
  await using head = await FakeHead.start(ACCEPTS);
  using script = withScript('#!/bin/sh\n#WEFT --cpus 2 --time soon\n');
  const said = await head.weft('submit', script.file);
  assert.equal(said.code, 2);
  assert.match(said.error, /job\.sh:2:16: --time: 'soon' is not a duration/);
  using unknown = withScript('#!/bin/sh\n\n#WEFT  --cpsu 2\n');
  const again = await head.weft('submit', unknown.file);
  assert.match(again.error, /job\.sh:3:8: unknown option '--cpsu'.*--cpus/s);
});

test('a job that is not there ends with exit code 3', async () => {
  const missing = refusal('job.not_found', 'not_found', 'No job 9.');
  await using head = await FakeHead.start({
    'GET /v1/jobs/9': () => ({ status: 404, json: missing }),
    'POST /v1/jobs/9/cancel': () => ({ status: 404, json: missing }),
    'POST /v1/jobs/8/cancel': () => ({ json: { count: 1 } }),
  });
  assert.deepEqual(await head.weft('job', '9'), { code: 3, out: '', error: 'weft: No job 9.\n' });
  const both = await head.weft('kill', '9', '8');
  assert.deepEqual(both, {
    code: 3,
    out: 'Job 8: 1 task cancelled.\n',
    error: 'weft: 9: No job 9.\n',
  });
});

test('kill --signal sends the number of the signal to one task of an array', async () => {
  const signal = () => ({ json: { count: 1 } });
  await using head = await FakeHead.start({ 'POST /v1/jobs/42[7]/signal': signal });
  assert.equal((await head.weft('kill', '-s', 'sigusr1', '42[7]')).code, 0);
  assert.deepEqual(head.work[0]?.body, { signal: 10 });
  assert.match((await head.weft('kill', '-s', 'USER1', '42')).error, /Did you mean 'USR1'/);
});

test('why prints the words of the head', async () => {
  const words = 'needs 1 node with 4 cpus; n1 is full: 4 of 4 cpus in use';
  const explain = () => ({ json: { state: 'pending', reason: null, words } });
  await using head = await FakeHead.start({ 'GET /v1/jobs/42/why': explain });
  assert.equal((await head.weft('why', '42')).out, `${words}\n`);
});

test('what a running job is said to wait for is its next task', async () => {
  const reason = { kind: 'priority', words: 'waits its turn' };
  const jobs = [jobView({ state: 'running', reason }), jobView({ state: 'pending', reason })];
  await using head = await FakeHead.start({
    'GET /v1/jobs': () => ({ json: { jobs, next: null } }),
  });
  const { out } = await head.weft('jobs');
  assert.match(out, / running .* {2}next task: waits its turn$/m);
  assert.match(out, / pending .* {2}waits its turn$/m);
});

test('a node that is connected was seen now, and tells since when it is', async () => {
  const hour = 3_600_000;
  const node = nodeView({ lastSeenAt: Date.now() - hour });
  const heard = nodeView({ name: 'n4', lastSeenAt: hour, connectedAt: 0 });
  const away = nodeView({ name: 'n2', state: 'away', lastSeenAt: Date.now() - 3_600_000 });
  const never = nodeView({ name: 'n3', state: 'never_seen' });
  await using head = await FakeHead.start({
    'GET /v1/nodes': () => ({ json: { nodes: [node, away, never] } }),
    'GET /v1/nodes/n1': () => ({ json: node }),
    'GET /v1/nodes/n4': () => ({ json: heard }),
  });
  const { out } = await head.weft('node', 'list', '-o', 'wide');
  assert.match(out, /^n1 .* {2}now {2}/m);
  assert.match(out, /^n2 .* ago {2}/m);
  assert.match(out, /^n3 +never seen /m);
  const older = (await head.weft('node', 'show', 'n1')).out;
  assert.match(older, /^Connected: +since /m);
  assert.doesNotMatch(older, /Last seen/);
  const shown = (await head.weft('node', 'show', 'n4')).out;
  assert.match(shown, /^Connected: +since 1970.*\nLast seen: +1970/m);
});

test('one login serves several commands, and a restarted head asks for one more', async () => {
  const list = () => ({ json: { jobs: [jobView()], next: null } });
  await using head = await FakeHead.start({ 'GET /v1/jobs': list });
  const logins = () => head.asked.filter((asked) => asked.path.endsWith('/finish')).length;
  await head.weft('jobs');
  await head.weft('jobs');
  assert.equal(logins(), 1);
  head.forgetSessions();
  assert.equal((await head.weft('jobs')).code, 0);
  assert.equal(logins(), 2);
});

test('run --each-line sends the lines of a file as items of one job', async () => {
  await using head = await FakeHead.start(ACCEPTS);
  const file = path.join(head.directory, 'cases.txt');
  writeFileSync(file, 'a b\r\n\n c\n');
  const said = await head.weft('run', '--each-line', file, '--at-once', '1', 'cat', '-n');
  assert.deepEqual(said, { code: 0, out: '42\n', error: '' });
  const { program, each, array } = submitted(head);
  assert.deepEqual(program, { kind: 'argv', argv: ['cat', '-n', '{}'] });
  assert.deepEqual(each, ['a b', ' c']);
  assert.deepEqual(array, { indices: '0-1', runningMax: 1 });
});

test('run --each-json sends the fields of each line, and --array picks among them', async () => {
  await using head = await FakeHead.start(ACCEPTS);
  const file = path.join(head.directory, 'cases.jsonl');
  writeFileSync(file, '{"seed": 1, "big": true}\n{"seed": 2, "big": false}\n');
  await head.weft('run', '--each-json', file, '--array', '1', 'sim {seed} {big}');
  const { program, each, array } = submitted(head);
  assert.deepEqual(program, { kind: 'shell', line: 'sim {seed} {big}' });
  assert.deepEqual(each, [
    { seed: '1', big: 'true' },
    { seed: '2', big: 'false' },
  ]);
  assert.deepEqual(array, { indices: '1' });
});

test('run --each-csv takes the names of its fields from the first row', async () => {
  await using head = await FakeHead.start(ACCEPTS);
  const file = path.join(head.directory, 'cases.csv');
  writeFileSync(file, '\ufeffname,size\r\n"a, ""b""",1\r\n\r\ncé,\r\n"two\nlines",3');
  await head.weft('run', '--each-csv', file, 'sim {name} {size}');
  assert.deepEqual(submitted(head).each, [
    { name: 'a, "b"', size: '1' },
    { name: 'cé', size: '' },
    { name: 'two\nlines', size: '3' },
  ]);
  const refused = async (text: string): Promise<string> => {
    writeFileSync(file, text);
    return (await head.weft('run', '--each-csv', file, 'sim {a}')).error;
  };
  assert.match(await refused('a,b\n'), /it has no rows below its header/);
  assert.match(await refused('a,a\n1,2\n'), /cases.csv:1: the header has 'a'/);
  assert.match(await refused('a,b c\n1,2\n'), /cases.csv:1: the header has 'b c'/);
  assert.match(await refused('a,b\n"1\n",2\n3\n'), /cases.csv:4: 1 fields, and the header has 2/);
  assert.match(await refused('a\n1\n"2\n'), /cases.csv:3: a quote is not closed/);
});

test('run --sweep counts ranges of any numbers exactly', async () => {
  await using head = await FakeHead.start(ACCEPTS);
  const values = async (range: string): Promise<unknown[] | undefined> => {
    await head.weft('run', '--sweep', `a=${range}`, '--', 'sim', '{a}');
    const asked = head.work.findLast(({ path }) => path === '/v1/jobs')?.body as Submission;
    return asked.each?.map((item) => (typeof item === 'string' ? item : item['a']));
  };
  assert.deepEqual(await values('9007199254740993:9007199254740995'), [
    '9007199254740993',
    '9007199254740994',
    '9007199254740995',
  ]);
  assert.deepEqual(await values('1e-4:3e-4:1e-4'), ['0.0001', '0.0002', '0.0003']);
  assert.deepEqual(await values('1e3:3E+3:1000'), ['1000', '2000', '3000']);
  assert.deepEqual(await values('.5:1:.25'), ['0.50', '0.75', '1.00']);
  assert.deepEqual(await values('-0.1:0.1:0.1'), ['-0.1', '0.0', '0.1']);
  assert.deepEqual(await values('a:b'), ['a:b']);
  assert.deepEqual(await values('.:1'), ['.:1']);
});

test('run --sweep makes a task of each combination, and says from where to where', async () => {
  await using head = await FakeHead.start(ACCEPTS);
  const axes = ['--sweep', 'lr=0.1,x', 'n=0:1:0.5'];
  const said = await head.weft('run', ...axes, '--', 'sim', '{lr}', '{n}');
  assert.equal(said.error, 'weft: 6 points, from lr=0.1 n=0.0 to lr=x n=1.0\n');
  const { each, array, program } = submitted(head);
  assert.deepEqual(program, { kind: 'argv', argv: ['sim', '{lr}', '{n}'] });
  const steps = ['0.0', '0.5', '1.0'];
  assert.deepEqual(
    each,
    ['0.1', 'x'].flatMap((lr) => steps.map((n) => ({ lr, n }))),
  );
  assert.equal(array?.indices, '0-5');
  const refused = async (...words: string[]) => (await head.weft('run', '--sweep', ...words)).error;
  assert.match(await refused('a=3:1', 'x {a}'), /'3:1' is not a range; write 0:3/);
  assert.match(await refused('a=1,1', 'x {a}'), /'1' is there twice/);
  assert.match(await refused('a', 'x {a}'), /'a' is not name=values; write a=1,2 or b=0:3/);
  assert.match(await refused('a=1,', 'x {a}'), /has an empty value/);
  assert.match(await refused('a=1', '--sweep', 'a=2', 'x {a}'), /'a' is there twice/);
  assert.match(
    await refused('a=0..3', 'x {a}'),
    /'0\.\.3' would be one value; write 0:3 for the range/,
  );
  assert.match(await refused('a=0:9999999', 'x {a}'), /more values than the \d+ tasks/);
  assert.match(
    await refused('a=1', 'x {a} {b}'),
    /names \{b\}, which --sweep has not; there are: a/,
  );
  assert.match(
    await refused('a=1', 'x', '{b}'),
    /names \{b\}, which --sweep has not; there are: a/,
  );
  const nowhere = /the command says nowhere where a value goes: write \{a\} where it belongs/;
  assert.match(await refused('a=1', '--', 'sleep', '3'), nowhere);
  const late = await refused('a=1', 'b=2', '--cpus', '2', 'x {a}');
  assert.match(late, /options go before further values of --sweep; or write --sweep 'a=1 b=2'/);
  assert.match(await refused('a=1', '--each-csv', 'f', 'x {a}'), /--each-csv and --sweep exclude/);
});

test('what is wrong with a list of items is told with its line, and nothing is sent', async () => {
  await using head = await FakeHead.start(ACCEPTS);
  const file = path.join(head.directory, 'cases');
  const refused = async (text: string, ...args: string[]): Promise<string> => {
    writeFileSync(file, text);
    const said = await head.weft('run', ...args);
    assert.notEqual(said.code, 0);
    return said.error;
  };
  assert.match(await refused('', '--each-line', file, 'cat'), /cases: the file has no lines/);
  assert.match(await refused('a\nb\0\n', '--each-line', file, 'cat'), /cases:2: .*NUL/);
  assert.match(await refused('{"a":1}\n[1]\n', '--each-json', file, 'cat {a}'), /cases:2: each/);
  assert.match(await refused('{"a":[1]}\n', '--each-json', file, 'cat {a}'), /cases:1: .*'a'/);
  assert.match(await refused('{"a":1}\n', '--each-json', file, 'cat', 'b'), /write \{a\} where/);
  const gone = await refused('', '--each-line', `${file}2`, 'cat');
  assert.match(gone, /cases2: cannot be read: no such file or directory$/m);
  const lacking = '{"a":1,"n":2}\n\n{"a":1,"n":2}\n{"b":1,"n":2}\n';
  const words = await refused(lacking, '--each-json', file, 'cat {a} {n}');
  assert.match(words, /cases:4: the field 'a' is missing, and the command names \{a\}$/m);
  const unknown = await refused('{"a":1}\n', '--each-json', file, 'cat {a} {other} {n}');
  assert.match(unknown, /names \{other\}, a field that no line has; there are: a\n.*\{ other \}/);
  const both = await refused('x\n', '--each-line', file, '--each-json', file, 'cat');
  assert.match(both, /exclude each other/);
  assert.match(await refused('x\n', '--at-once', '2', 'cat'), /--at-once limits/);
  assert.deepEqual(head.work, []);
});

test('items that are no UTF-8 are refused with their line and the way to convert them', async () => {
  await using head = await FakeHead.start(ACCEPTS);
  const file = path.join(head.directory, 'people');
  const refused = async (bytes: Buffer, ...args: string[]): Promise<string> => {
    writeFileSync(file, bytes);
    const said = await head.weft('run', ...args);
    assert.equal(said.code, 2, said.error);
    return said.error;
  };
  const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
  const words = /people:3: the line has bytes that are no UTF-8\n.*iconv -f latin1 -t utf-8/;
  const csv = latin('name,n\r\nAnn,1\r\nJürgen,2\r\nJörg,3\r\n');
  assert.match(await refused(csv, '--each-csv', file, 'x {name}'), words);
  assert.match(await refused(latin('a\n\né'), '--each-line', file, 'x'), words);
  assert.match(await refused(latin('{"a":1}\n\n{"a":"é"}'), '--each-json', file, 'x {a}'), words);
  const half = await refused(latin('{"a":"\\ud800"}'), '--each-json', file, 'x {a}');
  assert.match(half, /people:1: the field 'a' has half of a character/);
  const wide = await refused(
    Buffer.from('\uFEFFname\nJürgen\n', 'utf16le'),
    '--each-csv',
    file,
    'x',
  );
  assert.match(wide, /people: it is UTF-16, not UTF-8\n.*iconv -f utf-16 -t utf-8/);
  assert.deepEqual(head.work, []);
  // What stands for lost bytes may be meant, and a mark of the byte order is no part of the first
  // line.
  writeFileSync(file, '\uFEFFcaf\uFFFD\nJürgen\n');
  await head.weft('run', '--each-line', file, 'x');
  assert.deepEqual(submitted(head).each, ['caf\uFFFD', 'Jürgen']);
});

test('sites are wished for by their label, one or any of several', async () => {
  await using head = await FakeHead.start(ACCEPTS);
  await head.weft('run', '--site', 'hpc', '--needs', 'ssd', 'true');
  assert.deepEqual(submitted(head).labels, ['ssd', 'site=hpc']);
  await head.weft('run', '--site', 'hpc, sge', 'true');
  const body = head.work.findLast(({ path }) => path === '/v1/jobs')?.body as Submission;
  assert.deepEqual(body.labels, ['site=hpc | site=sge']);
  const wrong = await head.weft('run', '--site', 'a b', 'true');
  assert.deepEqual([wrong.code, /--site: /.test(wrong.error)], [2, true]);
});
