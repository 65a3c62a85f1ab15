// What programs that speak Slurm type, as their sources have it, and what they read of the answers:
// before a head that answers as it is told.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../../../../src/kernel/model/failure.ts';
import { instant, tellInstantsAs } from '../../../../src/wings/slurm/cli/instants.ts';
import { commandLine } from '../../../../src/wings/slurm/cli/job-rows.ts';
import { verb as sacct } from '../../../../src/wings/slurm/cli/sacct.ts';
import { verb as scontrol } from '../../../../src/wings/slurm/cli/scontrol.ts';
import { verb as sinfo } from '../../../../src/wings/slurm/cli/sinfo.ts';
import { verb as squeue } from '../../../../src/wings/slurm/cli/squeue.ts';
import { type Answer, use } from './use-command.ts';

const job = {
  id: 42,
  name: 'md run',
  owner: 'nobody-here',
  partition: 'batch',
  state: 'running',
  outcome: null,
  array: null,
  nodes: ['n1', 'n2'],
  exit: null,
  reason: null,
  startedAt: 60_000,
  runStartedAt: 60_000,
  endedAt: null,
  submittedAt: 0,
  walltimeMs: 3_600_000,
  command: './md',
  directory: '/data',
  priority: null,
  held: false,
  request: {
    nodeCount: 2,
    nodeNames: [],
    labels: [],
    exclusive: false,
    processesPerNode: 1,
    perNode: { cpuCount: 2, memoryBytes: 2 ** 30, gpuCount: 0 },
    ofCluster: { matlab: 2 },
  },
};
const page = {
  ...job,
  comment: 'blue',
  nice: 7,
  requeue: true,
  qos: 'normal',
  ranks: 4,
  beginAt: null,
  files: { stdout: 'o-%j.txt' },
};
const resources = { cpuCount: 4, memoryBytes: 2 ** 31, gpuCount: 2, counted: {} };
const free = { ...resources, cpuCount: 1, memoryBytes: 2 ** 30, gpuCount: 1 };
const node = {
  name: 'n1',
  labels: ['big'],
  state: 'up',
  running: ['42#1'],
  reason: null,
  drained: null,
  total: resources,
  free,
  load: { load1: 1.5, memoryFreeBytes: 2 ** 29, diskFreeBytes: 0 },
  facts: { arch: 'x64' },
};
const limits = {
  walltimeMs: 86_400_000,
  walltimeDefaultMs: 3_600_000,
  nodesPerTask: 2,
  memoryPerNodeBytes: null,
};
const partition = {
  name: 'batch',
  state: 'up',
  preempt: 'off',
  tier: 3,
  limits,
  nodes: ['n1'],
  users: null,
  groups: null,
};

const answer: Answer = (name) => {
  const answers: Readonly<Record<string, unknown>> = {
    info: { clusterName: 'lab' },
    listJobs: { jobs: [job], next: null },
    getJob: page,
    listNodes: { nodes: [node] },
    listPartitions: { partitions: [partition] },
  };
  return answers[name];
};

test('[X4] squeue has each column that Open OnDemand asks for, with its separators', async () => {
  const names = `Account JobID BatchHost MinCpus NumCPUs MinTmpDisk NumNodes EndTime Dependency Feature
    ArrayJobID GroupName GroupID OverSubscribe Sockets JobArrayID Cores Name Threads Comment
    ArrayTaskID TimeLimit TimeLeft MinMemory TimeUsed ReqNodes NodeList Command Contiguous QOS
    Partition PriorityLong Reason StartTime StateCompact State UserName UserID Reservation
    SubmitTime WCKey Licenses ExcNodes CoreSpec Nice SchedNodes SCT WorkDir tres-alloc tres-per-node`;
  const all = names.split(/\s+/);
  const format = all.map((name) => `${name}:\x1f,`).join('');
  const args = ['--all', '--states=all', '--noconvert', '-O', format, '-j', '42', '-M', 'lab'];
  const { code, out } = await use(squeue, args, answer);
  const [cluster, header = '', line = '', ...more] = out.split('\n');
  assert.deepEqual([code, cluster, more], [0, 'CLUSTER: lab', []]);
  assert.ok(header.endsWith('TRES_PER_NODE\x1f'), header);
  const values = line.split('\x1f');
  const said = Object.fromEntries(all.map((name, at) => [name, values[at]]));
  assert.equal(values.length, all.length + 1);
  assert.deepEqual(
    [
      said['JobID'],
      said['Name'],
      said['NodeList'],
      said['Nice'],
      said['Comment'],
      said['Licenses'],
    ],
    ['42', 'md run', 'n[1-2]', '7', 'blue', 'matlab:2'],
  );
  assert.deepEqual(
    [said['Account'], said['UserID'], said['GroupName'], said['CoreSpec'], said['tres-alloc']],
    ['(null)', 'nobody-here', 'N/A', 'N/A', 'cpu=4,mem=2048M,node=2'],
  );
});

test('[X4] squeue asks for the page of a job only where a column is of it', async () => {
  const asked: string[] = [];
  const heard: Answer = (name, words) => {
    asked.push(name);
    return answer(name, words);
  };
  const old = ['-h', '-o', '%i^^^%t^^^%r^^^%B^^^%D^^^%C^^^%R^^^%l^^^%z', '--jobs=42,42'];
  assert.equal(
    (await use(squeue, old, heard)).out,
    '42^^^R^^^None^^^n1^^^2^^^4^^^n[1-2]^^^1:00:00^^^*:*:*',
  );
  assert.deepEqual(asked, ['listJobs']);
  const paged = await use(squeue, ['-h', '-O', 'STDOUT: ,NumTasks:,Nice:.3'], heard);
  assert.equal(paged.out, '/data/o-42.txt 4  7');
  assert.deepEqual(asked, ['listJobs', 'listJobs', 'getJob']);
  const whole = (await use(squeue, ['-o', '%all'], heard)).out.split('\n');
  assert.equal(whole[0]?.split('|').length, 51);
});

test('[X3] squeue of users that there are none of says so, and shows the jobs of the others', async () => {
  const none = 'weft-test-none';
  const own = { ...job, owner: 'weft-test-own' };
  const heard: Answer = (name, words) => {
    const { owner } = words?.query ?? {};
    if (name === 'listJobs') return { jobs: owner === none ? [] : [own], next: null };
    // What they own may be over, and known of the history alone.
    if (name === 'history') return { jobs: owner === 'weft-test-over' ? [job] : [] };
    return answer(name, words);
  };
  const said = (users: string) => use(squeue, ['-h', '-o', '%i', '-u', users], heard);
  const words = `squeue: error: Invalid user: ${none}\n`;
  assert.deepEqual(await said(none), { code: 1, out: '', errors: words });
  assert.deepEqual(await said('weft-test-own'), { code: 0, out: '42', errors: '' });
  assert.deepEqual(await said(`weft-test-own,${none}`), { code: 0, out: '42', errors: words });
  const empty: Answer = (name, words) =>
    name === 'listJobs'
      ? { jobs: [], next: null, ownerIsKnown: words?.query.owner === 'weft-test-token' }
      : heard(name, words);
  for (const known of ['root', 'weft-test-over', 'weft-test-token']) {
    const { code, errors } = await use(squeue, ['-u', known], empty);
    assert.deepEqual([code, errors], [0, ''], known);
  }
});

test('[X3] what names another cluster, or is not honoured, is refused by name', async () => {
  for (const verb of [squeue, sinfo, sacct]) {
    const { code, errors } = await use(verb, ['-M', 'other'], answer);
    assert.deepEqual([code, /'other' is no cluster here\n.*There is lab/.test(errors)], [1, true]);
  }
  // Of a filter that is not known the list would be one of other jobs.
  for (const verb of [squeue, sacct])
    assert.match(
      (await use(verb, ['-A', 'lab'], answer)).errors,
      /--accounts? is not honoured here/,
    );
  const steps = await use(squeue, ['--steps'], answer);
  assert.match(steps.errors, /--steps is not honoured here: say sacct/);
  assert.match((await use(sinfo, ['-T'], answer)).errors, /--reservation is not honoured here/);
});

test('[X4] sinfo has what Toil, exporters and Open OnDemand ask for', async () => {
  const said = async (...args: string[]) => (await use(sinfo, args, answer)).out;
  assert.equal(
    await said('-a', '-o', '%P %G %l %p %c %m'),
    'PARTITION GRES TIMELIMIT PRIO_TIER CPUS MEMORY\nbatch* gpu:2 1-00:00:00 3 4 2048',
  );
  assert.deepEqual(
    (await said('-h', '-N', '-O', 'NodeList,AllocMem,Memory,CPUsState,GresUsed,StateLong')).split(
      / +/,
    ),
    ['n1', '1024', '2048', '3/1/0/4', 'gpu:1', 'mixed', ''],
  );
  assert.equal(await said('-aho', '%F/%C'), '1/0/0/1/3/1/0/4');
  assert.equal(await said('-ho', '\x1e%c\x1f%n\x1f%f', '-M', 'lab'), '\x1e4\x1fn1\x1fbig');
  assert.equal(
    await said('-h', '-o', '%O %e %L %s %v %I %M'),
    '1.50 512 1:00:00 1-2 22.05.8 1 OFF',
  );
});

test('[X4] sinfo --sort orders lines by columns, and partitions as they are configured', async () => {
  const busy = { ...node, name: 'a', running: ['1#1'], total: { ...resources, cpuCount: 16 } };
  const idle = { ...node, name: 'b', running: [], free: resources };
  const gone = { ...node, name: 'c', state: 'away', total: { ...resources, cpuCount: 2 } };
  const long = { ...partition, name: 'z', nodes: ['a', 'b'] };
  const short = { ...partition, limits: { ...limits, walltimeMs: 3_600_000 }, nodes: ['c'] };
  const heard: Answer = (name, words) => {
    if (name === 'listNodes') return { nodes: [busy, idle, gone] };
    return name === 'listPartitions' ? { partitions: [long, short] } : answer(name, words);
  };
  const order = async (sort: string, format = '%n') =>
    (await use(sinfo, ['-h', '-o', format, '-S', sort], heard)).out.split('\n').join(' ');
  assert.equal(await order('-n'), 'c b a');
  assert.equal(await order('c'), 'c b a');
  assert.equal(await order('t', '%n %t'), 'c down* b idle a mix');
  assert.equal(await order('P', '%R'), 'batch z');
  assert.equal(await order('#P', '%R'), 'z batch');
  assert.equal(await order('l', '%R'), 'batch z');
  assert.equal(await order('#P,-t,n', '%R/%n'), 'z/a z/b batch/c');
  assert.match((await use(sinfo, ['-S', '#N'], heard)).errors, /Invalid sort specification: #N/);
});

test('[X4] scontrol shows partitions and nodes with the fields that clients read', async () => {
  const part = await use(scontrol, ['show', 'part', '-o'], answer);
  assert.match(part.out, /^PartitionName=batch AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL /);
  assert.match(part.out, /Default=YES .*MaxTime=1-00:00:00 .*PriorityTier=3 .*TotalCPUs=4 /);
  assert.match(part.out, / TRES=cpu=4,mem=2048M,node=1,gres\/gpu=2$/);
  const { out } = await use(scontrol, ['show', 'nodes', 'n1'], answer);
  assert.match(
    out,
    /^NodeName=n1 Arch=x86_64 CoresPerSocket=1\n {3}CPUAlloc=3 CPUEfctv=4 CPUTot=4 /,
  );
  assert.match(out, /\n {3}CfgTRES=cpu=4,mem=2048M,gres\/gpu=2\n {3}AllocTRES=cpu=3,mem=1024M,/);
  assert.match((await use(scontrol, ['show', 'node', 'n9'], answer)).errors, /Node n9 not found/);
  const config = await use(scontrol, ['show', 'config', '-M', 'lab'], answer);
  assert.match(config.out, /ClusterName +=\slab\n/);
  const job = await use(scontrol, ['-o', 'show', 'job=42'], (name, words) =>
    name === 'listTasks' ? { tasks: [], next: null } : answer(name, words),
  );
  assert.match(job.out, /^JobId=42 JobName=md run .*Licenses=matlab:2 .*Comment=blue /);
});

test('[X4] gpus that nobody may be given are not in use', async () => {
  const ill = { ...node, free: { ...free, gpuCount: 0 }, gpusUnusable: 1 };
  const heard: Answer = (name, words) =>
    name === 'listNodes' ? { nodes: [ill] } : answer(name, words);
  assert.match((await use(sinfo, ['-hO', 'Gres:8,GresUsed:8'], heard)).out, /^gpu:2 +gpu:1 *$/);
  const { out } = await use(scontrol, ['show', 'node', 'n1'], heard);
  assert.match(out, /\n {3}AllocTRES=cpu=3,mem=1024M,gres\/gpu=1$/m);
});

test('[X4] sacct knows all columns of Slurm, and says memory in the unit that is asked for', async () => {
  const { out } = await use(sacct, ['--helpformat'], answer);
  for (const name of 'AssocID DBIndex MaxRSS ReqNodes TRESUsageOutTot UID WCKeyID'.split(' '))
    assert.ok(out.split('\n').includes(name), name);
  const record = { ...job, state: 'done', cpuCount: 2, nodeCount: 1, memoryBytes: 2 ** 29 };
  const ended = {
    ...record,
    taskCount: 1,
    endedAt: 90_000,
    outcome: { kind: 'completed', exit: null },
  };
  const args = ['-XnP', '-j', '42', '--units', 'G', '-o', 'JobId,Cluster,ReqMem,AllocTRES,State'];
  const heard: Answer = (name, words) => {
    if (name === 'whoami') return { name: 'ada' };
    if (name === 'history') return { jobs: [ended], tasks: [], next: null, nextTask: null };
    return answer(name, words);
  };
  const got = await use(sacct, args, heard);
  assert.equal(got.out, '42|lab|0.50G|cpu=2,mem=0.50G,node=1|COMPLETED', got.errors);
  const end = { startedAt: 1000, endedAt: 90_000, nodes: ['n1'], outcome: ended.outcome };
  const task = { id: '42', jobId: 42, index: null, epoch: 1, final: true, ...end, gpuCount: 2 };
  const withGpus: Answer = (name, words) =>
    name === 'history'
      ? { jobs: [ended], tasks: [task], next: null, nextTask: null }
      : heard(name, words);
  const gpus = await use(sacct, args, withGpus);
  assert.match(gpus.out, /\|cpu=2,mem=0\.50G,node=1,gres\/gpu=2\|/, gpus.errors);
  assert.match(
    (await use(sacct, ['-X', '-j', '42', '--units=Q'], heard)).errors,
    /Invalid units option/,
  );
});

test('[X4] sacct has of a step the nodes, cpus, memory and gpus that are its own', async () => {
  const record = { ...job, state: 'done', cpuCount: 4, nodeCount: 2, memoryBytes: 2 ** 29 };
  const outcome = { kind: 'completed', exit: null };
  const ended = { ...record, taskCount: 1, endedAt: 90_000, outcome };
  const times = { startedAt: 1000, endedAt: 90_000 };
  const of = { jobId: 42, index: null, epoch: 1, final: true, outcome, gpuCount: 4 };
  const task = { id: '42', nodes: ['n1', 'n2'], ...times, ...of };
  const plain = { command: 'hostname', state: 'ended', nodes: ['n1'], processes: 1 };
  const end = { exit: { code: 0 }, why: null, used: null };
  const step = (number: number, own: object) => {
    return { id: `42.${number}`, ...plain, ...end, ...times, ...own };
  };
  const steps = [
    step(0, {}),
    step(1, { nodes: ['n1', 'n2'], processes: 2, cpus: ['0', '0'] }),
    step(2, { processes: 2, cpus: ['0-1', '1,5'] }),
    step(3, { cpuCount: 1 }),
  ];
  const heard: Answer = (name, words) => {
    if (name === 'whoami') return { name: 'ada' };
    if (name === 'history') return { jobs: [ended], tasks: [task], next: null, nextTask: null };
    if (name === 'listAllSteps') return { steps, next: null };
    return answer(name, words);
  };
  const format = 'JobID,AllocCPUS,NNodes,AllocNodes,AllocTRES,CPUTimeRAW,ReqMem';
  const { out, errors } = await use(sacct, ['-nP', '-j', '42', '-o', format], heard);
  assert.deepEqual(
    out.split('\n'),
    [
      '42|8|2|2|cpu=8,mem=1024M,node=2,gres/gpu=4|712|1024M',
      '42.batch|8|2|2|cpu=8,mem=1024M,node=2,gres/gpu=4|712|1024M',
      '42.0|4|1|1|cpu=4,mem=512M,node=1,gres/gpu=2|356|1024M',
      '42.1|8|2|2|cpu=8,mem=1024M,node=2,gres/gpu=4|712|1024M',
      '42.2|3|1|1|cpu=3,mem=512M,node=1,gres/gpu=2|267|1024M',
      '42.3|1|1|1|cpu=1,mem=512M,node=1,gres/gpu=2|89|1024M',
    ],
    errors,
  );
});

test('[X4] sacct has of a job with whole nodes all that these had, and what it asked for', async () => {
  const record = { ...job, state: 'done', cpuCount: 1, nodeCount: 2, memoryBytes: 2 ** 29 };
  const outcome = { kind: 'completed', exit: null };
  const ended = { ...record, taskCount: 1, endedAt: 90_000, outcome };
  const times = { startedAt: 1000, endedAt: 90_000 };
  const held = { heldCpus: 12, heldMemoryBytes: 2 ** 34, gpuCount: 0 };
  const of = { jobId: 42, index: null, epoch: 1, final: true, outcome, ...held };
  const task = { id: '42', nodes: ['n1', 'n2'], ...times, ...of };
  const heard: Answer = (name, words) => {
    if (name === 'history') return { jobs: [ended], tasks: [task], next: null, nextTask: null };
    if (name === 'listAllSteps') return { steps: [], next: null };
    return name === 'whoami' ? { name: 'ada' } : answer(name, words);
  };
  const format = 'AllocCPUS,AllocTRES,CPUTimeRAW,ReqCPUS,ReqTRES,ReqMem';
  const { out, errors } = await use(sacct, ['-XnP', '-j', '42', '-o', format], heard);
  const [given, wanted] = ['cpu=12,mem=16384M,node=2', 'cpu=2,mem=1024M,node=2'];
  assert.equal(out, `12|${given}|1068|2|${wanted}|1024M`, errors);
});

test('[X4] squeue, scontrol and sacct have of a job that holds whole nodes all of these', async () => {
  const whole = { ...job, nodes: ['n1', 'n2'], request: { ...job.request, exclusive: true } };
  const record = { ...whole, cpuCount: 2, nodeCount: 2, memoryBytes: 2 ** 30, taskCount: 1 };
  const asked: string[] = [];
  const heard: Answer = (name, words) => {
    asked.push(name);
    const answers: Readonly<Record<string, unknown>> = {
      listJobs: { jobs: [whole], next: null },
      getJob: { ...page, ...whole },
      listNodes: { nodes: [node, { ...node, name: 'n2' }] },
      listTasks: { tasks: [], next: null },
      listAllSteps: { steps: [], next: null },
      history: { jobs: [record], tasks: [], next: null, nextTask: null },
      whoami: { name: 'ada' },
    };
    return answers[name] ?? answer(name, words);
  };
  const tres = 'cpu=8,mem=4096M,node=2,gres/gpu=4';
  const queue = await use(squeue, ['-h', '-O', 'NumCPUs:|,MinCpus:|,tres-alloc:'], heard);
  assert.equal(queue.out, `8|2|${tres}`, queue.errors);
  const { jobs } = JSON.parse((await use(squeue, ['--json'], heard)).out);
  assert.deepEqual([jobs[0].cpus, jobs[0].job_resources.allocated_cpus], [8, 8]);
  const { out } = await use(scontrol, ['-o', 'show', 'job', '42'], heard);
  assert.match(out, / NumCPUs=8 NumTasks=4 CPUs\/Task=2 TRES=cpu=8,mem=4096M,node=2,gres\/gpu=4 /);
  const format = 'AllocCPUS,AllocTRES,ReqCPUS,ReqTRES,ReqMem';
  const records = await use(sacct, ['-XnP', '-j', '42', '-o', format], heard);
  assert.equal(records.out, `8|${tres}|4|cpu=4,mem=2048M,node=2|2048M`, records.errors);
  // What a job has of a node that stands for a site nobody here knows, nor of one that is gone.
  const site = { ...node, facts: { site: 'n1' } };
  for (const nodes of [[site], []]) {
    const other: Answer = (name, words) => (name === 'listNodes' ? { nodes } : heard(name, words));
    assert.equal((await use(squeue, ['-h', '-o', '%C'], other)).out, '4');
  }
  asked.length = 0;
  await use(squeue, ['-h'], heard);
  assert.deepEqual(asked, ['listJobs'], 'the usual columns need no nodes');
});

test('[X4] sacct --json has what a job was given, by kinds', async () => {
  const record = { ...job, state: 'done', cpuCount: 4, nodeCount: 1, memoryBytes: 2 ** 29 };
  const outcome = { kind: 'completed', exit: null };
  const ended = { ...record, taskCount: 1, endedAt: 90_000, outcome };
  const of = { jobId: 42, index: null, epoch: 1, final: true, outcome, gpuCount: 2 };
  const task = { id: '42', nodes: ['n1'], startedAt: 1000, endedAt: 90_000, ...of };
  const ran = { state: 'ended', nodes: ['n1'], startedAt: 2000, endedAt: 9000, why: null };
  const end = { exit: { code: 7 }, used: null };
  const step = { id: '42.0', command: './solve -x', processes: 3, ...ran, ...end };
  const heard: Answer = (name, words) => {
    if (name === 'history') return { jobs: [ended], tasks: [task], next: null, nextTask: null };
    if (name === 'listAllSteps') return { steps: [step], next: null };
    return name === 'whoami' ? { name: 'ada' } : answer(name, words);
  };
  const { out } = await use(sacct, ['-j', '42', '--json'], heard);
  const said: {
    jobs: {
      tres: Record<string, { type: string; count: number }[]>;
      steps: { step: object; state: string; tasks: object; exit_code: object }[];
    }[];
  } = JSON.parse(out);
  assert.deepEqual(
    said.jobs[0]?.tres['allocated']?.map(({ type, count }) => [type, count]),
    [
      ['cpu', 4],
      ['mem', 512],
      ['node', 1],
      ['gres', 2],
    ],
  );
  assert.deepEqual(
    said.jobs[0]?.steps.map((one) => [one.step, one.state, one.tasks]),
    [
      [{ id: '42.batch', name: 'batch' }, 'COMPLETED', { count: 1 }],
      [{ id: '42.0', name: 'solve' }, 'FAILED', { count: 3 }],
    ],
  );
  const code = { status: 'SUCCESS', return_code: 7, signal: { signal_id: 0 } };
  assert.deepEqual(said.jobs[0]?.steps[1]?.exit_code, code);
  // The steps of a job that is left out are not those of the one before it.
  const lost = { ...ended, id: 43, outcome: { kind: 'failed', exit: { code: 1 } } };
  const two: Answer = (name, words) => {
    const steps = [step, { ...step, id: '43.0', exit: { code: 0 } }];
    if (name === 'listAllSteps') return { steps, next: null };
    if (name !== 'history') return heard(name, words);
    const { jobId } = words.query as { jobId?: number };
    const other = { ...task, jobId: 43, id: '43', outcome: lost.outcome };
    const [jobs, tasks] = jobId === 42 ? [[ended], [task]] : [[lost], [other]];
    return { jobs, tasks, next: null, nextTask: null };
  };
  const whole = JSON.parse((await use(sacct, ['-j', '42,43', '-s', 'CD', '--json'], two)).out);
  assert.deepEqual(
    whole.jobs.map((one: (typeof said)['jobs'][number]) => one.steps.map(({ step }) => step)),
    [
      [
        { id: '42.batch', name: 'batch' },
        { id: '42.0', name: 'solve' },
      ],
    ],
  );
  const alone = JSON.parse((await use(sacct, ['-j', '42.0', '--json'], heard)).out);
  assert.deepEqual(
    alone.jobs[0].steps.map(({ step: { id } }: { step: { id: string } }) => id),
    ['42.0'],
  );
});

test('[X4] sacct has nothing that a job was given that never started', async () => {
  const outcome = { kind: 'cancelled', exit: null };
  const record = { ...job, state: 'done', cpuCount: 4, nodeCount: 1, memoryBytes: 2 ** 29 };
  const ended = { ...record, taskCount: 1, startedAt: null, endedAt: 90_000, outcome };
  const heard: Answer = (name, words) => {
    if (name === 'history') return { jobs: [ended], tasks: [], next: null, nextTask: null };
    return name === 'whoami' ? { name: 'ada' } : answer(name, words);
  };
  const { out } = await use(sacct, ['-XnP', '-j', '42', '-o', 'AllocTRES,ReqTRES,State'], heard);
  assert.equal(out.trim(), '|cpu=4,mem=512M,node=1|CANCELLED');
});

test('[X4] sacct takes dates as reportseff writes them', async () => {
  const from: unknown[] = [];
  const heard: Answer = (name, asked) => {
    if (name === 'whoami') return { name: 'ada' };
    from.push((asked.query as { readonly from?: number }).from);
    return { jobs: [], tasks: [], next: null, nextTask: null };
  };
  const args = ['--parsable', '-n', '--delimiter=^|^', '--user=ada', '-X', '--format=JobID,MaxRSS'];
  const { code } = await use(sacct, [...args, '--starttime=112226'], heard);
  assert.equal(code, 0);
  await use(sacct, [...args, '--starttime=2026-11-22'], heard);
  assert.equal(from[0], from[1]);
});

test('[X4] a partition that some users alone may use is not said to be for all', async () => {
  const shown = async (access: object) => {
    const heard: Answer = (name, words) =>
      name === 'listPartitions'
        ? { partitions: [{ ...partition, ...access }] }
        : answer(name, words);
    const part = (await use(scontrol, ['-o', 'show', 'part'], heard)).out;
    const said = /AllowGroups=.*AllowQos=ALL(?: AllowUsers=\S+)?/.exec(part)?.[0];
    return [said, (await use(sinfo, ['-h', '-o', '%g'], heard)).out];
  };
  const rest = 'AllowAccounts=ALL AllowQos=ALL';
  assert.deepEqual(await shown({}), [`AllowGroups=ALL ${rest}`, 'all']);
  assert.deepEqual(await shown({ groups: ['chem'] }), [`AllowGroups=chem ${rest}`, 'chem']);
  const users = [`AllowGroups=(null) ${rest} AllowUsers=ann,bob`, '(null)'];
  assert.deepEqual(await shown({ users: ['ann', 'bob'] }), users);
});

test('[X4] SLURM_TIME_FORMAT says how times are written', async () => {
  const at = new Date(2026, 10, 5, 9, 7, 3).getTime();
  const heard: Answer = (name, words) =>
    name === 'listJobs' ? { jobs: [{ ...job, submittedAt: at }], next: null } : answer(name, words);
  const said = (format?: string) =>
    use(squeue, ['-h', '-o', '%V'], heard, undefined, {
      environment: format === undefined ? {} : { SLURM_TIME_FORMAT: format },
    });
  assert.equal((await said('%s')).out, String(at / 1000));
  assert.equal((await said('%a %T %-d.%m.%y %I%p %%F %q')).out, 'Thu 09:07:03 5.11.26 09AM %F %q');
  assert.equal((await said('standard')).out, '2026-11-05T09:07:03');
  const wrong = await said('soon');
  const words = "squeue: error: invalid SLURM_TIME_FORMAT = 'soon'\n";
  assert.deepEqual([wrong.out, wrong.errors], ['2026-11-05T09:07:03', words]);
  assert.equal((await said()).out, '2026-11-05T09:07:03', 'it is of one command');
  const now = new Date();
  const on = (days: number, hours = 12) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hours, 30).getTime();
  tellInstantsAs('relative');
  assert.equal(instant(on(0)), '12:30:00');
  assert.equal(instant(new Date(1999, 5, 6).getTime()), '6 Jun 1999');
  const sameYear = [-1, 1, 3].filter(
    (days) => new Date(on(days)).getFullYear() === now.getFullYear(),
  );
  for (const days of sameYear)
    assert.match(instant(on(days)), /^(?:Ystday|Tomorr|Sun|Mon|Tue|Wed|Thu|Fri|Sat) 12:30$/);
  tellInstantsAs();
});

test('[X4] sacct takes beginnings of columns, and all of them by ALL', async () => {
  const heard: Answer = (name, words) => {
    if (name === 'whoami') return { name: 'ada' };
    if (name === 'history') return { jobs: [], tasks: [], next: null, nextTask: null };
    return name === 'listAllSteps' ? { steps: [], next: null } : answer(name, words);
  };
  const titles = async (format: string) => {
    const { out, errors } = await use(sacct, ['-P', '-o', format], heard);
    return out === '' ? errors : out;
  };
  assert.equal(
    await titles('jobid,part,stat,elap,req'),
    'JobID|Partition|State|Elapsed|ReqCPUFreq',
  );
  const all = (await titles('ALL')).split('|');
  assert.ok(all.length > 100 && all.includes('JobIDRaw') && all.includes('WorkDir'), String(all));
  assert.match(await titles('nope'), /Invalid field requested: "nope"/);
});

test('[X4] a command of several lines is one in each record', async () => {
  const shell = { ...job, command: "sh -c 'a\n  b'" };
  const record = { ...shell, cpuCount: 2, nodeCount: 2, memoryBytes: 2 ** 30, taskCount: 1 };
  const answers: Readonly<Record<string, unknown>> = {
    listJobs: { jobs: [shell], next: null },
    getJob: { ...page, ...shell },
    listTasks: { tasks: [], next: null },
    history: { jobs: [record], tasks: [], next: null, nextTask: null },
    whoami: { name: 'ada' },
  };
  const heard: Answer = (name, words) => answers[name] ?? answer(name, words);
  const line = "sh -c 'a b'";
  assert.equal((await use(squeue, ['-h', '-o', '%o'], heard)).out, line);
  assert.match(
    (await use(scontrol, ['-o', 'show', 'job', '42'], heard)).out,
    /Command=sh -c 'a b' /,
  );
  const format = ['-XnP', '-j', '42', '-o', 'SubmitLine'];
  assert.equal((await use(sacct, format, heard)).out, line);
  const began = performance.now();
  assert.equal(commandLine(`a${' '.repeat(100_000)}b\n\n c`).length, 100_004);
  assert.ok(performance.now() - began < 2000, 'blanks of somebody else keep no reader waiting');
});

test('[X4] scontrol show job says of a job that is gone what programs look for', async () => {
  const gone = new Failure({ code: 'job.not_found', kind: 'not_found', message: 'No job 7.' });
  const { code, errors } = await use(scontrol, ['show', 'job', '7'], () => {
    throw gone;
  });
  const words = 'scontrol: error: Invalid job id specified\nscontrol: No job 7.\n';
  assert.deepEqual([code, errors], [1, words]);
});

test('[X4] scontrol show licenses has what the cluster counts', async () => {
  const resources = [{ name: 'matlab', total: 4, used: 1 }];
  const shown = async (all: object[], ...words: string[]) => {
    const heard: Answer = () => ({ clusterName: 'lab', resources: all });
    return (await use(scontrol, ['show', ...words], heard)).out;
  };
  const words = 'Total=4 Used=1 Free=3 Reserved=0 Remote=no';
  assert.equal(await shown(resources, 'lic'), `LicenseName=matlab\n    ${words}`);
  assert.equal(await shown(resources, 'licenses', 'matlab', '-o'), `LicenseName=matlab ${words}`);
  assert.equal(await shown([], 'licenses'), 'No licenses configured in Slurm.');
});

test('[X4] sacct takes each form of time that its page names', async () => {
  let from = 0;
  const heard: Answer = (name, asked) => {
    if (name === 'whoami') return { name: 'ada' };
    from = (asked.query as { readonly from?: number }).from ?? 0;
    return { jobs: [], tasks: [], next: null, nextTask: null };
  };
  const said = async (text: string) => {
    const { code, errors } = await use(sacct, ['-X', '-S', text, '-E', 'now+9days'], heard);
    assert.equal(code, 0, errors);
    return from;
  };
  for (const text of ['midnight', '00:00', '12:00am'])
    assert.equal(await said(text), await said('today'), text);
  assert.equal(await said('noon'), await said('12:00'));
  assert.equal(await said('teatime'), await said('4:00pm'));
  const [hour, seconds] = [await said('now-1hour'), await said('now-3600')];
  assert.ok(Math.abs(hour - seconds) < 2000, String([hour, seconds]));
  const day = (await said('tomorrow')) - (await said('today'));
  assert.ok(Math.abs(day - 86_400_000) <= 3_600_000, String(day));
});

test('[X4] sacct has the script of a job that runs, and of none that waits', async () => {
  const shown = async (own: object, ...more: string[]) => {
    const view = { ...job, ...own };
    const record = { ...view, cpuCount: 2, nodeCount: 2, memoryBytes: 2 ** 30, taskCount: 1 };
    const step = { id: '42.0', command: 'sh', state: 'running', nodes: ['n1'], processes: 1 };
    const answers: Readonly<Record<string, unknown>> = {
      getJob: view,
      history: { jobs: [record], tasks: [], next: null, nextTask: null },
      listAllSteps: {
        steps: [{ ...step, startedAt: 1, endedAt: null, exit: null, why: null, used: null }],
        next: null,
      },
      whoami: { name: 'ada' },
    };
    const heard: Answer = (name, words) => answers[name] ?? answer(name, words);
    const words = ['-nP', '-j', '42', '-o', 'JobID,State', ...more];
    return (await use(sacct, words, heard)).out.split('\n');
  };
  const wanted = ['42|RUNNING', '42.batch|RUNNING', '42.0|RUNNING'];
  assert.deepEqual(await shown({}), wanted);
  assert.deepEqual(await shown({}, '-X'), wanted.slice(0, 1));
  const waits = { state: 'pending', startedAt: null, runStartedAt: null, nodes: [] };
  assert.deepEqual(await shown(waits, '-X'), ['42|PENDING']);
  assert.ok(!(await shown(waits)).includes('42.batch|PENDING'));
});
