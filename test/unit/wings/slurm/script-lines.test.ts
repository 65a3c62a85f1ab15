// Scripts that were written for Slurm, given to `weft submit`.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { runWeft } from '../../../../src/kernel/cli/main.ts';
import type { Submission } from '../../../../src/kernel/model/submission.ts';
import { type Answers, capture, FakeHead, refusal } from '../../kernel/cli/fake-head.ts';

const ACCEPTS = {
  'POST /v1/jobs': () => ({ json: { jobId: 42, taskCount: 1, directory: '/work', again: false } }),
};

/** What `weft submit` sends of a script with these lines, beside what was typed. */
async function submitted(
  directives: readonly string[],
  typed: readonly string[],
  answers: Answers = ACCEPTS,
  environment: Readonly<Record<string, string>> = {},
) {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-script-'));
  try {
    const script = path.join(folder, 'run.sh');
    const lines = directives.map((line) => `#SBATCH ${line}\n`).join('');
    writeFileSync(script, `#!/bin/sh\n  # a remark\n${lines}./md\n`);
    await using head = await FakeHead.start(answers);
    const argv = ['submit', ...typed, script];
    const said = await capture(head.directory, { program: 'weft', argv, environment }, runWeft);
    const sent = head.work.filter((asked) => asked.path === '/v1/jobs');
    const body = sent.at(-1)?.body as Submission;
    return { ...said, body, error: said.error.replaceAll(script, 'run.sh'), work: head.work };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('[X6] submit reads lines of Slurm alone, and says which it honours', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-script-'));
  try {
    const script = path.join(folder, 'run.sh');
    const directives = ['-N 2', '--ntasks=3', '--time=10', '-A lab'];
    const lines = directives.map((line) => `#SBATCH ${line}\n`).join('');
    writeFileSync(script, `#!/bin/sh\n${lines}./md\n`);
    await using head = await FakeHead.start(ACCEPTS);
    const { code, error } = await head.weft('submit', '--cpus', '4', script);
    assert.equal(code, 0, error);
    assert.deepEqual(error.replaceAll(script, 'run.sh').split('\n'), [
      'weft: warning: --account is ignored: there are no accounts here',
      'weft: run.sh has no #WEFT lines; of its #SBATCH lines are honoured: --nodes, --ntasks, --time',
      '',
    ]);
    const [{ body }] = head.work as unknown as [{ body: Submission }];
    const { nodeCount, cpuCount, mpi, walltimeMs, files, environment } = body;
    const asked = { nodeCount, cpuCount, mpi, walltimeMs, files };
    const ranks = { ranksPerNode: 2, ranks: 3 };
    const wanted = { nodeCount: 2, cpuCount: 4, mpi: ranks, walltimeMs: 600_000, files: undefined };
    assert.deepEqual(asked, wanted);
    assert.equal(environment?.['WEFT_SLURM'], '1');
    writeFileSync(script, '#!/bin/sh\n\t# a remark\n#WEFT --cpus 3\n./md\n');
    assert.equal((await head.weft('submit', script)).code, 0);
    const ours = head.work.at(-1) as unknown as { body: Submission };
    assert.equal(ours.body.cpuCount, 3);
    writeFileSync(script, '#!/bin/sh\n#SBATCH --tiem=1\n./md\n');
    const wrong = await head.weft('submit', script);
    assert.equal(wrong.code, 2);
    assert.match(wrong.error, /run\.sh:2: .*tiem/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('[X6] a script that is submitted in a job takes over none of its variables', async () => {
  const own = { SLURM_JOB_ID: '7', SLURM_NTASKS: '9', SLURMD_NODENAME: 'n9', OTHER: 'kept' };
  const typed = ['--env', 'SLURM_MINE=1'];
  const { body, code, error } = await submitted(['-c 2'], typed, ACCEPTS, own);
  assert.equal(code, 0, error);
  const { environment = {} } = body;
  for (const name of ['SLURM_JOB_ID', 'SLURM_NTASKS', 'SLURMD_NODENAME'])
    assert.equal(environment[name], undefined, name);
  assert.deepEqual([environment['OTHER'], environment['SLURM_MINE']], ['kept', '1']);
});

test('[X6] lines that are for sbatch itself are done, or refused', async () => {
  const rehearses = {
    'POST /v1/jobs/rehearse': () => ({
      json: { words: 'It would start now.', startsAt: null, startNodes: [] },
    }),
  };
  const tried = await submitted(['--test-only'], [], { ...ACCEPTS, ...rehearses });
  assert.equal(tried.code, 0, tried.error);
  assert.equal(tried.body, undefined);
  assert.match(tried.out, /It would start now/);
  const wrapped = await submitted(['--wrap=hostname'], []);
  assert.equal(wrapped.code, 2);
  assert.match(wrapped.error, /run\.sh: --wrap is not honoured in a script/);
  assert.equal(wrapped.body, undefined);
  const { work } = await submitted(['--wait'], []);
  assert.ok(work.some((asked) => asked.path.startsWith('/v1/jobs/42')));
});

test('[X6] what is typed wins over ranks and files of the lines, too', async () => {
  const shapes = [
    [['--nodes', '1'], 1, { ranksPerNode: 3 }],
    [['--nodes', '3'], 3, { ranksPerNode: 1 }],
    [['--procs', '4'], 2, { ranksPerNode: 4 }],
    [['--nodes', '4', '--procs', '2'], 4, { ranksPerNode: 2 }],
  ] as const;
  for (const [typed, nodeCount, mpi] of shapes) {
    const { body, code, error } = await submitted(['-N 2', '-n 3'], typed);
    assert.equal(code, 0, error);
    assert.deepEqual([body.nodeCount, body.mpi], [nodeCount, mpi], typed.join(' '));
  }
  const more = await submitted(['-N 2', '-n 3'], ['--nodes', '4']);
  assert.equal(more.code, 2);
  assert.match(more.error, /--nodes 4 is more than the 3 of --ntasks/);
  const mine = await submitted(['-o job.out'], ['--output', 'mine.log']);
  assert.deepEqual(mine.body.files, { stdout: 'mine.log', stderr: 'mine.log' });
  const both = await submitted(['-o job.out', '-e job.err'], ['--output', 'mine.log']);
  assert.deepEqual(both.body.files, { stdout: 'mine.log', stderr: 'job.err' });
  const signal = await submitted(['--signal=B:USR1@90'], ['--signal', 'TERM@60']);
  assert.equal(signal.body.warning?.to, undefined);
  const { body } = await submitted(['-p one', '-q low'], ['--partition', 'two']);
  const { SLURM_JOB_PARTITION: partition, SLURM_JOB_QOS: qos } = body.environment ?? {};
  assert.deepEqual([body.partition, partition, qos], ['two', 'two', 'low']);
});

test('[X6] a script that asks for mail runs where none is sent', async () => {
  const refused = {
    ...ACCEPTS,
    'POST /v1/jobs/rehearse': () => ({
      status: 412,
      json: refusal('notification.not_set_up', 'failed_precondition', 'No mail here.'),
    }),
  };
  const lines = ['--mail-type=END', '--mail-user=ann@lab'];
  const { body, code, error } = await submitted(lines, [], refused);
  assert.equal(code, 0, error);
  assert.match(error, /warning: --mail-type is ignored: No mail here\./);
  assert.equal(body.notify, undefined);
  const typed = await submitted(lines, ['--notify', 'mail:bob@lab'], refused);
  assert.deepEqual(typed.body.notify, ['mail:bob@lab']);
});
