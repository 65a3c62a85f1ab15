// Commands of Slurm's before a head that answers as it is told.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Verb } from '../../../../src/kernel/cli/verb.ts';
import { Failure } from '../../../../src/kernel/model/failure.ts';
import { verb as sacct } from '../../../../src/wings/slurm/cli/sacct.ts';
import { verb as salloc } from '../../../../src/wings/slurm/cli/salloc.ts';
import { verb as sbatch } from '../../../../src/wings/slurm/cli/sbatch.ts';
import { verb as scancel } from '../../../../src/wings/slurm/cli/scancel.ts';
import { verb as scontrol } from '../../../../src/wings/slurm/cli/scontrol.ts';
import { verb as sinfo } from '../../../../src/wings/slurm/cli/sinfo.ts';
import { verb as squeue } from '../../../../src/wings/slurm/cli/squeue.ts';
import { verb as srun } from '../../../../src/wings/slurm/cli/srun.ts';
import { verb as sstat } from '../../../../src/wings/slurm/cli/sstat.ts';
import { stepVariables } from '../../../../src/wings/slurm/cli/step-rank.ts';
import { ranksOf } from '../../../../src/wings/slurm/core/step.ts';
import { type Answer, type Asked, use } from './use-command.ts';

const done = new Failure({
  code: 'job.already_done',
  kind: 'failed_precondition',
  message: 'Job 42[1] is already done (completed).',
});

test('[X1] scancel ends the tasks of a range that are left, whatever is over', async () => {
  const cancelled: string[] = [];
  const cancel = (_: string, { params }: Asked): void => {
    if (params.id === '42[1]') throw done;
    cancelled.push(params.id);
  };
  assert.deepEqual(await use(scancel, ['42_[1-3]'], cancel), { code: 0, out: '', errors: '' });
  assert.deepEqual(cancelled, ['42[2]', '42[3]']);
});

test('[X1] scancel says what a head refuses, but for jobs that are over', async () => {
  const refused = new Failure({
    code: 'head.behind',
    kind: 'failed_precondition',
    message: 'Refused: it is behind.',
  });
  const got = await use(scancel, ['42'], () => {
    throw refused;
  });
  assert.equal(got.code, 1);
  assert.match(got.errors, /on job id 42: Refused/);
});

test('[X1] a signal reaches all tasks of a range that run', async () => {
  const signalled: string[] = [];
  const got = await use(scancel, ['--full', '-s', 'USR1', '42_[1-3]'], (_, { params }) => {
    if (params.id === '42[1]') throw done;
    signalled.push(params.id);
  });
  assert.equal(got.code, 1);
  assert.deepEqual(signalled, ['42[2]', '42[3]']);
});

const request = {
  nodeCount: 1,
  nodeNames: [],
  labels: [],
  exclusive: false,
  processesPerNode: 1,
  perNode: { cpuCount: 1, memoryBytes: 2 ** 30, gpuCount: 0 },
};

const waiting = (id: number) => ({
  id,
  name: 'md',
  owner: 'ada',
  partition: 'batch',
  state: 'pending',
  outcome: null,
  array: null,
  nodes: [],
  exit: null,
  reason: null,
  startedAt: null,
  endedAt: null,
  submittedAt: 0,
  beginAt: null,
  walltimeMs: null,
  request,
  command: 'true',
  directory: '/work',
  files: { stdout: 'o-%999999999j-%2x.txt' },
});

test('[X4] squeue --start asks for a bounded number of jobs, the oldest first', async () => {
  const asked: number[] = [];
  const got = await use(squeue, ['--start', '-h', '-o', '%i %S'], (name, { params, query }) => {
    if (name === 'explainJob') {
      asked.push(Number(params.id));
      return { startsAt: 86_400_000 };
    }
    const top = query.before ?? 1200;
    const jobs = Array.from({ length: 600 }, (_, at) => waiting(top - 1 - at));
    return { jobs, next: top === 1200 ? 600 : null };
  });
  assert.equal(got.code, 0);
  assert.deepEqual([asked.length, asked[0], asked.at(-1)], [500, 0, 499]);
  const lines = got.out.split('\n');
  assert.equal(lines.length, 1200);
  assert.match(lines[499] ?? '', /^499 1970-01-0/);
  assert.equal(lines[500], '500 N/A');
});

test('[X4] squeue --start says of a job that is to begin later when that is', async () => {
  const beginAt = Date.now() + 30 * 86_400_000;
  const jobs = [waiting(2), waiting(1)];
  const got = await use(squeue, ['--start', '-h', '-o', '%i %S'], (name, { params }) => {
    if (name === 'explainJob') return { startsAt: null };
    if (name === 'getJob') return { beginAt: params.id === '2' ? beginAt : 0 };
    return { jobs, next: null };
  });
  const day = new Date(beginAt - new Date(beginAt).getTimezoneOffset() * 60_000);
  assert.deepEqual(got.out.split('\n').sort(), ['1 N/A', `2 ${day.toISOString().slice(0, 19)}`]);
});

test('[X4] a width that somebody has put into a name makes no long text', async () => {
  const job = { ...waiting(42), ranksPerNode: 1, qos: 'normal', held: false, requeue: true };
  const got = await use(scontrol, ['show', 'job', '42'], (name) =>
    name === 'listTasks' ? { tasks: [], next: null } : { ...job, priority: 0, nice: 0 },
  );
  assert.equal(got.code, 0);
  assert.match(got.out, /StdOut=\/work\/o-%999999999j-md\.txt/);
});

test('[X4] scontrol shows the path of a script as its command, and none of a line', async () => {
  const commandOf = async (
    environment: Record<string, string> | null,
    program: unknown,
    more: { readonly scriptPath?: string } = {},
  ) => {
    const own = { qos: 'normal', held: false, requeue: true, environment, program };
    const job = { ...waiting(42), ...own, ...more };
    const got = await use(scontrol, ['show', 'job', '42'], (name) =>
      name === 'listTasks' ? { tasks: [], next: null } : { ...job, priority: 0, nice: 0 },
    );
    return /Command=(.*)/.exec(got.out)?.[1];
  };
  const script = { kind: 'script', text: '#!/bin/sh', args: ['a', 'b'] };
  assert.equal(await commandOf({}, script, { scriptPath: '/w/md.sh' }), '/w/md.sh a b');
  assert.equal(await commandOf({ WEFT_SLURM_SCRIPT: '/w/md.sh' }, script), '/w/md.sh a b');
  const line = { kind: 'shell', line: 'true' };
  assert.equal(await commandOf({ WEFT_SLURM_SCRIPT: '' }, line), '(null)');
  assert.equal(await commandOf({}, line, { scriptPath: '' }), '(null)');
  assert.equal(await commandOf({}, line), 'true', 'one that came another way');
  assert.equal(await commandOf(null, undefined), 'true', "somebody else's");
});

test('[X2] scontrol update gives a job more time, or less, than it has', async () => {
  const lines: string[] = [];
  const update = (...words: string[]) =>
    use(
      scontrol,
      ['update', ...words],
      () => ({ ...waiting(42), walltimeMs: 600_000 }),
      async (line) => {
        lines.push(line.join(' '));
        return 0;
      },
    );
  assert.equal((await update('job=42', 'TimeLimit=+5', 'name=md')).code, 0);
  assert.equal((await update('JobId=42_3', 'TimeLimit=-1:00')).code, 0);
  assert.equal((await update('JobId=42', 'TimeLimit=-1')).code, 0);
  assert.deepEqual(lines, [
    'change --time=900s --name=md -- 42',
    'change --time=540s -- 42[3]',
    'change --time=none -- 42',
  ]);
  const wrong = await update('JobId=42', 'TimeLimit=+x');
  assert.deepEqual([wrong.code, lines.length], [1, 3]);
});

test('[X2] scontrol changes jobs of a list, in all forms of its words, and partitions', async () => {
  const lines: string[] = [];
  const bodies: object[] = [];
  const control = (...words: string[]) =>
    use(
      scontrol,
      words,
      ((name: string, asked: object) => {
        if (name === 'changePartition') bodies.push(asked);
        return { ...waiting(42), walltimeMs: 600_000 };
      }) as Answer,
      async (line) => {
        lines.push(line.join(' '));
        return 0;
      },
    );
  const words = [
    'update JobId=42,43_[1-2] nice=5000',
    'update job 42 NumNodes=2 gres=gpu:a100:1 priority=0',
    'update jobid=42 TimeLimit+=5',
    'update jobid=42 TimeLimit-=1',
    'update jobid=42 TimeLimit=-1',
    'hold jobname=md',
    'release jobid=42,43',
    'wait_job 42',
    'update PartitionName=batch State=DRAIN',
    'update partition batch State=UP',
  ];
  for (const one of words) assert.equal((await control(...one.split(' '))).code, 0, one);
  assert.deepEqual(lines, [
    'change --nice=100 -- 42',
    'change --nice=100 -- 43[1-2]',
    'change --nodes=2 --gpus=a100:1 --hold -- 42',
    'change --time=900s -- 42',
    'change --time=540s -- 42',
    'change --time=none -- 42',
    'hold --name=md',
    'release -- 42 43',
    'wait --quiet --started -- 42',
  ]);
  const params = { name: 'batch' };
  assert.deepEqual(bodies, [
    { params, body: { state: 'drain' } },
    { params, body: { state: 'up' } },
  ]);
  assert.equal((await control('update', 'jobid=42', 'TimeLimit+=')).code, 1);
  const wrong = await control('update', 'PartitionName=batch', 'MaxTime=1');
  assert.match(wrong.errors, /not supported: maxtime/);
});

test('[X4] scontrol show steps has those that run, and asks for no steps of others', async () => {
  const step = { by: 'ann', startedAt: 0, nodes: ['n1'], processes: 1, command: 'x', exit: null };
  const steps = [
    { ...step, id: '7.0', state: 'running' },
    { ...step, id: '8.0', state: 'ended' },
  ];
  const pages = new Map<unknown, object>([
    [undefined, { steps, next: '8.0' }],
    ['8.0', { steps: [{ ...step, id: '8.1', state: 'running' }], next: null }],
  ]);
  const shown = await use(scontrol, ['show', 'steps'], (name, { query }) => {
    if (name === 'listJobs') return { jobs: [waiting(8), waiting(7)], next: null };
    assert.equal(name, 'listAllSteps');
    const { after, ...span } = query as { after?: string };
    assert.deepEqual(span, { from: 7, to: 8 });
    return pages.get(after);
  });
  assert.deepEqual(shown.out.match(/StepId=\S+/g), ['StepId=7.0', 'StepId=8.1'], shown.errors);
});

test('[X4] a job that waits has a priority unless it is held, and begins when it is to', async () => {
  const beginAt = Date.parse('2100-01-01T00:00:00');
  const shown = async (more: object) => {
    const own = { qos: 'normal', held: false, requeue: true, nice: 0, priority: null, beginAt };
    const got = await use(scontrol, ['show', 'job', '42'], (name) =>
      name === 'listTasks' ? { tasks: [], next: null } : { ...waiting(42), ...own, ...more },
    );
    const of = (key: string) => new RegExp(`${key}=(\\S+)`).exec(got.out)?.[1];
    return ['Priority', 'StartTime', 'EligibleTime'].map(of);
  };
  const begin = '2100-01-01T00:00:00';
  assert.deepEqual(await shown({}), ['1', begin, begin]);
  const openDependencies = [{ jobId: 7, condition: 'ok' }];
  assert.deepEqual(await shown({ held: true, openDependencies, beginAt: null }), [
    '0',
    'Unknown',
    'Unknown',
  ]);
});

test('[X4] squeue --sort orders lines by columns, and turns the order', async () => {
  const job = (id: number, name: string, walltimeMs: number | null, state = 'pending') => {
    return { ...waiting(id), name, walltimeMs, state };
  };
  const jobs = [job(9, 'b', null), job(10, 'a', 60_000), job(11, 'c', 7_200_000, 'running')];
  const said = async (...words: string[]) =>
    use(squeue, ['-h', '-o', '%i', ...words], () => ({ jobs: jobs.toReversed(), next: null }));
  const order = async (sort: string) => (await said('-S', sort)).out.split('\n').join(' ');
  assert.equal((await said()).out, '9\n10\n11');
  assert.deepEqual(await Promise.all(['j', '-i', 'l', 't,-i', '+P,-j'].map(order)), [
    '10 9 11',
    '11 10 9',
    '10 11 9',
    '10 9 11',
    '11 9 10',
  ]);
  assert.match((await said('-S', 'k')).errors, /Invalid sort specification: k/);
});

test('[X4] squeue -l begins with the time, and shows no label by which folders are found', async () => {
  const job = { ...waiting(42), request: { ...request, labels: ['shared=/work', 'big'] } };
  const answer = () => ({ jobs: [job], next: null });
  const { out } = await use(squeue, ['-l'], answer);
  const [time = '', header = '', ...more] = out.split('\n');
  assert.match(time, /^[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d \d{4}$/);
  assert.match(header, /^ +JOBID/);
  assert.equal(more.length, 1);
  assert.equal((await use(squeue, ['-l', '-h'], answer)).out.split('\n').length, 1);
  assert.equal((await use(squeue, ['-h', '-o', '%f'], answer)).out, 'big');
});

function useSinfo(words: readonly string[], all: { nodes: object[]; partitions: object[] }) {
  return use(sinfo, words, (name) =>
    name === 'listNodes' ? { nodes: all.nodes } : { partitions: all.partitions },
  );
}

test('[X4] sinfo says the features of each kind of node', async () => {
  const node = (name: string, labels: readonly string[]) => {
    const own = { cpuCount: 4, memoryBytes: 2 ** 30, gpuCount: 0 };
    return { name, labels, state: 'up', running: [], reason: null, free: own, total: own };
  };
  const partition = { name: 'batch', state: 'up', limits: {}, nodes: ['n1', 'n2'] };
  const nodes = [node('n1', ['big']), node('n2', ['small'])];
  const got = await useSinfo(['-h', '-o', '%N %b'], { nodes, partitions: [partition] });
  assert.deepEqual(got.out.split('\n'), ['n1 big', 'n2 small']);
});

test('[X4] who may use a partition, and whether it is preempted, is told as it is', async () => {
  const own = { name: 'gpu', state: 'inactive', limits: {}, nodes: [], tier: 1 };
  const partition = { ...own, preempt: 'requeue', users: null, groups: ['lab', 'ops'] };
  const all = { nodes: [], partitions: [partition] };
  const got = await useSinfo(['-h', '-o', '%R %a %g %M'], all);
  assert.equal(got.out, 'gpu inact lab,ops REQUEUE');
  const { out } = await use(scontrol, ['show', 'partition'], () => all);
  assert.match(out, /AllowGroups=lab,ops /);
  assert.match(out, /PreemptMode=REQUEUE/);
});

test('[X4] a reservation is said to repeat as it does, where Slurm has a word for that', async () => {
  const flagsOf = async (cron: string | null, purpose = 'users') => {
    const own = { name: 'lab', slots: [], durationMs: 60_000, users: [], groups: [] };
    const recurrence = cron === null ? null : { cron, zone: 'UTC' };
    const reservations = [{ ...own, state: 'active', purpose, recurrence }];
    const got = await use(scontrol, ['show', 'reservation'], () => ({ reservations }));
    return /Flags=(\S*)/.exec(got.out)?.[1];
  };
  assert.equal(await flagsOf('0 8 * * *'), 'DAILY');
  assert.equal(await flagsOf('0 8 * * 1-5'), 'WEEKDAY');
  assert.equal(await flagsOf('0 8 * * 2', 'maintenance'), 'MAINT,WEEKLY');
  assert.equal(await flagsOf('0 */4 * * *'), '');
  assert.equal(await flagsOf(null), '');
});

test('[X2] a reservation from today on begins now, and one from noon on then', async () => {
  const lines: string[] = [];
  for (const start of ['today', 'noon']) {
    const words = ['create', 'reservation', `StartTime=${start}`, 'Duration=10', 'NodeCnt=1'];
    const run = async (line: readonly string[]): Promise<number> => {
      lines.push(line.slice(2).join(' '));
      return 0;
    };
    assert.equal((await use(scontrol, words, () => ({}), run)).code, 0);
  }
  const rest = '--nodes=1 --output=name';
  assert.deepEqual(lines, [`--duration=600s ${rest}`, `--duration=600s --at=12:00 ${rest}`]);
});

test('[X3] a state or a node that there is not is named, and no empty list', async () => {
  const none = { nodes: [], partitions: [], jobs: [], next: null };
  const state = await use(sinfo, ['-t', 'bogus'], () => none);
  assert.deepEqual([state.code, state.errors], [1, 'sinfo: error: Bad state string: "bogus"\n']);
  assert.equal((await use(sinfo, ['-t', 'idle,drain,maint'], () => none)).code, 0);
  for (const verb of [squeue, scancel]) {
    const { code, errors } = await use(verb, ['-w', 'n[1-2]'], () => none);
    assert.equal(code, 1);
    assert.match(errors, /Invalid node name n1/);
  }
});

test('[X1] scancel ends what runs on a node, or with a quality of service', async () => {
  const run = { state: 'running', nodes: ['n1'] };
  const jobs = [{ ...waiting(8), ...run }, { ...waiting(7), qos: 'urgent' }, waiting(6)];
  const ended = async (...words: string[]) => {
    const ids: string[] = [];
    const got = await use(scancel, words, (name, asked) => {
      if (name === 'listNodes') return { nodes: [{ name: 'n1' }] };
      if (name === 'cancelJob') ids.push(asked.params.id);
      return { jobs, next: null };
    });
    assert.equal(got.code, 0, got.errors);
    return ids.join();
  };
  assert.equal(await ended('-w', 'n1'), '8');
  assert.equal(await ended('-q', 'urgent'), '7');
});

test('[X4] sinfo -l has the time, and the columns of Slurm', async () => {
  const own = { cpuCount: 4, memoryBytes: 2 ** 30, gpuCount: 0 };
  const state = { state: 'up', running: [], reason: null };
  const node = { name: 'n1', labels: ['big'], free: own, total: own };
  const limits = { walltimeMs: 3_600_000 };
  const partition = {
    name: 'batch',
    state: 'up',
    limits,
    users: null,
    groups: null,
    nodes: ['n1'],
  };
  const shown = async (...words: string[]) => {
    const { out } = await useSinfo(words, {
      nodes: [Object.assign(node, state)],
      partitions: [partition],
    });
    return out.split('\n').map((line) => line.trim().split(/ +/));
  };
  const [time = [], ...rows] = await shown('-N', '-l');
  assert.match(time.join(' '), /^\w{3} \w{3} \d\d \d\d:\d\d:\d\d \d{4}$/);
  const titles =
    'NODELIST NODES PARTITION STATE CPUS S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON'.split(' ');
  assert.deepEqual(rows, [titles, 'n1 1 batch* idle 4 4:1:1 1024 0 1 big none'.split(' ')]);
  const [, , line] = await shown('-l');
  assert.deepEqual(line, 'batch* up 1:00:00 1-infinite no NO all 1 idle n1'.split(' '));
  assert.deepEqual(await shown('-l', '-h'), [line]);
});

test('[X5] nodes that get no rank are none of the step, and counts add up', () => {
  const nodes = ['n1', 'n2', 'n3', 'n4'];
  const ranks = ranksOf({ nodes, ranksPerNode: 2 }, { tasks: 3, nodeCount: null });
  assert.ok(ranks.ok);
  const used = nodes.filter((_, at) => ranks.value.some(({ node }) => node === at));
  const variables = stepVariables(5, { nodes: used, cpus: 2 });
  assert.equal(variables['SLURM_STEP_TASKS_PER_NODE'], '2(x2),1');
  assert.equal(variables['SLURM_STEP_NUM_NODES'], '3');
  assert.equal(variables['SLURM_TASKS_PER_NODE'], '2(x2),1');
  assert.equal(variables['SLURM_CPUS_PER_TASK'], '2');
});

test('[X4] sacct asks for all jobs that have not ended at once, and not for each', async () => {
  const job = (id: number) => ({
    id,
    name: 'n',
    owner: 'ann',
    state: 'pending',
    taskCount: 1,
    endedAt: null,
  });
  const view = (id: number) => {
    const request = { nodeCount: 1, nodeNames: [], perNode: { cpuCount: 1, memoryBytes: 0 } };
    return { ...job(id), array: null, nodes: [], exit: null, outcome: null, request };
  };
  const ids = [1, 2, 3, 4, 5];
  const asked: string[] = [];
  const got = await use(
    sacct,
    ['-X', '-n', '-P', '-S', 'now-1hour', '-o', 'JobID,State'],
    (name) => {
      asked.push(name);
      if (name === 'whoami') return { name: 'ann' };
      if (name === 'history') return { jobs: ids.map(job), tasks: [], next: null };
      // The last of them has ended meanwhile.
      if (name === 'listJobs') return { jobs: [4, 3, 2, 1].map(view), next: null };
      return view(5);
    },
  );
  assert.equal(got.out, ids.map((id) => `${id}|PENDING`).join('\n'));
  assert.deepEqual(asked, ['whoami', 'history', 'listJobs', 'getJob']);
});

/** What sacct asks of the head after its history, which has these jobs; how many lines it says. */
async function askedOfLive(ids: readonly number[], ownerOf = (_: number) => 'ann') {
  const job = (id: number) => ({
    id,
    name: 'n',
    owner: ownerOf(id),
    state: 'pending',
    taskCount: 1,
    endedAt: null,
  });
  const view = (id: number) => {
    const request = { nodeCount: 1, nodeNames: [], perNode: { cpuCount: 1, memoryBytes: 0 } };
    return { ...job(id), array: null, nodes: [], exit: null, outcome: null, request };
  };
  const asked: { name: string; before?: number; owner?: string }[] = [];
  const got = await use(sacct, ['-a', '-X', '-n', '-S', 'now-1hour'], (name, said?: Asked) => {
    if (name === 'whoami') return { name: 'ann' };
    if (name === 'history') return { jobs: ids.map(job), tasks: [], next: null };
    const { before, owner } = said?.query ?? {};
    asked.push({ name, ...(before !== undefined && { before }), ...(owner && { owner }) });
    if (name === 'getJob') return view(Number(said?.params.id));
    return { jobs: ids.toReversed().map(view), next: null };
  });
  assert.equal(got.code, 0, got.errors);
  return { asked, lines: got.out.split('\n').length };
}

test('[X4] sacct reads the active jobs of others only where it was asked about them', async () => {
  const own = await askedOfLive([7, 8, 9, 10]);
  assert.deepEqual(own, { asked: [{ name: 'listJobs', before: 11, owner: 'ann' }], lines: 4 });
  const two = await askedOfLive([7, 8, 9, 10], (id) => (id === 9 ? 'bob' : 'ann'));
  assert.deepEqual(two.asked, [{ name: 'listJobs', before: 11 }]);
});

test('[X4] sacct asks one by one for a few jobs far apart, and reads many by the page', async () => {
  const few = await askedOfLive([1, 2, 3, 900_000]);
  assert.deepEqual(
    few.asked.map(({ name }) => name),
    ['getJob', 'getJob', 'getJob', 'getJob'],
  );
  const many = await askedOfLive(Array.from({ length: 60 }, (_, at) => 1 + at * 10_000));
  assert.deepEqual(many, {
    asked: [{ name: 'listJobs', before: 590_002, owner: 'ann' }],
    lines: 60,
  });
});

const ANY_HEAD: Answer = () => ({ nodes: [], clusterName: 'lab', jobId: 42 });

test('[X4] sbatch says the path of its script beside the variables, if the head takes it', async () => {
  const bodies: { readonly scriptPath?: string; readonly environment: object }[] = [];
  const own = { environment: { PATH: '/bin' }, cwd: '/w', directory: '/w/.weft' };
  const submit = (isOld: boolean) => {
    const answer = (name: string, asked: { readonly body: (typeof bodies)[number] }) => {
      if (name !== 'submitJob') return { nodes: [], clusterName: 'lab' };
      const { body } = asked;
      bodies.push(body);
      if (!isOld || body.scriptPath === undefined) return { jobId: 42 };
      const message = "unknown key 'scriptPath'";
      throw new Failure({ kind: 'invalid_argument', code: 'argument.invalid', message });
    };
    return use(sbatch, ['--wrap=true'], answer as unknown as Answer, undefined, own);
  };
  const quiet = await use(sbatch, ['-Q', '--parsable', '--wrap=true'], ANY_HEAD, undefined, own);
  assert.deepEqual([quiet.code, quiet.out], [0, '']);
  for (const isOld of [false, true]) {
    const got = await submit(isOld);
    assert.deepEqual([got.code, got.out], [0, 'Submitted batch job 42'], got.errors);
  }
  assert.deepEqual(
    bodies.map(({ scriptPath }) => scriptPath),
    ['', '', undefined],
  );
  for (const { environment } of bodies) assert.ok(!('WEFT_SLURM_SCRIPT' in environment));
});

test('[X2] output that is thrown away is not kept, and each file is looked at by itself', async () => {
  const own = { environment: { PATH: '/bin' }, cwd: '/w', directory: '/w/.weft' };
  const submit = async (...args: string[]) => {
    let files: unknown;
    const answer = (name: string, asked?: { readonly body: { readonly files?: unknown } }) => {
      if (name === 'listNodes') return { nodes: [{ sharedPaths: ['/w'] }] };
      if (name === 'submitJob') files = asked?.body.files;
      return { jobId: 42, clusterName: 'lab' };
    };
    const words = [...args, '--wrap=true'];
    const { errors } = await use(sbatch, words, answer as unknown as Answer, undefined, own);
    return { files, errors };
  };
  const nothing = { stdout: '/dev/null', stderr: '/dev/null' };
  assert.deepEqual(await submit('-o', '/dev/null'), { files: nothing, errors: '' });
  const { files, errors } = await submit('-o', '/dev/null', '-e', '/mine/errors');
  assert.deepEqual(files, { stdout: '/dev/null' });
  assert.match(errors, /^slurm: warning: no node shares \/mine: output is kept by the head/);
  const kept = await submit('-o', 'out', '-e', '/mine/errors');
  assert.deepEqual(kept.files, { stdout: 'out' });
});

test('[X2] sbatch --test-only says when a job would start, with a number, as Slurm does', async () => {
  const rehearsed: object[] = [];
  const startsAt = Date.parse('2030-01-01T00:00:00');
  const answer = (name: string, asked?: { readonly body: object }) => {
    if (name === 'rehearseJob') rehearsed.push(asked?.body ?? {});
    if (name === 'listJobs') return { jobs: [{ id: 41 }] };
    return { nodes: [], clusterName: 'lab', startsAt, startNodes: ['n1', 'n2'], words: '' };
  };
  const own = { environment: { PATH: '/bin' }, cwd: '/w', directory: '/w/.weft' };
  const words = [
    '--test-only',
    '-H',
    '-N2',
    '-o',
    '/dev/null',
    '-b',
    '2030-01-02T10:00',
    '--wrap=x',
  ];
  const got = await use(sbatch, words, answer as unknown as Answer, undefined, own);
  assert.equal(
    got.errors,
    'sbatch: Job 42 to start at 2030-01-02T10:00:00 using 2 processors on nodes n[1-2] in partition default\n',
  );
  const [{ held, beginAt }] = rehearsed as [{ held?: boolean; beginAt?: number }];
  assert.deepEqual([held, beginAt], [undefined, undefined]);
});

test('[X1] a clean environment has the folder of the commands, and names that are set', async () => {
  let environment: Readonly<Record<string, string>> = {};
  const answer = (name: string, asked?: { readonly body: { environment: typeof environment } }) => {
    if (name === 'submitJob') environment = asked?.body.environment ?? {};
    return { nodes: [], clusterName: 'lab', jobId: 42 };
  };
  const set = { PATH: '/bin', A: '1', WEFT_SLURM_FOLDER: '/opt/front', SLURM_CPU_BIND: 'none' };
  const submit = (text: string) =>
    use(
      sbatch,
      [`--export=${text}`, '-o', '/dev/null', '--wrap=x'],
      answer as unknown as Answer,
      undefined,
      {
        environment: { ...set, SLURM_JOB_ID: '7' },
        cwd: '/w',
        directory: '/w/.weft',
      },
    );
  assert.equal((await submit('A,GONE')).code, 0);
  const { A, GONE, PATH, WEFT_SLURM_FOLDER: folder, SLURM_EXPORT_ENV: exported } = environment;
  assert.deepEqual(
    [A, GONE, PATH, folder, exported],
    ['1', undefined, undefined, '/opt/front', 'A,GONE'],
  );
  assert.equal((await submit('ALL')).code, 0);
  const {
    PATH: all,
    WEFT_SLURM_FOLDER: none,
    SLURM_CPU_BIND: bind,
    SLURM_JOB_ID: id,
  } = environment;
  assert.deepEqual([all, none, bind, id], ['/bin', undefined, 'none', undefined]);
});

test('[X3] words that cannot be read end as those of Slurm do, with its own code for their form', async () => {
  const hint = '\nTry "NAME --help" for more information\n';
  const own = { environment: {}, cwd: '/w', directory: '/w/.weft' };
  const cases: readonly (readonly [
    verb: Verb,
    name: string,
    word: string,
    code: number,
    says: string,
  ])[] = [
    [sbatch, 'sbatch', '--nope', 255, `NAME: unrecognized option '--nope'${hint}`],
    [sbatch, 'sbatch', '-t', 255, `NAME: option requires an argument -- 't'${hint}`],
    [sbatch, 'sbatch', '--no', 255, `'--no' is ambiguous; possibilities: '--nodes' '--nodelist' `],
    [sbatch, 'sbatch', '--time=1h', 255, 'NAME: error: Invalid --time specification'],
    [sbatch, 'sbatch', '--mem=x', 255, 'NAME: error: Invalid --mem specification'],
    [sbatch, 'sbatch', '--nodes=x', 255, 'NAME: error: "x" is not a valid node count'],
    [sbatch, 'sbatch', '--begin=x', 255, 'NAME: error: --begin: '],
    [sbatch, 'sbatch', '--ntasks=0', 1, 'NAME: error: Invalid numeric value "0" for --ntasks.'],
    [sbatch, 'sbatch', '--gres=x', 1, 'NAME: error: Invalid generic resource (gres) specification'],
    [srun, 'srun', '--nope', 255, `NAME: unrecognized option '--nope'${hint}`],
    [squeue, 'squeue', '-Z', 1, `NAME: invalid option -- 'Z'${hint}`],
    [sacct, 'sacct', '--nope', 1, `NAME: unrecognized option '--nope'\n`],
  ];
  for (const [verb, name, word, wanted, says] of cases) {
    const words = verb === sbatch ? ['-o', '/dev/null', '--wrap=true', word] : [word];
    const { code, errors } = await use(verb, words, ANY_HEAD, undefined, { ...own, program: name });
    assert.equal(code, wanted, `${name} ${word}: ${errors}`);
    assert.ok(errors.includes(says.replaceAll('NAME', name)), errors);
  }
});

test('[X2] salloc --no-shell holds nodes and leaves them held', async () => {
  const asked: string[] = [];
  const hold = (state: string) => {
    const answer: Answer = (name) => {
      asked.push(name);
      return name === 'waitForJob'
        ? { job: { state } }
        : { nodes: [], clusterName: 'lab', jobId: 42 };
    };
    const note = (text: string) => asked.push(text);
    const own = { environment: {}, cwd: '/w', directory: '/w/.weft', note };
    return use(salloc, ['--no-shell', '-t', '60'], answer, undefined, own);
  };
  const held = { code: 0, out: '', errors: 'salloc: Granted job allocation 42\n' };
  assert.deepEqual(await hold('running'), held);
  assert.deepEqual(asked.slice(-2), ['submitJob', 'waitForJob'], 'nothing ends it');
  assert.deepEqual(await hold('done'), { code: 1, out: '', errors: '' });
  assert.equal(asked.at(-1), 'job 42 has ended before its nodes were held');
});

test('[X4] sstat knows all columns of Slurm', async () => {
  const used = { memoryBytes: { peak: 2048, mean: 1024 }, cpuMilli: { mean: 0 } };
  const job = { id: 42, array: null, state: 'running', nodes: ['n1'], used, steps: [] };
  const words = ['-nP', '-j', '42', '-o', 'JobID,AvePages,AveVMSize,Pids,MaxRSS'];
  const { out, errors } = await use(sstat, words, () => job);
  assert.equal(out, '42.batch||||2K', errors);
  assert.match((await use(sstat, ['-e'], () => job)).out, /^AveVMSize$/m);
});

test('[X3] scancel of a user that there is none of says so', async () => {
  const answer: Answer = (_, { query }) => ({
    jobs: [],
    next: null,
    ownerIsKnown: query.owner === 'weft-test-token',
  });
  const { code, errors } = await use(scancel, ['-u', 'weft-test-none'], answer);
  assert.deepEqual([code, errors], [1, 'scancel: error: Invalid user name: weft-test-none\n']);
  for (const known of ['root', 'weft-test-token'])
    assert.equal((await use(scancel, ['-u', known], answer)).code, 0, known);
});

test('[X1] --cluster is --clusters, and srun names the kinds of --mpi', async () => {
  const own = { environment: {}, cwd: '/w', directory: '/w/.weft' };
  const words = ['--cluster', 'lab', '--parsable', '-o', '/dev/null', '--wrap=true'];
  assert.equal((await use(sbatch, words, ANY_HEAD, undefined, own)).out, '42;lab');
  const { code, out } = await use(srun, ['--mpi=list'], ANY_HEAD, undefined, own);
  assert.deepEqual([code, out.split('\n\t').includes('pmix')], [0, true]);
});

test('[X1] scancel and squeue go by the variables of their pages', async () => {
  const cancelled: string[] = [];
  const request = { nodeCount: 1, perNode: {} };
  const own = { partition: 'a', state: 'pending', array: null, reason: null, nodes: [], request };
  const jobs = [
    { ...own, id: 1, name: 'x', owner: 'root' },
    { ...own, id: 2, name: 'y', owner: 'root' },
  ];
  const answer: Answer = (name, { params }) => {
    if (name === 'cancelJob') cancelled.push(params.id);
    return { jobs, next: null };
  };
  const environment = { SCANCEL_NAME: 'y', SCANCEL_STATE: 'PD', SCANCEL_USER: 'root' };
  const got = await use(scancel, ['1', '2'], answer, undefined, { environment });
  assert.deepEqual([got.code, got.errors, cancelled], [0, '', ['2']]);
  const account = { environment: { SQUEUE_ACCOUNT: 'lab' } };
  const { errors } = await use(squeue, [], answer, undefined, account);
  assert.match(errors, /SQUEUE_ACCOUNT is not honoured here: there are no accounts/);
});
