// cminfo, cmrun, cmkill and cmconfigure: the seed's flags, defaults, units, tables and words.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as cmconfigure from '../../../src/cli/seed/cmconfigure.ts';
import * as cminfo from '../../../src/cli/seed/cminfo.ts';
import * as cmkill from '../../../src/cli/seed/cmkill.ts';
import * as cmrun from '../../../src/cli/seed/cmrun.ts';
import type { Submission } from '../../../src/core/model/submission.ts';
import { type Answers, FakeHead, refusal } from './fake-head.ts';
import { jobView, nodeView } from './views.ts';

const SUBMITTED = { jobId: 7, taskCount: 1, directory: '/work', again: false };
const ACCEPTS: Answers = { 'POST /v1/jobs': () => ({ json: SUBMITTED }) };

async function sent(...argv: string[]): Promise<Submission> {
  await using head = await FakeHead.start(ACCEPTS);
  const said = await head.seed('cmrun', cmrun.verb, ...argv);
  assert.deepEqual([said.code, said.error], [0, '']);
  assert.equal(said.out, 'Job 7 started, pending resource allocation.\n');
  return head.work[0]?.body as Submission;
}

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
  assert.deepEqual(rest, { name: 'date', directory, files: CMLOGS });
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
  assert.deepEqual([typed(line), line.name], [['./x.sh | tee out'], 'x.sh']);
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
    'GET /v1/info': () => ({ json: { head: { hostname: 'h1' } } }),
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

test('cmconfigure creates, changes, shows and removes users and nodes', async () => {
  await using head = await FakeHead.start({
    'PUT /v1/users/bob': () => ({ json: { count: 1 } }),
    'POST /v1/users/bob': () => ({ json: { count: 1 } }),
    'DELETE /v1/users/bob': () => ({ json: { count: 1 } }),
    'GET /v1/users': () => ({
      json: { users: [{ name: 'bob', role: 'operator', tokenCount: 0, activeJobs: 2 }] },
    }),
    'POST /v1/nodes': () => ({ json: { name: 'n9', secret: 's3', clusterName: 'weft' } }),
    'DELETE /v1/nodes/n9': () => ({ json: { count: 1 } }),
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
  assert.equal((await run('node', 'remove', 'n9')).out, 'Node n9 removed.\n');
  assert.equal((await run('nodes', 'show')).code, 2);
  assert.match((await run('user', 'creat', 'x')).error, /Did you mean 'create'/);
});
