// `srun` in a script on a node of its job.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { Context } from '../../../../src/kernel/cli/context.ts';
import { Failure } from '../../../../src/kernel/model/failure.ts';
import { noteStep } from '../../../../src/wings/slurm/cli/noted-step.ts';
import { srun } from '../../../../src/wings/slurm/cli/srun.ts';
import { GUARD } from '../../../../src/wings/slurm/cli/step-guard.ts';
import { becoming, RANK_GPUS } from '../../../../src/wings/slurm/core/become.ts';

/** On `n1`, the only node of its job. */
function onNode(cwd: string, more: Readonly<Record<string, string>> = {}) {
  const notes: string[] = [];
  const said: string[] = [];
  const context = {
    cwd,
    environment: {
      PATH: process.env['PATH'],
      SLURM_JOB_ID: '42',
      SLURMD_NODENAME: 'n1',
      SLURM_JOB_NODELIST: 'n1',
      SLURM_NODEID: '0',
      ...more,
    },
    api: () => assert.fail('a head is asked'),
    note: (line: string) => notes.push(line),
    error: (text: string) => said.push(text),
  } as unknown as Context;
  return { context, notes, said };
}

function withApi(context: Context, api: () => Promise<unknown>): Context {
  return { ...context, api } as unknown as Context;
}

test('[X5] ranks that cannot be looked for are not told to be killed', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-guard-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const told = path.join(folder, 'told');
  const guard = (PATH: string | undefined) =>
    spawnSync('/bin/sh', ['-c', GUARD, 'srun', 'no-such-mark', 'touch', told], { env: { PATH } });
  writeFileSync(path.join(folder, 'grep'), '#!/bin/sh\necho "grep: no option z" >&2\nexit 2\n');
  chmodSync(path.join(folder, 'grep'), 0o755);
  assert.equal(guard(`${folder}:${process.env['PATH']}`).status, 1);
  assert.equal(existsSync(told), false);
  assert.equal(guard(process.env['PATH']).status, 0);
  assert.ok(existsSync(told));
});

test('binding that cannot be has a note on a node, and fails nothing there', async () => {
  const { context, notes } = onNode('/');
  for (const bind of ['map_cpu:0,1', 'socket', 'none', 'verbose']) {
    const words = [`--cpu-bind=${bind}`, '--output=/dev/null', 'true'];
    assert.equal(await srun(context, words), 0);
  }
  assert.equal(notes.length, 2);
  assert.match(notes[0] ?? '', /map_cpu:0,1 is not honoured/);
  const why = 'node n1 runs an agent too old';
  const of = { kind: 'invalid_argument', code: 'argument.invalid', message: why } as const;
  const api = () => Promise.reject(new Failure(of));
  assert.equal(await srun(withApi(context, api), ['--cpu-bind=cores', '-o/dev/null', 'true']), 0);
  assert.equal(notes[2], `--cpu-bind: ranks run unbound: ${why}`);
});

test('[Z12] ranks in a script are bound to the cpus that the head has asked for', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-srun-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { context } = onNode(folder, { SLURM_NTASKS_PER_NODE: '2', SLURM_CPUS_ON_NODE: '2' });
  const asked: unknown[] = [];
  const call = async (name: string, { body }: { body: object }): Promise<object> => {
    if (name === 'claimCpus') asked.push(body);
    return { id: '42.0', cpus: ['0', '0'] };
  };
  const line = 'echo "$WEFT_CPUSET $(grep Cpus_allowed_list /proc/self/status)"';
  const words = ['-n2', '--cpu-bind=verbose,cores', '-oout', 'sh', '-c', line];
  assert.equal(
    await srun(
      withApi(context, async () => ({ call })),
      words,
    ),
    0,
  );
  const said = readFileSync(path.join(folder, 'out'), 'utf8').trim().split('\n');
  assert.deepEqual(said, ['0 Cpus_allowed_list:\t0', '0 Cpus_allowed_list:\t0']);
  assert.deepEqual(asked, [{ nodes: ['n1', 'n1'], bind: 'core' }]);
});

test('[X1] ranks with one file overwrite nothing of each other', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-srun-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { context } = onNode(folder, { SLURM_NTASKS_PER_NODE: '4', SLURM_CPUS_ON_NODE: '4' });
  const program = ['sh', '-c', 'for at in 1 2 3; do echo $SLURM_PROCID; done; echo e >&2'];
  const lines = () => readFileSync(path.join(folder, 'out'), 'utf8').trim().split('\n').sort();
  const all = ['0', '0', '0', '1', '1', '1', '2', '2', '2', '3', '3', '3', 'e', 'e', 'e', 'e'];
  for (const words of [
    ['-n4', '--output=out'],
    ['-n4', '--output=out', '--error=out'],
  ]) {
    assert.equal(await srun(context, [...words, ...program]), 0);
    assert.deepEqual(lines(), all);
  }
  assert.equal(await srun(context, ['--open-mode=append', '-n1', '-oout', 'echo', 'x']), 0);
  assert.equal(lines().length, all.length + 1);
});

test('[X1] variables that Slurm has for srun stand for its options, and what is typed wins', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-srun-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const said = { SLURM_EXPORT_ENV: 'NONE', SLURM_STDOUTMODE: 'out', SLURM_LABELIO: '0', FOO: '1' };
  const { context } = onNode(folder, said);
  const exported = async (...words: string[]) => {
    assert.equal(await srun(context, [...words, 'sh', '-c', 'echo "foo=$FOO"']), 0);
    return readFileSync(path.join(folder, 'out'), 'utf8').trim();
  };
  assert.equal(await exported(), 'foo=');
  assert.equal(await exported('--export=ALL'), 'foo=1');
});

const TWO = { SLURM_NTASKS_PER_NODE: '2', SLURM_CPUS_ON_NODE: '2', SLURM_MEM_PER_NODE: '200' };

test('[X5] a step that asks for more than its job has is refused', async () => {
  const { context } = onNode('/', TWO);
  for (const words of [['-c', '9'], ['-n2', '-c2'], ['--mem=900M'], ['-n2', '--mem-per-cpu=101M']])
    await assert.rejects(
      () => srun(context, [...words, 'true']),
      /Unable to create step for job 42/,
    );
  for (const words of [['-n1', '-c2'], ['--mem=200M'], ['--mem=0'], ['-n2', '--mem-per-cpu=100M']])
    assert.equal(await srun(context, [...words, 'true']), 0, words.join(' '));
});

/** One that takes whatever it is told for a line of a shell. */
function mpirunIn(t: { after(end: () => void): void }, line: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-srun-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const version = '[ "$1" = --version ] && { echo "mpirun (Open MPI) 4.1.4"; exit 0; }';
  writeFileSync(path.join(folder, 'mpirun'), `#!/bin/sh\n${version}\n${line}\n`);
  chmodSync(path.join(folder, 'mpirun'), 0o755);
  return folder;
}

test('what a script exports stands in no words of the program that reaches another node', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-srun-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const shell = path.join(folder, 'rsh');
  writeFileSync(shell, '#!/bin/sh\necho "$*; $WEFT_RSH_COMMAND"\n');
  chmodSync(shell, 0o755);
  const more = { SLURM_JOB_NODELIST: 'n[1-2]', WEFT_RSH: shell };
  const { context } = onNode(folder, more);
  const words = ['-N2', '-n2', '-oout.%t', '--export=ALL,APIKEY=secret', 'true'];
  assert.equal(await srun(context, words), 0);
  const said = readFileSync(path.join(folder, 'out.1'), 'utf8');
  assert.match(said, /^n2; cd .* && exec env APIKEY=secret .* true$/m);
});

test('[Z14] mpirun has the values of variables that its words name', async (t) => {
  const folder = mpirunIn(t, 'echo "[1,0]<stdout>:$SLURM_NTASKS $*"');
  const environment = { PATH: `${folder}:${process.env['PATH']}` };
  const { context } = onNode(folder, environment);
  assert.equal(await srun(context, ['--mpi=pmix', '-oout', './a.out']), 0);
  const said = readFileSync(path.join(folder, 'out'), 'utf8');
  assert.match(said, /^1 .* -x SLURM_NTASKS /);
  assert.doesNotMatch(said, /SLURM_NTASKS=/);
});

test('[Z14] ranks of mpirun have gpus of their own as others have', async (t) => {
  const rank =
    'OMPI_COMM_WORLD_RANK=$r OMPI_COMM_WORLD_LOCAL_RANK=$r "$@" | sed "s/^/[1,$r]<stdout>:/"';
  const all = `while [ "$1" != /bin/sh ]; do shift; done; for r in 0 1; do ${rank}; done`;
  const folder = mpirunIn(t, all);
  const two = { SLURM_NTASKS_PER_NODE: '2', SLURM_CPUS_ON_NODE: '2', SLURM_GPUS_ON_NODE: '2' };
  const environment = { PATH: `${folder}:${process.env['PATH']}`, CUDA_VISIBLE_DEVICES: 'a,b' };
  const { context } = onNode(folder, { ...two, ...environment });
  const line = 'echo $CUDA_VISIBLE_DEVICES $SLURM_RANK_GPUS';
  const words = ['--mpi=pmix', '-n2', '--gpus-per-task=1', '-oout.%t', 'sh', '-c', line];
  assert.equal(await srun(context, words), 0);
  const said = ['out.0', 'out.1'].map((name) => readFileSync(path.join(folder, name), 'utf8'));
  assert.deepEqual(said, ['a\n', 'b\n']);
});

test('[Z14] where a file of ranks cannot be written their mpirun ends, and then srun', async (t) => {
  for (const trap of [':', 'trap "" TERM']) {
    const begun = `cd "$(dirname "$0")"; sleep 600 & echo $! $$ > pids`;
    const line = `${trap}; ${begun}; echo "[1,0]<stdout>:x"; wait`;
    const folder = mpirunIn(t, line);
    const { context } = onNode(folder, { PATH: `${folder}:${process.env['PATH']}` });
    const running = srun(context, ['--mpi=pmix', '--output=/dev/full', './a.out']);
    await assert.rejects(running, /Could not write .*: the disk is full/);
    for (const pid of readFileSync(path.join(folder, 'pids'), 'utf8').trim().split(' '))
      assert.ok(await isGone(pid), `${trap}: ${pid}`);
    assert.ok(!openFiles().includes('/dev/full'));
  }
});

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return []; // That of the folder itself.
    }
  });
}

/** Also where what has ended it is only just being heard of. */
async function isGone(pid: string): Promise<boolean> {
  for (let looks = 0; looks < 3000; looks++) {
    if (!existsSync(`/proc/${pid}`) || / Z /.test(statOf(pid))) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return ' Z ';
  }
}

test('[X5] a step ends at its limit, at a bad end and after the wait, with all it started', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-srun-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { context, said } = onNode(folder, TWO);
  // The last one waits for a program of its own, which is to end with it.
  const program = (first: string) => [
    '/bin/sh',
    '-c',
    `[ $SLURM_PROCID = 1 ] || ${first}; sleep 600 & echo $! > pid; wait; exit 0`,
  ];
  const gone = () => isGone(readFileSync(path.join(folder, 'pid'), 'utf8').trim());
  for (const [words, first, why] of [
    [['-t', '0:01', '-n2'], ':', /STEP 42\.\S+ CANCELLED DUE TO TIME LIMIT/],
    [['-K1', '-n2'], 'exit 3', /Terminating StepId=42\.\S+: a task exited with exit code 3/],
    [['--kill-on-bad-exit', '-n2'], 'exit 3', /Terminating StepId/],
    [['-W', '1', '-n2'], 'exit 0', /First task exited 1s ago\. Terminating/],
  ] as const) {
    said.length = 0;
    const running = srun(context, [
      ...words,
      ...program(`{ until [ -s pid ]; do sleep 0.05; done; ${first}; }`),
    ]);
    assert.equal(await running, 143, words.join(' '));
    assert.match(said.join(''), why);
    assert.ok(await gone(), words.join(' '));
    rmSync(path.join(folder, 'pid'));
  }
  await assert.rejects(() => srun(context, ['-K7', 'true']), /--kill-on-bad-exit/);
  await assert.rejects(() => srun(context, ['-W', 'x', 'true']), /--wait/);
});

test('a folder or program that is not there is blamed by its own name', async () => {
  const { context, said } = onNode('/', TWO);
  await assert.rejects(
    () => srun(context, ['-D', '/nosuch/folder', 'true']),
    /couldn't chdir to `\/nosuch\/folder': /,
  );
  assert.equal(await srun(context, ['-n1', 'nosuch-program']), 2);
  assert.match(said.join(''), /^srun: error: n1: task 0: Exited with exit code 2\n$/);
});

test('steps that run at the same time have numbers of their own, also where no head is found', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-srun-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { context } = onNode(folder, TWO);
  assert.equal(await srun(context, ['-n1', '--output=%s', 'sh', '-c', 'echo $SLURM_STEP_ID']), 0);
  const number = String(process.pid);
  assert.equal(readFileSync(path.join(folder, number), 'utf8'), `${number}\n`);
});

type Call = { readonly name: string; readonly exits?: unknown };

/** The same before a head that answers to the first word of a step as told. */
function beforeHead(first: () => Promise<{ id: string }>) {
  const calls: Call[] = [];
  const node = onNode('/');
  const call = (name: string, { body }: { body: Omit<Call, 'name'> }) => {
    calls.push({ name, exits: body.exits });
    return name === 'noteStep' ? first() : Promise.resolve({ count: 1 });
  };
  Object.assign(node.context, { api: async () => ({ call }) });
  return { ...node, calls };
}

test('[X5] a step that cannot begin, or that a slow head has late, is told to be over', async () => {
  const { context, calls } = beforeHead(() => Promise.resolve({ id: '42.3' }));
  await assert.rejects(() => srun(context, ['-o', '/no/such/x', 'true']), /Could not open file/);
  const end = { name: 'endStep', exits: [{ code: 1 }] };
  assert.deepEqual(calls, [{ name: 'noteStep', exits: undefined }, end]);
  let answer: (told: { id: string }) => void = () => undefined;
  const slow = beforeHead(() => new Promise((resolve) => (answer = resolve)));
  // It answers when the rank runs, for which nobody has waited any longer.
  const late = Object.assign(slow.context, { out: () => answer({ id: '42.4' }) });
  assert.equal(await srun(late, ['-l', 'sh', '-c', 'echo begun; exit 4']), 4);
  assert.deepEqual(slow.calls.at(-1), { name: 'endStep', exits: [{ code: 4 }] });
});

test('[X5] a step says which cpus it is given, but to a head that does not know of them', async () => {
  const bodies: { readonly cpuCount?: number; readonly exits?: unknown }[] = [];
  const unknown = new Failure({
    code: 'request.invalid',
    kind: 'invalid_argument',
    message: "Unrecognized key: 'cpuCount'",
  });
  let isOld = false;
  const call = async (name: string, { body }: { body: (typeof bodies)[number] }) => {
    if (name === 'noteStep') bodies.push(body);
    if (isOld && body.cpuCount !== undefined) throw unknown;
    return name === 'noteStep' ? { id: '42.3' } : { count: 1 };
  };
  const node = onNode('/', { SLURM_CPUS_ON_NODE: '4' });
  const context = withApi(node.context, async () => ({ call }));
  assert.equal(await srun(context, ['-n1', '-o', '/dev/null', 'true']), 0);
  assert.equal(await srun(context, ['-n2', '-c2', '-o', '/dev/null', 'true']), 0);
  assert.equal(await srun(context, ['-n3', '--overlap', '-o', '/dev/null', 'true']), 0);
  isOld = true;
  assert.equal(await srun(context, ['-n1', '-o', '/dev/null', 'true']), 0);
  assert.deepEqual(
    bodies.map(({ cpuCount }) => cpuCount),
    [1, 4, 3, 1, undefined],
  );
});

test('[X5] a step of which the head takes no more is named, and runs', async () => {
  const full = new Failure({
    code: 'step.too_many',
    kind: 'resource_exhausted',
    message: 'It has 64.',
  });
  const { context, said } = beforeHead(() => Promise.reject(full));
  assert.equal(await srun(context, ['-o', '/dev/null', 'true']), 0);
  assert.match(said.join(''), /warning: .* not in the history of the job: It has 64\./);
  const large = beforeHead(() => assert.fail('it is asked'));
  const nodes = Array<string>(257).fill('n1');
  const { number } = await noteStep(large.context, { argv: ['true'], nodes, cpuCount: 1 });
  assert.equal(number, null);
  assert.match(large.said.join(''), /at most 256 ranks/);
});

/** A head that answers none of these questions but keeps what it is asked to start. */
function startsNothing(refusals: readonly string[]) {
  type Asked = { readonly bind?: string; readonly cpuCount?: number };
  const asked: (Asked & { readonly environment: Record<string, string> })[] = [];
  const call = async (name: string, { body }: { body: (typeof asked)[number] }): Promise<never> => {
    assert.equal(name, 'startStep');
    const message = refusals[asked.length] ?? 'it is enough';
    asked.push(body);
    throw new Failure({ kind: 'invalid_argument', code: 'argument.invalid', message });
  };
  return { asked, api: async () => ({ call }) };
}

test('ranks with PMI or a terminal that cannot be bound run unbound in a script', async () => {
  const why = '--bind: 2 processes cannot be bound to a cpu each';
  const { context, notes } = onNode('/', { SLURM_NTASKS_PER_NODE: '2', SLURM_CPUS_ON_NODE: '2' });
  const shown = { ...context, terminal: {} } as unknown as Context;
  for (const kind of ['--mpi=pmi2', '--pty']) {
    const head = startsNothing([why]);
    const words = [kind, '--cpu-bind=cores', 'true'];
    await assert.rejects(srun(withApi(shown, head.api), words), /it is enough/);
    assert.deepEqual(
      head.asked.map(({ bind }) => bind),
      ['core', undefined],
    );
    assert.equal(notes.pop(), `--cpu-bind: ranks run unbound: ${why}`);
  }
  const room = { ...shown.environment, SLURM_CPUS_ON_NODE: '4', SLURMD_NODENAME: '' };
  const one = startsNothing([]);
  const alone = withApi({ ...shown, environment: room } as unknown as Context, one.api);
  await assert.rejects(srun(alone, ['-n1', 'true']), /it is enough/);
  assert.equal(one.asked[0]?.cpuCount, 2, 'one of two ranks has half of the cpus');
  const other = startsNothing(['the job is over']);
  const words = ['--mpi=pmi2', '--cpu-bind=cores', 'true'];
  await assert.rejects(srun(withApi(shown, other.api), words), /the job is over/);
  const held = { ...shown.environment, SLURMD_NODENAME: '' };
  const away = startsNothing([why]);
  const outside = withApi({ ...shown, environment: held } as unknown as Context, away.api);
  await assert.rejects(srun(outside, ['--cpu-bind=cores', 'true']), /cannot be bound/);
  assert.deepEqual(notes, [], 'nothing runs unbound that somebody asks for at a prompt');
});

test('ranks of an allocation have what its shell exported, but with --export=NONE', () => {
  const script = `
    import { srun } from ${JSON.stringify(import.meta.resolve('../../../../src/wings/slurm/cli/srun.ts'))};
    const call = async (_, { body }) => { throw new Error(JSON.stringify(body.environment)); };
    const environment = { ...process.env, ADDED: 'x'.repeat(Number(process.argv[2])) };
    const note = (text) => console.log(text);
    const context = { cwd: '/', environment, note, terminal: {}, api: async () => ({ call }) };
    const ended = await srun(context, [...process.argv.slice(3), 'true']).catch((error) => error);
    console.log(ended.message);
  `;
  const run = (length: number, ...words: string[]): string[] => {
    const env = { PATH: process.env['PATH'], SLURM_JOB_ID: '42', SLURM_JOB_NODELIST: 'n1' };
    const argv = ['--input-type=module', '-e', script, 'srun', String(length), ...words];
    const ran = spawnSync(process.execPath, argv, { env, encoding: 'utf8' });
    assert.equal(ran.status, 0, ran.stderr);
    return ran.stdout.trim().split('\n');
  };
  assert.match(run(3).join(), /"ADDED":"xxx"/);
  const [none = '', ...more] = run(3, '--export=NONE');
  assert.match(none, /^\{"SLURM/);
  assert.doesNotMatch(none, /ADDED/);
  assert.deepEqual(more, []);
  const [note = '', said = ''] = run(300_000);
  assert.match(note, /exported here is left out, as with --export=NONE: .* more than 262144/);
  assert.equal(said, none);
  assert.match(run(3, '--export=ADDED').join(), /--export is not honoured here/);
});

test('[X5] a step in a script runs on none of the nodes that it is to leave out', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-srun-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { context } = onNode(folder, { SLURM_JOB_NODELIST: 'n[1-2]', SLURM_NNODES: '2' });
  const words = ['-N1', '-n1', '-oout', '--exclude=n2', 'sh', '-c', 'echo $SLURM_STEP_NODELIST'];
  assert.equal(await srun(context, words), 0);
  assert.equal(readFileSync(path.join(folder, 'out'), 'utf8'), 'n1\n');
  const first = ['-N1', '-n1', '-r0', '-onext', 'sh', '-c', 'echo $SLURM_STEP_NODELIST'];
  assert.equal(await srun(context, first), 0);
  assert.equal(readFileSync(path.join(folder, 'next'), 'utf8'), 'n1\n');
  await assert.rejects(srun(context, ['-r2', 'true']), /--relative leaves no node/);
  await assert.rejects(srun(context, ['-N2', '-r1', 'true']), /2 nodes are more than the 1/);
  await assert.rejects(
    srun(context, ['-N2', '--exclude=n2', 'true']),
    /2 nodes are more than the 1/,
  );
  await assert.rejects(
    srun(context, ['--exclude=n[1-2]', 'true']),
    /--exclude or --relative leaves no node/,
  );
});

test('[X5] srun --jobid in a script of that job is a step of it, with files and all', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-srun-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const said = ['-n1', '-oout', 'sh', '-c', 'echo $SLURM_STEP_NODELIST'];
  const own = onNode(folder).context;
  assert.equal(await srun(own, ['--jobid=42', '--overlap', '--nodelist=n1', ...said]), 0);
  assert.equal(readFileSync(path.join(folder, 'out'), 'utf8'), 'n1\n');
  const task = onNode(folder, { SLURM_ARRAY_TASK_ID: '7' }).context;
  assert.equal(await srun(task, ['--jobid=42_7', ...said]), 0);
  // Of another job, and of one that is named by its number alone, a head is asked.
  const other = onNode(folder).context;
  await assert.rejects(srun(other, ['--jobid=43', 'true']), /a head is asked/);
  const outside = onNode(folder, { SLURM_JOB_NODELIST: '', SLURMD_NODENAME: '' }).context;
  await assert.rejects(srun(outside, ['true']), /a head is asked/);
});

test('[X5] --gpus-per-task gives each rank gpus of its own, unless they are not to be bound', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-srun-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const two = { SLURM_NTASKS_PER_NODE: '2', SLURM_CPUS_ON_NODE: '2', SLURM_GPUS_ON_NODE: '4' };
  const { context, said } = onNode(folder, { ...two, CUDA_VISIBLE_DEVICES: 'a,b,c,d' });
  const ran = async (...words: string[]) => {
    const line = 'echo $SLURM_PROCID $CUDA_VISIBLE_DEVICES $SLURM_RANK_GPUS';
    assert.equal(await srun(context, ['-n2', '-oout', ...words, 'sh', '-c', line]), 0);
    return readFileSync(path.join(folder, 'out'), 'utf8').trim().split('\n').sort();
  };
  assert.deepEqual(await ran(), ['0 a,b,c,d', '1 a,b,c,d']);
  assert.deepEqual(await ran('--gpus-per-task=1'), ['0 a', '1 b']);
  assert.doesNotMatch(
    RANK_GPUS,
    /^(?:WEFT|CM)_/,
    'the head leaves those out of what a step brings',
  );
  assert.deepEqual(await ran('--gpus-per-task=a100:2'), ['0 a,b', '1 c,d']);
  assert.deepEqual(await ran('--gpus-per-task=0'), ['0 a,b,c,d', '1 a,b,c,d']);
  const three = srun(context, ['-n2', '--gpus-per-task=3', 'true']);
  await assert.rejects(three, /job 42: 6 gpus are more than the 4 that it has on a node/);
  assert.deepEqual(await ran('--gpus-per-task=1', '--gpu-bind=none'), ['0 a,b,c,d', '1 a,b,c,d']);
  await ran('--gres=gpu:4');
  assert.deepEqual(said, []);
  await ran('--gpus=1');
  const [program = '', ...args] = becoming(['sh', '-c', 'echo "[$ZE_AFFINITY_MASK]"']);
  const own = { SLURM_LOCALID: '1', [RANK_GPUS]: '1', ZE_AFFINITY_MASK: '3' };
  const env = { ...process.env, ...own };
  const { stdout } = spawnSync(program, args, { encoding: 'utf8', env });
  assert.equal(stdout, '[]\n', 'the only one is that of the first rank');
  assert.deepEqual(said, ['srun: warning: a step sees all 4 gpus of its job on a node, not 1\n']);
});
