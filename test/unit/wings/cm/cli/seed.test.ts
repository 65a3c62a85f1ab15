// cminfo, cmrun, cmkill and cmconfigure: the seed's flags, defaults, units, tables and words.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { JobView } from '../../../../../src/kernel/api/jobs.ts';
import type { Submission } from '../../../../../src/kernel/model/submission.ts';
import * as cmconfigure from '../../../../../src/wings/cm/cli/cmconfigure.ts';
import * as cminfo from '../../../../../src/wings/cm/cli/cminfo.ts';
import * as cmkill from '../../../../../src/wings/cm/cli/cmkill.ts';
import * as cmrun from '../../../../../src/wings/cm/cli/cmrun.ts';
import { type Answers, FakeHead, refusal } from '../../../kernel/cli/fake-head.ts';
import { doneJob, jobView, nodeView } from '../../../kernel/cli/views.ts';

const SUBMITTED = { jobId: 7, taskCount: 1, directory: '/work', again: false };
const ACCEPTS: Answers = { 'POST /v1/jobs': () => ({ json: SUBMITTED }) };

async function sent(...argv: string[]): Promise<Submission> {
  await using head = await FakeHead.start(ACCEPTS);
  const said = await head.seed('cmrun', cmrun.verb, ...argv);
  assert.deepEqual([said.code, said.error], [0, '']);
  assert.equal(said.out, 'Job 7 started, pending resource allocation.\n');
  return head.work[0]?.body as Submission;
}

const WITH_GPU = { cpuCount: 2, memoryBytes: 512 * 2 ** 20, gpuCount: 1, counted: {} };
const CMLOGS = { stdout: 'cmlogs/%N/%j/%p.out.txt', stderr: 'cmlogs/%N/%j/%p.err.txt' };

/** What the user typed, as it reaches the node. */
function typed({ program }: Submission): readonly string[] {
  if (program.kind === 'shell') return [program.line];
  assert.ok(program.kind === 'argv');
  return program.argv;
}

test('cmrun leaves its defaults to the cluster', async () => {
  const job = await sent('date');
  const { program: _, environment: __, umask: ___, ...rest } = job;
  assert.deepEqual(typed(job), ['date']);
  const directory = { kind: 'auto', path: '/work' };
  const memoryOtherwiseBytes = 104_857_600;
  assert.deepEqual(rest, { name: 'date', directory, files: CMLOGS, memoryOtherwiseBytes });
});

test('cmrun counts hours and megabytes, and an explicit 0 is a 0', async () => {
  const all = ['-a', 'x', '-n', '2', '-p', '3', '--num-cpus-per-node', '0', '--mem-per-node', '0'];
  const job = await sent(...all, '-t', '2', 'date');
  assert.deepEqual([job.name, job.nodeCount, job.processesPerNode], ['x', 2, 3]);
  assert.deepEqual([job.cpuCount, job.memoryBytes, job.walltimeMs], [0, 0, 7_200_000]);
  assert.equal((await sent('--mem-per-node', '100', 'date')).memoryBytes, 104_857_600);
  assert.equal((await sent('-t', '0', 'date')).walltimeMs, null);
});

test("cmrun leaves the command's own flags and quoting alone, with and without --", async () => {
  for (const dashes of [[], ['--']]) {
    const job = await sent('-n', '2', ...dashes, './x.sh', '-n', '3', 'a  b');
    assert.deepEqual(typed(job), ['./x.sh', '-n', '3', 'a  b']);
  }
  const line = await sent('./x.sh | tee out');
  assert.deepEqual([typed(line), line.name], [['./x.sh | tee out'], './x.sh']);
});

test('cmrun sends nothing that would reach the job as other bytes', async () => {
  await using head = await FakeHead.start({});
  const { code, error } = await head.seed('cmrun', cmrun.verb, 'cat', 'caf\uFFFD');
  assert.deepEqual([code, /an argument has bytes that are no UTF-8/.test(error)], [2, true]);
  assert.deepEqual(head.work, []);
});

test("cmrun's name is the first word as it was typed, and -t below 1 is no limit", async () => {
  const name = async (...argv: string[]) => (await sent(...argv)).name;
  assert.equal(await name('./bin/x.sh', 'a'), './bin/x.sh');
  assert.equal(await name('  ./x.sh | tee out'), './x.sh');
  assert.equal(await name(`${'x'.repeat(300)} y`), 'x'.repeat(200));
  for (const hours of ['0', '-1', '0.5']) {
    assert.equal((await sent('-t', hours, 'date')).walltimeMs, null, hours);
  }
  await using head = await FakeHead.start(ACCEPTS);
  const half = await head.seed('cmrun', cmrun.verb, '-t', '1.5', 'date');
  assert.deepEqual([half.code, head.work.length], [2, 0]);
  assert.match(half.error, /1\.5 is not a whole number of hours\n.*--time 90m/);
});

test("cmrun honours the caller's configuration where no flag says", async () => {
  await using head = await FakeHead.start(ACCEPTS);
  const folder = path.join(head.directory, 'etc');
  mkdirSync(folder);
  const file = path.join(folder, 'cm-config.yml');
  writeFileSync(file, 'default_n_procs: 3\ndefault_mem_per_node: 7\ndefault_time_limit: 2\n');
  writeFileSync(path.join(head.directory, 'weft.yaml'), 'defaults.procs: 4\n');
  const environment = { CM_PATH: head.directory };
  const run = (...argv: string[]) => head.seedWith(environment, 'cmrun', cmrun.verb, ...argv);
  assert.equal((await run('date')).code, 0);
  assert.equal((await run('-p', '2', '-t', '0', 'date')).code, 0);
  const [plain, flagged] = head.work.map(({ body }) => body as Submission);
  assert.deepEqual(
    [plain?.processesPerNode, plain?.memoryBytes, plain?.walltimeMs, plain?.nodeCount],
    [4, 7 * 1_048_576, 7_200_000, undefined],
  );
  assert.deepEqual([flagged?.processesPerNode, flagged?.walltimeMs], [2, null]);
});

test('a wrong configuration ends cmrun, and is only told by what can end a job', async () => {
  await using head = await FakeHead.start({
    ...ACCEPTS,
    'POST /v1/jobs/7/cancel': () => ({ json: { count: 1 } }),
  });
  const folder = path.join(head.directory, 'etc');
  const file = path.join(folder, 'cm-config.yml');
  const environment = { CM_PATH: head.directory };
  const both = async (said: string) => {
    const { code, out, error } = await head.seedWith(environment, 'cmrun', cmrun.verb, 'date');
    assert.deepEqual([code, out, error.split('\n')[0]], [2, '', `cmrun: ${said}`]);
    const killed = await head.seedWith(environment, 'cmkill', cmkill.verb, '7');
    assert.deepEqual([killed.code, killed.out], [0, 'Kill signal sent to job 7.\n']);
    assert.equal(killed.error, `cmkill: ${said} (this command uses the defaults)\n`);
  };
  await both(`CM_PATH: there is no ${file}`);
  mkdirSync(folder);
  writeFileSync(file, 'default_n_nodes: 2\ndefault_n_proc: 3\n');
  await both(`${file}:2:1: unknown key 'default_n_proc'. Did you mean 'default_n_procs'?`);
  const sent = head.work.filter(({ path: to }) => to === '/v1/jobs');
  assert.deepEqual(sent, [], 'no job was submitted');
});

test("cmkill says the seed's words", async () => {
  const done = refusal('job.already_done', 'failed_precondition', 'Job 8 is already done.');
  await using head = await FakeHead.start({
    'POST /v1/jobs/7/cancel': () => ({ json: { count: 1 } }),
    'POST /v1/jobs/8/cancel': () => ({ status: 409, json: done }),
  });
  const killed = await head.seed('cmkill', cmkill.verb, '7');
  assert.deepEqual(killed, { code: 0, out: 'Kill signal sent to job 7.\n', error: '' });
  const late = await head.seed('cmkill', cmkill.verb, '8');
  assert.equal(late.out, "Couldn't kill job 8; maybe it's already done?\n");
  assert.equal(late.code, 5);
});

test("cminfo prints the seed's three tables, with the reason why a node is down", async () => {
  const command = 'a command of more than twenty characters';
  const running = jobView({ id: 3, state: 'running', nodes: ['n1'], command });
  const nodes = [nodeView({ running: ['3#1'] }), nodeView({ name: 'n2', state: 'unreachable' })];
  await using head = await FakeHead.start({
    'GET /v1/info': () => ({
      json: { head: { hostname: 'h1', cpuCount: 2, memoryBytes: 512 * 2 ** 20 } },
    }),
    'GET /v1/nodes': () => ({ json: { nodes } }),
    'GET /v1/jobs': () => ({ json: { jobs: [running], next: null } }),
  });
  const said = await head.seed('cminfo', cminfo.verb);
  assert.equal(said.error, '');
  assert.equal(
    said.out,
    [
      'Head nodes',
      '  Node  Status  # CPUs  Memory  # Free CPUs  Free Memory',
      '  h1    Up           2  512 MB            2       512 MB',
      '',
      'Compute nodes',
      '  Node  Status              # CPUs  Memory  # Free CPUs  Free Memory',
      '  n1    InUse                    2  512 MB            2       512 MB',
      '  n2    Down (unreachable)       2  512 MB            2       512 MB',
      '',
      'Jobs',
      '  ID  Name   User   Status   Command               Nodes',
      '   3  hello  alice  Running  a command of more th  n1',
      '',
      '',
    ].join('\n'),
  );
});

test("cminfo reads all pages, and says the seed's words for jobs and the reasons of nodes", async () => {
  const job = (id: number, fields: Partial<JobView>) => jobView({ id, ...fields });
  const first = [
    { ...doneJob('failed', { code: 3 }), id: 9 },
    { ...doneJob('cancelled'), id: 8 },
    { ...doneJob('completed', { code: 0 }), id: 7 },
    job(6, { state: 'running', nodes: ['n1', 'n2'] }),
  ];
  const second = [
    job(5, { state: 'running', nodes: ['n3'] }),
    job(4, { state: 'starting', nodes: ['n1'] }),
    job(3, { held: true, reason: { kind: 'held', words: '' } }),
    job(2, { reason: { kind: 'resources', words: '' } }),
  ];
  const maintenance = { id: 'm1', from: 0, until: 1, reason: 'new disks', begun: true };
  const drained = { reason: 'fan', by: 'op', at: 0 };
  await using head = await FakeHead.start({
    'GET /v1/info': () => ({ json: { head: { hostname: 'h1', cpuCount: 2, memoryBytes: 0 } } }),
    'GET /v1/nodes': () => ({
      json: {
        nodes: [
          nodeView({ maintenance, drained }),
          nodeView({ name: 'n2', state: 'unreachable' }),
          nodeView({ name: 'n3', fault: 'disk full', running: ['5#1'], total: WITH_GPU }),
        ],
      },
    }),
    'GET /v1/jobs': ({ query }) => ({
      json: query['before'] === '6' ? { jobs: second, next: null } : { jobs: first, next: 6 },
    }),
  });
  const { out } = await head.seed('cminfo', cminfo.verb, '--all');
  assert.deepEqual(
    head.work.filter(({ path: asked }) => asked === '/v1/jobs').map(({ query }) => query['state']),
    ['all', 'all'],
  );
  const rows = out.split('\n').map((line) => line.trim().split(/ {2,}/));
  assert.match(out, /Free Memory {2}# GPUs {2}# Free GPUs\n/);
  assert.deepEqual(
    rows.filter(([name]) => /^n\d$/.test(name ?? '')).map(([, status]) => status),
    ['Idle (maintenance: new disks, drained: fan)', 'Down (unreachable)', 'InUse (disk full)'],
  );
  assert.deepEqual(
    rows.filter(([id]) => /^\d$/.test(id ?? '')).map(([id, , , status]) => `${id} ${status}`),
    [
      ...['2 Pending', '3 Created', '4 Started', '5 Running', '6 Unknown', '7 Completed'],
      ...['8 Killed', '9 Failed (3)'],
    ],
  );
});

test('cmconfigure creates, changes, shows and removes users and nodes', async () => {
  await using head = await FakeHead.start({
    'POST /v1/users/eve': () => ({ json: { count: 1, notice: "There is no account 'eve'." } }),
    'PUT /v1/users/bob': () => ({ json: { count: 1 } }),
    'POST /v1/users/bob': () => ({ json: { count: 1 } }),
    'DELETE /v1/users/bob': () => ({ json: { count: 1 } }),
    'GET /v1/users': () => ({
      json: { users: [{ name: 'bob', role: 'operator', tokenCount: 0, activeJobs: 2 }] },
    }),
    'POST /v1/nodes': () => ({ json: { name: 'n9', secret: 's3', clusterName: 'weft' } }),
    'DELETE /v1/nodes/n9': () => ({ json: { count: 1 } }),
    'POST /v1/nodes/n9': () => ({ json: { count: 1 } }),
    'POST /v1/nodes/n9/label': () => ({ json: { count: 1 } }),
    'GET /v1/nodes/n9': () => ({ json: nodeView({ name: 'n9' }) }),
  });
  const run = (...argv: string[]) => head.seed('cmconfigure', cmconfigure.verb, ...argv);
  assert.equal((await run('user', 'create', 'bob')).out, 'User bob created: user.\n');
  const modified = await run('user', 'modify', 'bob', '--role', 'operator');
  assert.equal(modified.out, 'User bob modified: operator.\n');
  assert.match((await run('user', 'show')).out, /bob +operator +2/);
  assert.equal((await run('user', 'remove', 'bob')).out, 'User bob removed.\n');
  const created = await run('node', 'create', 'n9', '--num-cpus', '4', '--memory', '100');
  assert.match(created.out, /Node n9 created.*s3/);
  const node = head.work.find((asked) => asked.path === '/v1/nodes')?.body;
  const resources = { cpuCount: 4, memoryBytes: 104_857_600, gpuCount: 0, counted: {} };
  assert.deepEqual(node, { name: 'n9', resources, labels: [] });
  assert.match((await run('node', 'show', 'n9')).out, /Node: +n9/);
  const size = ['--num-cpus', '8', '--num-gpus', '1', '--label', 'fast'];
  assert.equal((await run('node', 'modify', 'n9', ...size)).out, 'Node n9 modified.\n');
  const changes = head.work.slice(-2).map(({ path: asked, body }) => [asked, body]);
  assert.deepEqual(changes, [
    ['/v1/nodes/n9', { cpuCount: 8, gpuCount: 1 }],
    ['/v1/nodes/n9/label', { add: ['fast'] }],
  ]);
  assert.equal((await run('node', 'modify', 'n9')).code, 2);
  assert.equal((await run('node', 'remove', 'n9')).out, 'Node n9 removed.\n');
  const eve = await run('user', 'create', 'eve');
  assert.deepEqual([eve.code, eve.error], [0, "cmconfigure: There is no account 'eve'.\n"]);
  const nobody = await run('user', 'show', 'nobody');
  assert.deepEqual([nobody.code, nobody.out], [3, '']);
  assert.equal((await run('nodes', 'show')).code, 2);
  assert.match((await run('user', 'creat', 'x')).error, /Did you mean 'create'/);
});
