// Slurm's own outputs, in all states, read by its adaptor; and answers that must not be believed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SiteOutput, Steering } from '../../../../../src/wings/sites/adaptors/adaptor.ts';
import { slurm } from '../../../../../src/wings/sites/adaptors/slurm/slurm.ts';
import {
  disabledScheduler,
  executionQueue,
} from '../../../../../src/wings/sites/adaptors/slurm/steer.ts';
import { recorded, recordedNames } from './recorded.ts';

const QUEUES = { main: 'main', execution: 'steer' };
const adaptor = slurm(executionQueue(QUEUES));

function jobsOf(name: string) {
  const read = adaptor.jobs.read(recorded(`slurm/${name}.squeue-json.txt`));
  assert.ok(read.ok, name);
  return new Map(read.value.map((job) => [job.id, job]));
}

function statesOf(name: string, ids: readonly string[]) {
  const jobs = jobsOf(name);
  return ids.map((id) => `${id} ${jobs.get(id)?.state}`);
}

test('every recorded listing is read whole, and no state in it is unknown', () => {
  const names = recordedNames('slurm', '.squeue-json.txt');
  assert.ok(names.length >= 10);
  for (const name of names.filter((one) => !one.includes('/down.'))) {
    const read = adaptor.jobs.read(recorded(name));
    assert.ok(read.ok, name);
    assert.deepEqual(
      read.value.filter((job) => job.state === 'unknown').map((job) => job.word),
      [],
      name,
    );
  }
});

test('waiting, held, running, and elements of arrays are told apart', () => {
  assert.deepEqual(statesOf('running', ['11', '13', '14', '16_2', '16', '17', '18', '1']), [
    ...['11 running', '13 held', '14 waiting', '16_2 running', '16 waiting', '17 ended'],
    ...['18 running', '1 ended'],
  ]);
  assert.equal(jobsOf('running').get('16')?.elements, '1,3-6');
  assert.equal(jobsOf('running').get('16_2')?.elements, null);
});

test('what may not begin yet is held, as what is held is', () => {
  assert.deepEqual(statesOf('waiting', ['13', '14', '15']), ['13 held', '14 waiting', '15 held']);
  assert.deepEqual(statesOf('ends-late', ['13']), ['13 held']);
});

/** A listing of jobs that wait with priority 0. */
function heldWith(
  ...marks: readonly (readonly [byAdmin: string, byUser: string, dependency?: string])[]
): SiteOutput {
  const jobs = marks.map(([byAdmin, byUser, dependency = ''], at) => ({
    job_id: at + 1,
    user_name: 'alice',
    job_state: 'PENDING',
    state_reason: 'JobHeldUser',
    priority: 0,
    admin_comment: byAdmin,
    comment: byUser,
    dependency,
  }));
  return { stdout: JSON.stringify({ errors: [], jobs }), stderr: '', code: 0 };
}

test('a job that the plugin holds for us waits, unless its user holds it, too', () => {
  const held = 'weft: held by its user';
  const listing = heldWith(['weft', ''], ['weft', held], ['weft', 'mine'], ['', ''], ['wefty', '']);
  const listed = adaptor.jobs.read(listing);
  assert.deepEqual(listed.ok && listed.value.map(({ state }) => state), [
    ...['waiting', 'held', 'waiting', 'held', 'held'],
  ]);
});

test('a job that the plugin holds and that waits for another is held for that one', () => {
  const behind = 'afterok:41(unfulfilled)';
  const held = 'weft: held by its user';
  const listed = adaptor.jobs.read(heldWith(['weft', '', behind], ['weft', held, behind]));
  assert.deepEqual(listed.ok && listed.value.map(({ state, reason }) => `${state}: ${reason}`), [
    `held: Dependency ${behind}`,
    'held: JobHeldUser',
  ]);
});

test('a job that waits for another is held for that one, also where its partition is down', () => {
  const reasonOf = (state_reason: string, dependency: string) => {
    const job = { job_id: 7, user_name: 'alice', job_state: 'PENDING', state_reason, dependency };
    const stdout = JSON.stringify({ errors: [], jobs: [job] });
    const listed = adaptor.jobs.read({ stdout, stderr: '', code: 0 });
    return listed.ok && listed.value.map(({ state, reason }) => `${state}: ${reason}`).join();
  };
  const behind = 'afterok:41(unfulfilled)';
  assert.equal(reasonOf('PartitionDown', behind), `held: Dependency ${behind}`);
  assert.equal(reasonOf('None', behind), `held: Dependency ${behind}`);
  assert.equal(reasonOf('DependencyNeverSatisfied', behind), 'held: DependencyNeverSatisfied');
  assert.equal(reasonOf('PartitionDown', ''), 'waiting: PartitionDown');
});

test('[G6] a job without the mark of the plugin was not held by it, unless it is over', () => {
  const { query } = disabledScheduler().requirements.at(-1) ?? assert.fail('nothing is needed');
  const isMet = (output: SiteOutput) => query.read(output);
  assert.deepEqual(isMet(heldWith(['weft', ''], ['weft', 'mine'])), { ok: true, value: true });
  assert.deepEqual(isMet(heldWith(['weft', ''], ['', 'weft'])), { ok: true, value: false });
  assert.deepEqual(isMet(heldWith()), { ok: true, value: true });
  assert.deepEqual(isMet(recorded('slurm/running.squeue-json.txt')), { ok: true, value: false });
  const over = JSON.stringify({ errors: [], jobs: [{ job_id: 1, job_state: 'COMPLETED' }] });
  assert.deepEqual(isMet({ stdout: over, stderr: '', code: 0 }), { ok: true, value: true });
  assert.equal(isMet({ stdout: '', stderr: 'no', code: 1 }).ok, false);
});

test('a job is read with its owner, limits, nodes and name, whatever stands in the name', () => {
  const jobs = jobsOf('running');
  const { submittedAt, startedAt, ...job } = jobs.get('12') ?? assert.fail('no job 12');
  assert.deepEqual(job, {
    id: '12',
    handle: null,
    name: 'a name|with "odd" = signs, ü',
    owner: 'alice',
    state: 'running',
    word: 'RUNNING',
    reason: null,
    queue: 'steer',
    elements: null,
    endedAt: null,
    walltimeMs: 600_000,
    nodeCount: 1,
    cpuCount: 1,
    memoryBytes: null,
    isExclusive: false,
    nodes: ['n3'],
    exit: null,
  });
  assert.ok(submittedAt !== null && startedAt !== null && startedAt >= submittedAt);
  assert.deepEqual(jobs.get('18')?.nodes, ['n1', 'n2']);
});

test('suspended and completing jobs are neither running nor ended', () => {
  assert.deepEqual(statesOf('suspended-drained', ['18']), ['18 suspended']);
  assert.deepEqual(statesOf('cancelling', ['18', '15', '16_2']), [
    ...['18 completing', '15 ended', '16_2 ended'],
  ]);
});

test('ends keep exit code or signal; a job that never started has none', () => {
  const jobs = jobsOf('ends-young');
  const exits = ['2', '3', '4', '5', '6'].map((id) => jobs.get(id)?.exit);
  assert.deepEqual(exits, [{ code: 0 }, { code: 3 }, { signal: 9 }, { signal: 15 }, null]);
  assert.equal(jobs.get('3')?.reason, 'NonZeroExitCode');
});

test('an empty, cut, or foreign answer is not believed', () => {
  const whole = recorded('slurm/running.squeue-json.txt');
  const cut = { ...whole, stdout: whole.stdout.slice(0, whole.stdout.length / 2) };
  const wrong: readonly (readonly [SiteOutput, string])[] = [
    [{ stdout: '', stderr: '', code: 0 }, 'unreadable'],
    [cut, 'unreadable'],
    [{ ...whole, stdout: '{"jobs": null}' }, 'unreadable'],
    [{ ...whole, stdout: '{"errors": [{"error": "no"}], "jobs": []}' }, 'refused'],
    [{ ...whole, code: null }, 'away'],
    [recorded('slurm/down.squeue_--json.txt'), 'away'],
    [
      { stdout: '', stderr: 'slurm_load_jobs error: Unable to contact slurm controller', code: 1 },
      'away',
    ],
  ];
  for (const [output, kind] of wrong) {
    const read = adaptor.jobs.read(output);
    assert.ok(!read.ok);
    assert.equal(read.error.kind, kind);
  }
});

test('values of later versions, which say whether they are set, are read alike', () => {
  const set = (number: number) => ({ set: true, infinite: false, number });
  const job = {
    job_id: 7,
    name: 'x',
    user_name: 'ann',
    job_state: ['RUNNING', 'COMPLETING'],
    time_limit: { set: true, infinite: true, number: 0 },
    node_count: set(2),
    cpus: set(4),
    nodes: 'n[1-2]',
    start_time: set(1000),
    submit_time: set(900),
    partition: 'main',
    array_job_id: set(0),
    array_task_id: { set: false, infinite: false, number: 0 },
    exit_code: { status: ['SUCCESS'], return_code: set(0), signal: { id: set(0), name: '' } },
  };
  const stdout = JSON.stringify({ jobs: [job], errors: [] });
  const read = adaptor.jobs.read({ stdout, stderr: '', code: 0 });
  assert.ok(read.ok);
  assert.deepEqual(
    read.value.map(({ id, state, walltimeMs, nodeCount, cpuCount, startedAt }) => {
      return [id, state, walltimeMs, nodeCount, cpuCount, startedAt];
    }),
    [['7', 'completing', null, 2, 4, 1_000_000]],
  );
});

test('nodes are idle, used, stopped with their reason, or down', () => {
  const of = (name: string) => {
    const read = adaptor.nodes.read(recorded(`slurm/${name}.sinfo-json.txt`));
    assert.ok(read.ok, name);
    return read.value.map((node) => `${node.name} ${node.state} ${node.cpusUsed}/${node.cpuCount}`);
  };
  assert.deepEqual(of('running'), ['n1 busy 2/2', 'n2 busy 2/2', 'n3 running 1/2', 'n4 busy 2/2']);
  assert.deepEqual(of('suspended-drained'), [
    ...['n1 stopped 0/2', 'n2 idle 0/2', 'n3 stopped 1/2', 'n4 busy 2/2'],
  ]);
  assert.deepEqual(of('down-failing'), [
    ...['n1 down 2/2', 'n2 stopped 2/2', 'n3 idle 0/2', 'n4 busy 2/2'],
  ]);
  const read = adaptor.nodes.read(recorded('slurm/suspended-drained.sinfo-json.txt'));
  assert.ok(read.ok);
  const { word, state, ...node } = read.value[0] ?? assert.fail('no node');
  assert.deepEqual(node, {
    name: 'n1',
    reason: 'weft:window',
    cpuCount: 2,
    cpusUsed: 0,
    features: ['x'],
    memoryBytes: 1000 * 1_048_576,
    memoryFreeBytes: 1000 * 1_048_576,
    queues: ['main', 'steer'],
    parts: [{ name: 'n1', isOpen: false }],
  });
});

test('partitions are open and started as they say', () => {
  const read = adaptor.queues.read(recorded('slurm/running.scontrol-partition.txt'));
  assert.ok(read.ok);
  const nodes = ['n1', 'n2', 'n3', 'n4'];
  assert.deepEqual(read.value, [
    { name: 'main', isOpen: true, isStarted: false, walltimeMaxMs: null, nodes },
    { name: 'steer', isOpen: true, isStarted: true, walltimeMaxMs: null, nodes },
  ]);
  const wrong = adaptor.queues.read({ stdout: 'hello\n', stderr: '', code: 0 });
  assert.ok(!wrong.ok);
});

const SUBMISSION = {
  scriptFile: "/scratch/it's",
  name: 'weft-c1-42.0-1',
  script: '#!/bin/sh\ntrue\n',
  queue: 'main',
  account: null,
  walltimeMs: 90_500,
  nodeCount: 2,
  cpuCount: 3,
  memoryBytes: 1_048_577,
  directory: '/scratch/a b',
  stdout: '/scratch/o',
  stderr: '/scratch/e',
  options: ['--nice=5'],
};

test('a submission is one argument vector, and the script goes in by standard input', () => {
  const { command, read } = adaptor.submit(SUBMISSION);
  assert.deepEqual(command, {
    argv: [
      ...['sbatch', '--parsable', '--no-requeue', '--job-name=weft-c1-42.0-1', '--export=ALL'],
      ...['--nodes=2-2', '--ntasks-per-node=1', '--cpus-per-task=3', '--chdir=/scratch/a b'],
      ...['--output=/scratch/o', '--error=/scratch/e', '--partition=main', '--time=0-00:01:31'],
      ...['--mem=2M', '--nice=5'],
    ],
    input: '#!/bin/sh\ntrue\n',
  });
  assert.deepEqual(read(recorded('slurm/submit.multi.txt')), { ok: true, value: '18' });
  assert.deepEqual(read({ stdout: '19;c1\n', stderr: '', code: 0 }), { ok: true, value: '19' });
});

test('a refused submission keeps the words of Slurm', () => {
  const { read } = adaptor.submit(SUBMISSION);
  for (const [name, words] of [
    ['submit.badpart', /invalid partition specified: nope/],
    ['submit.badtime', /Invalid --time specification/],
    ['submit.big', /Requested node configuration is not available/],
  ] as const) {
    const answer = read(recorded(`slurm/${name}.txt`));
    assert.ok(!answer.ok);
    assert.equal(answer.error.kind, 'refused');
    assert.match(answer.error.text, words);
  }
  assert.equal(read({ stdout: '', stderr: '', code: 0 }).ok, false);
});

test('cancelling what is gone is no failure, and somebody else may not', () => {
  const { command, read } = adaptor.cancel('16_2');
  assert.deepEqual(command, { argv: ['scancel', '16_2'] });
  assert.ok(read(recorded('slurm/cancel.gone.txt')).ok);
  const denied = read(recorded('slurm/cancel.user-denied.txt'));
  assert.ok(!denied.ok && denied.error.kind === 'refused');
  assert.match(denied.error.text, /Access\/permission denied/);
});

test('a job is found again by its name', () => {
  const { command, read } = adaptor.named('weft-c1-42.0-1');
  assert.ok(command.argv.includes('--name=weft-c1-42.0-1'));
  // Elements of an array have ids of their own, by `%A`.
  assert.deepEqual(command.argv.slice(-2), ['-o', '%F']);
  assert.deepEqual(read({ stdout: '7\n8\n8\n', stderr: '', code: 0 }), {
    ok: true,
    value: ['7', '8'],
  });
  assert.deepEqual(read({ stdout: '', stderr: '', code: 0 }), { ok: true, value: [] });
  assert.equal(read({ stdout: 'usage: …\n', stderr: '', code: 0 }).ok, false);
});

test('a job is started on its nodes through the execution partition, and taken back', () => {
  const { steering } = adaptor;
  assert.deepEqual(steering?.start({ id: '7', handle: null }, ['n2', 'n3']), [
    {
      argv: [
        ...['scontrol', 'update', 'jobid=7', 'Partition=steer', 'NumNodes=2-2'],
        ...['ReqNodeList=n2,n3', 'Requeue=0'],
      ],
    },
  ]);
  const back = ['scontrol', 'update', 'jobid=7', 'Partition=main'];
  const free = { id: '7', isPinned: false };
  assert.deepEqual(steering?.takeBack(free, ['n2', 'n3']), [{ argv: [...back, 'ReqNodeList='] }]);
  const debug = { ...free, queue: 'debug' };
  const to = steering?.takeBack(debug, ['n2'])[0]?.argv.slice(3);
  assert.deepEqual(to, ['Partition=debug', 'ReqNodeList=']);
  const nowhere = steering?.takeBack({ ...free, queue: 'steer' }, ['n2'])[0]?.argv;
  assert.ok(nowhere?.includes('Partition=main'), 'where it would start by itself');
  for (const kept of [{ id: '7' }, { id: '7', isPinned: true }]) {
    assert.deepEqual(steering?.takeBack(kept, ['n2', 'n3']), [{ argv: back }], 'its user’s nodes');
    assert.deepEqual(disabledScheduler().takeBack(kept, ['n2']), [
      { argv: ['scontrol', 'hold', '7'] },
    ]);
  }
  assert.deepEqual(disabledScheduler().takeBack(free, ['n2']), [
    { argv: ['scontrol', 'hold', '7'] },
    { argv: ['scontrol', 'update', 'jobid=7', 'ReqNodeList='] },
  ]);
  assert.deepEqual(disabledScheduler().start({ id: '7', handle: null }, ['n2']), [
    { argv: ['scontrol', 'update', 'jobid=7', 'NumNodes=1-1', 'ReqNodeList=n2', 'Requeue=0'] },
    { argv: ['scontrol', 'release', '7'] },
  ]);
});

test('what a takeover needs is looked at, one thing after the other', () => {
  const config = recorded('slurm/config.txt');
  const partitions = recorded('slurm/running.scontrol-partition.txt');
  const met = executionQueue(QUEUES).requirements.map(({ query }) => {
    return query.read(query.command.argv.includes('config') ? config : partitions);
  });
  // No plugin was set where this was recorded.
  assert.deepEqual(
    met,
    [true, false, true, true].map((value) => ({ ok: true, value })),
  );
  const backfill = config.stdout.replace('sched/builtin', 'sched/backfill');
  const [scheduler] = disabledScheduler().requirements;
  assert.deepEqual(scheduler?.query.read({ ...config, stdout: backfill }), {
    ok: true,
    value: false,
  });
  const swapped = executionQueue({ main: 'steer', execution: 'main' }).requirements[2];
  assert.deepEqual(swapped?.query.read(partitions), { ok: true, value: false });
});

test('a node is stopped with a reason and given back', () => {
  assert.deepEqual(adaptor.setNode({ kind: 'stop', node: 'n1', reason: 'weft: m3' }), [
    { argv: ['scontrol', 'update', 'nodename=n1', 'state=drain', 'reason=weft: m3'] },
  ]);
  assert.deepEqual(adaptor.setNode({ kind: 'restore', node: 'n1' }), [
    { argv: ['scontrol', 'update', 'nodename=n1', 'state=undrain'] },
  ]);
});

test('[G16] what a job wants of its nodes is read, or it is held for what nobody plans', () => {
  const asks = (fields: object, of = adaptor) => {
    const job = { job_id: 7, array_job_id: 0, array_task_id: null, user_name: 'alice' };
    const more = { job_state: 'PENDING', state_reason: 'PartitionDown', node_count: 1 };
    const stdout = JSON.stringify({ errors: [], jobs: [{ ...job, ...more, ...fields }] });
    const jobs = of.jobs.read({ stdout, stderr: '', code: 0 });
    const [read] = jobs.ok ? jobs.value : [];
    assert.equal(read?.isHeldByUs ?? false, /^it asks/.test(read?.reason ?? ''));
    return read?.where ?? `${read?.state} ${read?.reason}`;
  };
  assert.deepEqual(asks({ required_nodes: 'n2' }), { only: ['n2'] });
  assert.deepEqual(asks({ excluded_nodes: 'n[1-2]' }), { not: ['n1', 'n2'] });
  assert.deepEqual(asks({ features: 'fast&big' }), { features: ['fast', 'big'] });
  assert.deepEqual(asks({ partition: 'main' }), { queues: ['main'] });
  assert.equal(asks({}), 'waiting PartitionDown');
  // What Slurm 23.11 and later make of --cpus-per-task.
  for (const tres of ['cpu=2', 'cpu:2']) {
    assert.equal(asks({ tres_per_task: tres }), 'waiting PartitionDown', tres);
  }
  const held = [
    { tres_per_task: 'cpu=2,gres/gpu=1' },
    ...[{ licenses: 'matlab' }, { tres_per_node: 'gres:gpu:1' }, { resv_name: 'school' }],
    ...[{ features: 'a|b' }, { node_count: 2, required_nodes: 'n2' }, { contiguous: true }],
  ];
  for (const fields of held)
    assert.match(String(asks(fields)), /^held it asks for .*does not plan/);
  assert.equal(asks({ state_reason: 'JobHeldUser', licenses: 'matlab' }), 'held JobHeldUser');
  // Where its own scheduler starts it, it is that one's matter.
  assert.equal(asks({ licenses: 'matlab' }, slurm(null)), 'waiting PartitionDown');
});

test('[G6] another partition that is up and shares nodes is found', () => {
  const { requirements } = executionQueue({ main: 'main', execution: 'steer' });
  const alone = requirements.find(({ what }) => what.startsWith('no other partition'));
  const is = (...lines: readonly string[]) => {
    const own = ['main State=DOWN Nodes=n[1-4]', 'steer State=UP Nodes=n[1-4]'];
    const stdout = [...own, ...lines].map((line) => `PartitionName=${line}\n`).join('');
    const read = alone?.query.read({ stdout, stderr: '', code: 0 });
    return read?.ok === true && read.value;
  };
  assert.ok(is());
  assert.ok(!is('debug State=UP Nodes=n[4-5]'));
  assert.ok(!is('debug State=DRAIN Nodes=n4'));
  assert.ok(is('debug State=DOWN Nodes=n[4-5]', 'cloud State=UP Nodes=c[1-2]'));
});

test("[G20] what we say of a job to its user is in the administrator's comment, beside the mark", () => {
  const listing = heldWith(
    ['weft: why', ''],
    ['weft', 'mine'],
    ['', ''],
    ['theirs', ''],
    ['wefty', ''],
  );
  const jobs = adaptor.jobs.read(listing);
  assert.deepEqual(jobs.ok && jobs.value.map(({ note }) => note), [
    ...['why', undefined, undefined, null, null],
  ]);
  assert.deepEqual(jobs.ok && jobs.value.map(({ state }) => state).slice(0, 2), [
    'waiting',
    'waiting',
  ]);
  const argvOf = ({ notes }: Steering, words: string | null) =>
    notes?.write('7_2', words).map(({ argv }) => argv);
  const update = (comment: string) => [
    ['scontrol', 'update', 'jobid=7_2', `AdminComment=${comment}`],
  ];
  const byQueue = executionQueue({ main: 'main', execution: 'steer' });
  assert.deepEqual(argvOf(byQueue, 'why; $HOME'), update('weft: why; $HOME'));
  assert.deepEqual(argvOf(byQueue, null), update(''));
  assert.deepEqual(argvOf(disabledScheduler(), null), update('weft'));
});
