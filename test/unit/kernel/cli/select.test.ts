// Which jobs a verb is for, one word of status, waiting for many, and rows as CSV.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobView } from '../../../../src/kernel/api/jobs.ts';
import { Context } from '../../../../src/kernel/cli/context.ts';
import { actOnJobs } from '../../../../src/kernel/cli/jobs/each.ts';
import { readOperands } from '../../../../src/kernel/cli/jobs/operands.ts';
import { formatCsv } from '../../../../src/kernel/cli/output/listing.ts';
import { jobProgress } from '../../../../src/kernel/cli/progress/tasks.ts';
import { FakeHead, refusal } from './fake-head.ts';
import { doneJob, jobView } from './views.ts';

const JOBS: readonly JobView[] = [
  jobView({ id: 21, name: 'other', owner: 'bob', state: 'running' }),
  jobView({ id: 20, name: 'train-2', state: 'running' }),
  jobView({ id: 15, name: 'train-1', held: true }),
  jobView({ id: 12, name: 'clean' }),
];

/** A head with these jobs that filters and pages as the real one does. */
function headOf(jobs: readonly JobView[], role = 'user', pageRows = 2): Promise<FakeHead> {
  const answers: Record<string, () => { json?: object; status?: number }> = {
    'GET /v1/whoami': () => ({ json: { name: 'alice', role } }),
  };
  for (const job of jobs) {
    answers[`GET /v1/jobs/${job.id}`] = () => ({ json: job });
    answers[`GET /v1/jobs/${job.id}/wait`] = () => ({ json: { job, task: null } });
    for (const verb of ['cancel', 'hold', 'release', 'suspend', 'requeue', 'signal']) {
      answers[`POST /v1/jobs/${job.id}/${verb}`] = () => ({ json: { count: 1 } });
    }
  }
  return FakeHead.start({
    ...answers,
    'GET /v1/jobs': ({ query }) => {
      const { owner, name, state, before = '999' } = query;
      const found = jobs.filter((job) => {
        if (owner !== undefined && job.owner !== owner) return false;
        if (name !== undefined && job.name !== name) return false;
        if (state === 'active' && job.state === 'done') return false;
        if (state !== 'active' && state !== 'all' && job.state !== state) return false;
        return job.id < Number(before);
      });
      const page = found.slice(0, pageRows);
      return { json: { jobs: page, next: found.length > pageRows ? page.at(-1)?.id : null } };
    },
  });
}

const cancelled = (head: FakeHead): string[] =>
  head.work.filter(({ method }) => method === 'POST').map(({ path }) => path);

test('ids are single, lists, ranges, and tasks of an array', () => {
  const ids = (...texts: string[]) =>
    readOperands(texts).map((one) => (one.kind === 'one' ? one.id : `${one.from}..${one.to}`));
  assert.deepEqual(ids('7', '12-20', '3,5[1],8-9'), ['7', '12..20', '3', '5[1]', '8..9']);
  assert.deepEqual(ids('5[0-2,7]'), ['5[0]', '5[1]', '5[2]', '5[7]']);
  for (const wrong of ['', '0', '20-12', 'x', '5[', '5[2-1]', '1,,2', '5[0-999999]']) {
    assert.throws(() => readOperands([wrong]), /job|indices|tasks/, wrong);
  }
});

test('a range is of those jobs that there are, of a user only their own', async () => {
  await using head = await headOf(JOBS);
  const { code, out } = await head.weft('kill', '12-30', '99', '--yes');
  assert.equal(code, 70, 'job 99, named by its id, is not left out: the test head refuses it');
  assert.match(out, /Job 12: 1 task cancelled\.\nJob 15: 1 task cancelled\.\nJob 20: /);
  assert.ok(!out.includes('21'));
  await using operated = await headOf(JOBS, 'operator');
  await operated.weft('kill', '12-30', '-y');
  assert.deepEqual(cancelled(operated).at(-1), '/v1/jobs/21/cancel');
});

test('names, patterns and states choose among the own jobs', async () => {
  await using head = await headOf(JOBS);
  const both = await head.weft('kill', '--name', 'train-*', '-y');
  assert.match(both.out, /^Job 15: 1 task.*\nJob 20: 1 task.*\n$/);
  assert.equal((await head.weft('hold', '--name', 'clean')).out, 'Job 12 is held.\n');
  assert.equal((await head.weft('kill', '--state', 'held')).out, 'Job 15: 1 task cancelled.\n');
  const running = await head.weft('suspend', '12-20', '--state', 'running');
  assert.equal(running.out, 'Job 20: 1 task suspended.\n');
  const none = await head.weft('kill', '--name', 'nothing');
  assert.deepEqual([none.code, /No job with --name nothing/.test(none.error)], [3, true]);
  const bare = await head.weft('kill');
  assert.deepEqual([bare.code, /--mine, --name/.test(bare.error)], [2, true]);
  const others = await head.weft('kill', '--user', 'bob');
  assert.equal(others.out, 'Job 21: 1 task cancelled.\n');
});

test('a range and an option choose only what the verb acts on', async () => {
  const partly = jobView({ id: 30, state: 'running', taskCount: 2, held: true });
  const crashed = jobView({ id: 31, reason: { kind: 'held', words: 'it took 3 nodes down' } });
  const array = { ...partly, taskCounts: { running: 1, pending: 1 } };
  await using head = await headOf([crashed, array, ...JOBS]);
  const actedOn = async (...words: string[]) => {
    const { out, error } = await head.weft(...words, '--dry-run');
    return error === ''
      ? [...out.matchAll(/^Would \w+ job (\d+)/gm)].map(([, id]) => Number(id))
      : error;
  };
  assert.deepEqual(await actedOn('hold', '--mine'), [12, 31]);
  assert.deepEqual(await actedOn('release', '--mine'), [15, 30, 31]);
  assert.deepEqual(await actedOn('release', '12-30'), [15, 30]);
  assert.deepEqual(await actedOn('suspend', '--mine'), [20, 30]);
  assert.deepEqual(await actedOn('requeue', '--name', 'train-*'), [20]);
  assert.deepEqual(await actedOn('kill', '--mine', '--signal', 'USR1'), [20, 30]);
  assert.deepEqual(await actedOn('release', '--state', 'held'), [15, 30]);
  const none = await actedOn('resume', '--mine');
  assert.match(String(none), /^weft: No job of yours that can be resumed/);
});

test('a dry run says of what is named by its id whether anything would be done', async () => {
  const done = { ...doneJob('completed'), id: 30 };
  const task = { id: '12[1]', state: 'running', outcome: null, reason: null };
  await using head = await FakeHead.start({
    'GET /v1/jobs/30': () => ({ json: done }),
    'GET /v1/jobs/12[1]': () => ({ json: jobView({ id: 12, taskCount: 2 }) }),
    'GET /v1/jobs/12[1]/tasks': () => ({ json: { tasks: [task] } }),
  });
  const { out } = await head.weft('kill', '30', '12[1]', '--dry-run');
  assert.equal(
    out,
    'Would not cancel job 30 hello (alice, completed).\nWould cancel job 12[1] hello (alice, running).\n',
  );
});

test('what cannot be taken back asks before it hits several jobs, or wants --yes', async () => {
  await using head = await headOf(JOBS);
  const asked = await head.weft('kill', '--mine');
  assert.deepEqual([asked.code, cancelled(head)], [2, []]);
  assert.match(asked.error, /would cancel 3 jobs; add --yes, or look first with --dry-run/);
  const dry = await head.weft('kill', '--mine', '--dry-run');
  assert.deepEqual([dry.code, cancelled(head)], [0, []]);
  assert.match(dry.out, /^Would cancel job 12 clean \(alice, pending\)\.\n.*15.*held.*\n.*20.*\n$/);
  const waiting = await head.weft('requeue', '12', '--dry-run');
  assert.equal(waiting.out, 'Would not requeue job 12 clean (alice, pending).\n');
  const range = await head.weft('kill', '1-100');
  assert.deepEqual([range.code, cancelled(head)], [2, []]);
  assert.match(range.error, /would cancel 3 jobs; add --yes/);
  await head.weft('kill', '--mine', '--yes');
  assert.equal(cancelled(head).length, 3);
  const named = await head.weft('kill', '12,15', '20-20');
  assert.deepEqual(
    [named.code, cancelled(head).length],
    [0, 6],
    'what is named is not asked about',
  );
});

/** A context whose terminal answers questions, and keeps what it was told. */
function contextOf(head: FakeHead, answer: string, isTerminal = true) {
  const said: string[] = [];
  const context = new Context({
    program: 'weft',
    terminal: {
      out: (text) => said.push(String(text)),
      error: (text) => said.push(String(text)),
      outIsTerminal: isTerminal,
      errorIsTerminal: isTerminal,
      ask: (question) => {
        said.push(question);
        return Promise.resolve(answer);
      },
    },
    environment: { WEFT_DIR: head.directory, XDG_RUNTIME_DIR: head.directory },
    cwd: '/',
    programs: undefined as never,
    options: {},
    commands: undefined as never,
    wings: [],
  });
  return { context, said };
}

test('on a terminal it asks, and only a yes goes on', async () => {
  await using head = await headOf(JOBS);
  const what = {
    args: ['1-100'],
    options: {},
    action: { verb: 'cancel', done: 'cancelled', isFinal: true, acts: () => true },
  };
  for (const [answer, hit] of [
    ['', 0],
    ['no', 0],
    ['y', 3],
  ] as const) {
    const { context, said } = contextOf(head, answer);
    let count = 0;
    await actOnJobs(context, what, () => {
      count += 1;
      return Promise.resolve('hit');
    });
    context.close();
    assert.equal(count, hit, answer);
    assert.match(said.join(''), /job 12 clean.*cancel these 3 jobs\? \[y\/N\]/s);
  }
});

test('status is one word a job, in order, and unknown where there is none', async () => {
  const done = { ...doneJob('failed', { code: 3 }), id: 30 };
  const jobs = [done, ...JOBS];
  await using head = await FakeHead.start({
    ...Object.fromEntries(jobs.map((job) => [`GET /v1/jobs/${job.id}`, () => ({ json: job })])),
    'GET /v1/jobs/7': () => ({ status: 404, json: refusal('job.not_found', 'not_found', 'No.') }),
    'GET /v1/jobs/12[1]/tasks': () => ({ json: { tasks: [{ id: '12[1]', state: 'running' }] } }),
  });
  const { code, out } = await head.weft('status', '30', '20', '15', '12[1]');
  assert.deepEqual([code, out], [0, 'failed\nrunning\nheld\nrunning\n']);
  const missing = await head.weft('status', '7,20');
  assert.deepEqual([missing.code, missing.out], [3, 'unknown\nrunning\n']);
  const rows = await head.weft('status', '30', '7', '-o', 'csv');
  assert.equal(rows.out, 'job,status,exit,signal\r\n30,failed,3,\r\n7,unknown,,\r\n');
  const { out: json } = await head.weft('status', '20', '7', '12[1]', '-o', 'json');
  assert.deepEqual(
    JSON.parse(json).map(({ id }: { id: unknown }) => id),
    [20, 7, '12[1]'],
  );
});

test('waiting for several ends with the code of the first named that did not complete', async () => {
  const done = (id: number, kind: 'completed' | 'failed' | 'timeout', code?: number) => ({
    ...doneJob(kind, code === undefined ? null : { code }),
    id,
  });
  const jobs = [done(8, 'timeout'), done(7, 'failed', 3), done(6, 'completed')];
  await using head = await headOf(jobs);
  assert.equal((await head.weft('wait', '6')).code, 0);
  assert.equal((await head.weft('wait', '6', '7', '8')).code, 3);
  assert.equal((await head.weft('wait', '8', '7')).code, 124);
  const range = await head.weft('wait', '6-8');
  assert.deepEqual([range.code, range.out.split('\n').length], [3, 4]);
  assert.match(range.error, /^$/, 'no progress where nobody looks');
});

test('progress is one line that is written anew on a terminal', async () => {
  const job = jobView({ id: 5, taskCount: 9, taskCounts: { done: 2, running: 1, pending: 6 } });
  await using head = await headOf([job]);
  const { context, said } = contextOf(head, '');
  const progress = jobProgress(context, ['5']);
  for (const begun = Date.now(); said.length === 0 && Date.now() < begun + 60_000; ) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  progress.stop();
  context.close();
  assert.deepEqual(said, ['\r\x1b[Kjob 5: 2 of 9 tasks done; 1 running, 6 pending', '\r\x1b[K']);
});

test('whatever is written while progress is shown has a line of its own', async () => {
  const job = jobView({ id: 5, taskCount: 9, taskCounts: { done: 2, pending: 7 } });
  await using head = await headOf([job]);
  const { context, said } = contextOf(head, '');
  const progress = jobProgress(context, ['5']);
  for (const begun = Date.now(); said.length === 0 && Date.now() < begun + 60_000; ) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  context.out(Buffer.from('0: hello\n'));
  context.note('one more thing');
  progress.stop();
  context.close();
  const line = '\r\x1b[Kjob 5: 2 of 9 tasks done; 7 pending';
  assert.deepEqual(said, [line, '\r\x1b[K', '0: hello\n', 'weft: one more thing\n']);
});

test('one node that does not exist keeps a verb from none of the others', async () => {
  const missing = refusal('node.not_found', 'not_found', 'No node nX.');
  await using head = await FakeHead.start({
    'POST /v1/nodes/n1': () => ({ json: {} }),
    'POST /v1/nodes/nX': () => ({ status: 404, json: missing }),
    'POST /v1/nodes/n2': () => ({ json: {} }),
  });
  const { code, out, error } = await head.weft('node', 'modify', 'n1', 'nX', 'n2', '--cpus', '2');
  assert.deepEqual([code, error], [3, 'weft: nX: No node nX.\n']);
  assert.match(out, /^Node n1 is changed.*\nNode n2 is changed.*\n$/);
});

test('csv quotes what must be quoted and tells facts, not words (RFC 4180)', () => {
  const columns = [
    { title: 'A NAME', value: (row: { name: string }) => row.name },
    { title: 'AT', value: () => 'yesterday', raw: () => new Date(0) },
    { title: 'NONE', value: () => '-' },
  ];
  assert.deepEqual(formatCsv(columns, [{ name: 'a "b", c\nd' }]), [
    'a_name,at,none\r',
    '"a ""b"", c\nd",1970-01-01T00:00:00.000Z,\r',
  ]);
  assert.deepEqual(formatCsv(columns, []), ['a_name,at,none\r']);
});

test('[D19] no text of a table for spreadsheets runs as a formula there', () => {
  const columns = [{ title: 'NAME', value: ({ name }: { name: string }) => name }];
  const cells = (...names: string[]) =>
    formatCsv(
      columns,
      names.map((name) => ({ name })),
    ).slice(1);
  const told = ['=1+2', '+x', '-n', '@SUM(1)', '\tx', '-', '1-2', '-3', '+1.5e-3', 'a=b', '＝1'];
  const seen = [
    "'=1+2",
    "'+x",
    "'-n",
    "'@SUM(1)",
    "'\tx",
    '',
    '1-2',
    '-3',
    '+1.5e-3',
    'a=b',
    "'＝1",
  ];
  assert.deepEqual(
    cells(...told),
    seen.map((cell) => `${cell}\r`),
  );
  assert.deepEqual(cells('=a"b', '\r=x'), [`"'=a""b"\r`, `"'\r=x"\r`]);
});

test('change --signal none takes the signal before the time limit away', async () => {
  await using head = await FakeHead.start({ 'PATCH /v1/jobs/12': () => ({ json: { count: 1 } }) });
  const { code, error } = await head.weft('change', '12', '--signal', 'none');
  assert.deepEqual([code, error], [0, '']);
  assert.deepEqual(head.work[0]?.body, { warning: null });
});

test('[D15] jobs --search asks the head for words, on through pages that have none', async () => {
  const asked: Record<string, string>[] = [];
  const job = jobView({ id: 7, name: 'mesh' });
  await using head = await FakeHead.start({
    'GET /v1/jobs': ({ query }) => {
      asked.push({ ...query });
      return {
        json: query.before === undefined ? { jobs: [], next: 100 } : { jobs: [job], next: null },
      };
    },
  });
  const { out, code } = await head.weft('jobs', '--all', '--search', 'mesh alice', '-o', 'name');
  assert.deepEqual([code, out], [0, '7\n']);
  assert.deepEqual(
    asked.map(({ search, state, before }) => [search, state, before]),
    [
      ['mesh alice', 'all', undefined],
      ['mesh alice', 'all', '100'],
    ],
  );
});

test("what is over in a range is told of the own jobs, and others' that run are not among them", async () => {
  const over = { ...doneJob('completed'), id: 20, owner: 'alice' };
  const jobs = [over, jobView({ id: 15, owner: 'bob', state: 'running' })];
  await using head = await headOf(jobs);
  const said = await head.weft('cancel', '12-21', '--yes');
  assert.equal(said.error, 'weft: Job 12-21 is already done (1 completed).\n');
  await using operators = await headOf(jobs.slice(0, 1), 'operator');
  const all = await operators.weft('cancel', '12-21', '--yes');
  assert.equal(all.error, 'weft: Job 12-21 is already done (1 completed).\n');
  await using others = await headOf(jobs.slice(1));
  const none = await others.weft('cancel', '12-21', '--yes');
  assert.match(none.error, /^weft: No job 12-21\./);
});

test('what ended before its turn is no failure of a cancel that chose it', async () => {
  const jobs = [jobView({ id: 15, name: 'behind' }), jobView({ id: 12, name: 'first' })];
  const answer = refusal('job.already_done', 'failed_precondition', 'Job 15 is already done (…).');
  await using head = await FakeHead.start({
    'GET /v1/whoami': () => ({ json: { name: 'alice', role: 'user' } }),
    'GET /v1/jobs': () => ({ json: { jobs, next: null } }),
    'POST /v1/jobs/12/cancel': () => ({ json: { count: 1 } }),
    'POST /v1/jobs/15/cancel': () => ({ status: 409, json: answer }),
  });
  const said = await head.weft('cancel', '--mine', '--yes');
  const out = 'Job 12: 1 task cancelled.\nJob 15 is already done (…).\n';
  assert.deepEqual(said, { code: 0, out, error: '' });
  const named = await head.weft('cancel', '12', '15');
  assert.deepEqual([named.code, named.error], [5, 'weft: 15: Job 15 is already done (…).\n']);
});

test('an empty name, as of a variable that is not set, is refused and not taken for nobody', async () => {
  await using head = await headOf(JOBS);
  const refused = [
    ['jobs', '--user', ''],
    ['jobs', '--name', ''],
    ['history', '--user', ''],
    ['usage', '--user', ''],
    ['top', '--once', '--user', ''],
    ['cancel', '--user', ''],
    ['hold', '--name', ''],
  ];
  for (const argv of refused) {
    const { code, error } = await head.weft(...argv);
    assert.equal(code, 2, argv.join(' '));
    assert.match(error, /^weft: --(user|name): may not be empty/, argv.join(' '));
  }
  assert.deepEqual(cancelled(head), []);
});
