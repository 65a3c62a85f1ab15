// The commands that speak Slurm, as scripts and programs written for Slurm use them: on a real
// cluster, from a folder in the PATH.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setUpVenv } from '../../tools/python-venv.ts';
import { TypedTerminal } from '../support/typed-terminal.ts';
import { isOver } from '../support/when-killed.ts';
import { until } from './support/hosts.ts';
import { LocalCluster, runProgram, type Said } from './support/local-cluster.ts';
import { PROGRAM } from './support/mpi-programs.ts';

/**
 * Functions as jobs, an array of them, one that fails, and one that goes on elsewhere when its time
 * is nearly over, as submitit's own pages show it.
 */
const CLIENT = `
import submitit

def add(a, b):
    return a + b

def fail():
    raise ValueError("no")

executor = submitit.AutoExecutor(folder="logs/%j")
executor.update_parameters(timeout_min=5, cpus_per_task=1, mem_gb=0.1, name="sub")
print(executor.cluster)
print(executor.submit(add, 5, 7).result())
jobs = executor.map_array(add, [1, 2, 3], [10, 20, 30])
print([job.result() for job in jobs])
failed = executor.submit(fail)
try:
    failed.result()
except Exception as error:
    print(type(error).__name__)

class Work(submitit.helpers.Checkpointable):
    def __call__(self):
        import time
        for _ in range(600):
            time.sleep(0.1)

    def checkpoint(self):
        return submitit.helpers.DelayedSubmission(add, 40, 2)

executor.update_parameters(timeout_min=1, slurm_signal_delay_s=40)
print(executor.submit(Work()).result())
`;

describe('the commands of Slurm', () => {
  let cluster: LocalCluster;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    cluster = await LocalCluster.start('--nodes', '2', '--listen', 'none');
    const bin = join(cluster.directory, 'bin');
    await cluster.ok('front', 'slurm', bin);
    // Python programs start three times as fast when they may keep what they have compiled.
    const python = { PYTHONDONTWRITEBYTECODE: '' };
    env = { ...cluster.env, ...python, PATH: `${bin}:${process.env['PATH']}` };
  });
  after(() => cluster.close());

  const type = (...argv: string[]): Promise<Said> => runProgram(argv, { cwd: cluster.work, env });
  async function ok(...argv: string[]): Promise<string> {
    const { code, out, error } = await type(...argv);
    assert.equal(code, 0, `${argv.join(' ')}: ${out}${error}`);
    return out.replace(/\n$/, '');
  }
  const write = (name: string, text: string): void => writeFileSync(join(cluster.work, name), text);
  const text = (name: string): string => readFileSync(join(cluster.work, name), 'utf8');
  const ended = (id: string): Promise<Said> => cluster.weft('wait', id);

  it('[X1] sbatch runs a script once, with its lines, its variables and its files', async () => {
    const script = [
      '#!/bin/bash',
      '#SBATCH --job-name=md # a remark',
      '#SBATCH -N 1 --ntasks-per-node=2',
      '#SBATCH --time=10:00 --mem 100',
      '#SBATCH -o out-%j.txt',
      'echo "$SLURM_JOB_ID $SLURM_JOB_NAME $SLURM_NTASKS $SLURM_CPUS_ON_NODE $SLURM_MEM_PER_NODE $1"',
      'set -u',
      'echo "$SLURM_JOB_PARTITION $SLURM_JOB_QOS [$SLURM_JOB_ACCOUNT] $SLURM_JOB_UID $SLURM_CLUSTER_NAME"',
      '#SBATCH --late',
      'exit 3',
      '',
    ];
    write('job.sh', script.join('\n'));
    const said = await ok('sbatch', 'job.sh', 'arg');
    const [, id = ''] = /^Submitted batch job (\d+)$/.exec(said) ?? [];
    assert.notEqual(id, '', said);
    await ended(id);
    const uid = process.getuid?.();
    const wanted = new RegExp(`^${id} md 2 2 100 arg\\ndefault normal \\[\\] ${uid} \\S+\\n$`);
    assert.match(text(`out-${id}.txt`), wanted);
    const rows = await ok('sacct', '-n', '-P', '-j', id, '--format=JobID,State,ExitCode');
    assert.deepEqual(rows.split('\n'), [`${id}|FAILED|3:0`, `${id}.batch|FAILED|3:0`]);
    assert.match(
      await ok('scontrol', 'show', 'jobid', id),
      new RegExp(
        `JobState=FAILED Reason=NonZeroExitCode[\\s\\S]*TimeLimit=00:10:00[\\s\\S]*Command=.*/job\\.sh arg\n[\\s\\S]*StdOut=.*/out-${id}\\.txt`,
      ),
    );
  });

  it('[X4] arrays are written as Slurm writes them, and cancelled by element', async () => {
    const wrap =
      'until [ -e go ]; do sleep 0.05; done; echo $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT';
    const id = await ok('sbatch', '--parsable', '--array=0-7:2%2', '--wrap', wrap);
    const queue = () => ok('squeue', '-h', '-j', id, '-o', '%i %t');
    await until('two run', async () => {
      const lines = (await queue()).split('\n');
      return lines.filter((line) => line.endsWith(' R')).length === 2 || undefined;
    });
    assert.deepEqual((await queue()).split('\n').sort(), [
      `${id}_0 R`,
      `${id}_2 R`,
      `${id}_[4,6%2] PD`,
    ]);
    assert.equal(
      await ok('squeue', '-h', '-r', '-t', 'PD', '-o', '%i', '-j', id),
      `${id}_4\n${id}_6`,
    );
    assert.equal(await ok('squeue', '-h', '-t', 'PD', '-o', '%r', '-j', id), 'JobArrayTaskLimit');
    assert.equal(await ok('squeue', '-h', '-o', '%i', '-j', `${id}_[0-1]`), `${id}_0`);
    await ok('scancel', `${id}_6`);
    write('go', '');
    await ended(id);
    assert.equal(text(`slurm-${id}_4.out`), `${id} 4 of 4\n`);
    assert.equal(existsSync(join(cluster.work, `slurm-${id}_6.out`)), false);
    const states = await ok('sacct', '-X', '-n', '-P', '-j', id, '-o', 'JobID,State');
    assert.ok(states.split('\n').includes(`${id}_4|COMPLETED`), states);
    assert.ok(states.split('\n').includes(`${id}_6|CANCELLED`), states);
    const some = await ok('sacct', '-X', '-n', '-P', '-j', `${id}_[2-4]`, '-o', 'JobID');
    assert.deepEqual(some.split('\n').sort(), [`${id}_2`, `${id}_4`]);
  });

  it('[X2] dependencies, holds and the exit code of --wait are kept', async () => {
    const first = await ok('sbatch', '--parsable', '-H', '--wrap', 'echo one >> order');
    const second = await ok(
      'sbatch',
      '--parsable',
      '-d',
      `afterok:${first}`,
      '--wrap',
      'echo two >> order',
    );
    assert.match(await ok('squeue', '-h', '-j', first, '-o', '%t %r'), /^PD JobHeldUser$/);
    await ok('scontrol', 'release', first);
    await ended(second);
    assert.equal(text('order'), 'one\ntwo\n');
    assert.equal((await type('sbatch', '--wait', '--wrap', 'exit 5')).code, 5);
  });

  it('[X5] srun runs a command, and inside of a job ranks on all its nodes', async () => {
    const direct = await type('srun', '-n', '1', 'sh', '-c', 'echo hello; exit 4');
    assert.deepEqual([direct.code, direct.out], [4, 'hello\n']);
    const ranked = await ok(
      'srun',
      '-N',
      '2',
      '-n',
      '4',
      'sh',
      '-c',
      'echo "$SLURM_PROCID $SLURM_LOCALID"',
    );
    const said = ranked.split('\n').map((line) => line.replace(/^\S+: /, ''));
    assert.deepEqual(said.sort(), ['0 0', '1 1', '2 0', '3 1']);
    const shape = ['sh', '-c', 'echo "$SLURM_NTASKS $SLURM_NTASKS_PER_NODE"'];
    assert.equal(await ok('srun', '-N2', '-n4', ...shape), Array(4).fill('4 2').join('\n'));
    const held = await ok('salloc', '-N2', '-n4', 'srun', ...shape);
    assert.match(held, /^(?:4 2(?:\n|$)){4}/m);
    const script =
      '#!/bin/sh\nsrun sh -c \'echo "rank $SLURM_PROCID of $SLURM_NTASKS on $SLURMD_NODENAME"\' | sort\nsrun -n 1 sh -c "exit 7"\n';
    write('ranks.sh', script);
    // It finds the head, which is not in its usual place.
    const id = await ok('sbatch', '--parsable', '-N2', '--ntasks-per-node=2', 'ranks.sh');
    assert.equal((await ended(id)).code, 7);
    const rows = await ok(
      'sacct',
      '-n',
      '-P',
      '-j',
      id,
      '-o',
      'JobID,State,ExitCode,NTasks,NNodes',
    );
    assert.deepEqual(rows.split('\n').slice(2), [
      `${id}.0|COMPLETED|0:0|4|2`,
      `${id}.1|FAILED|7:0|1|1`,
    ]);
    const lines = text(`slurm-${id}.out`)
      .split('\n')
      .filter((line) => line.startsWith('rank'));
    assert.deepEqual(lines, [
      'rank 0 of 4 on n1',
      'rank 1 of 4 on n1',
      'rank 2 of 4 on n2',
      'rank 3 of 4 on n2',
    ]);
  });

  it('[X5] a file says which ranks run which program, and one that is not there ends with 2', async () => {
    write(
      'programs',
      '# two\n0 sh -c \'echo "$SLURM_TASK_PID $$"\'\n1-2 echo %t:%o\n* echo rest %t\n',
    );
    const lines = ['1:0', '2:1', 'rest 3'];
    const check = (said: string): void => {
      const [pids = '', ...others] = said.trim().split('\n').sort();
      assert.deepEqual(
        [pids, ...others].filter((line) => !/^\d+ \d+$/.test(line)),
        lines,
      );
      const [task, own] =
        [pids, ...others].find((line) => /^\d+ \d+$/.test(line))?.split(' ') ?? [];
      assert.equal(task, own, said);
    };
    check(await ok('srun', '-N2', '-n4', '--multi-prog', 'programs'));
    write('multi.sh', '#!/bin/sh\nsrun --multi-prog programs\n');
    const id = await ok('sbatch', '--parsable', '-N2', '--ntasks-per-node=2', 'multi.sh');
    assert.equal((await ended(id)).code, 0, text(`slurm-${id}.out`));
    check(text(`slurm-${id}.out`));
    write('few', '0 true\n');
    const few = await type('srun', '-n2', '--multi-prog', 'few');
    assert.equal(few.code, 1);
    assert.match(
      few.error,
      /^srun: error: Configuration file few invalid, no record for task id 1/,
    );
    write(
      'absent.sh',
      '#!/bin/sh\nsrun -n2 -N2 no-such; echo "ended with $?"; srun -n1 /etc/passwd\n',
    );
    const none = await ok('sbatch', '--parsable', '-N2', 'absent.sh');
    assert.equal((await ended(none)).code, 13);
    const said = text(`slurm-${none}.out`);
    for (const node of ['n1', 'n2'])
      assert.match(
        said,
        new RegExp(`slurmstepd-${node}: error: execve\\(\\): no-such: No such file`),
      );
    assert.match(said, /ended with 2\n.*passwd: Permission denied/);
    assert.equal((await type('srun', 'no-such')).code, 2);
  });

  it('[X5] [Z13] ranks of a srun that is killed are ended on all nodes, and are told to be', async () => {
    const rank = `srun -N2 -n2 sh -c 'echo $$ > rank.$SLURM_PROCID; sleep 600' &`;
    const look =
      'until [ -s rank.0 ] && [ -s rank.1 ]; do sleep 0.1; done; kill -9 $!; wait; sleep 600';
    write('killed.sh', `#!/bin/sh\n${rank}\n${look}\n`);
    const id = await ok('sbatch', '--parsable', '-N2', 'killed.sh');
    const pids = await until('both ranks run', () => {
      const all = ['rank.0', 'rank.1'].flatMap((name) => cluster.lines(name));
      return all.length === 2 ? all.map(Number) : undefined;
    });
    await until('they are ended', () => pids.every(isOver) || undefined);
    await until('that is told', async () => {
      const rows = await ok('sacct', '-n', '-P', '-j', id, '-o', 'JobID,State,ExitCode');
      return rows.split('\n').includes(`${id}.0|CANCELLED|0:9`) || undefined;
    });
    assert.equal((await cluster.job(id)).state, 'running');
    await ok('scancel', id);
  });

  it('[X5] ranks of a srun outside of a job have each their file, and the rest comes here', async () => {
    const rank = ['sh', '-c', 'echo "rank $SLURM_PROCID"; echo wrong >&2'];
    await ok('srun', '-n2', '-o', 'own.%t', ...rank);
    assert.deepEqual([text('own.0'), text('own.1')], ['rank 0\nwrong\n', 'rank 1\nwrong\n']);
    await ok('srun', '-N2', '-n2', '-o', 'node.%t', ...rank);
    assert.equal(text('node.1'), 'rank 1\nwrong\n');
    write('lines', 'of a file\n');
    const read = await type('srun', '-i', 'lines', 'cat');
    assert.deepEqual([read.code, read.out], [0, 'of a file\n']);
    const split = await type('srun', '-e', 'split', ...rank);
    assert.deepEqual([split.out, text('split')], ['rank 0\n', 'wrong\n']);
    await ok('srun', '-o', 'none', ...rank);
    assert.throws(() => text('none'), /ENOENT/);
    const one = await type('srun', '-n2', '-i', '1', 'cat');
    assert.match(one.error, /^srun: error: --input=1 is not honoured here/);
  });

  it('[X5] srun takes input, labels ranks, and steps in the background wait for room', async () => {
    const piped = await type('sh', '-c', 'echo said | srun cat');
    assert.deepEqual([piped.code, piped.out], [0, 'said\n']);
    const labels = await ok('srun', '-N2', '-l', 'sh', '-c', 'echo $SLURM_STEP_NODELIST');
    assert.deepEqual(labels.split('\n').sort(), ['0: n[1-2]', '1: n[1-2]']);
    const code = await type('srun', 'sh', '-c', 'exit 9');
    assert.equal(code.code, 9);
    const lines = [
      '#!/bin/sh',
      '#SBATCH -N 2 -n 2 -c 2',
      // Two of them have all cpus of the job.
      'for i in 1 2 3 4; do',
      `  srun -N1 -n1 -c2 --exclusive sh -c 'mkdir busy-$SLURMD_NODENAME && sleep 0.5 && rmdir busy-$SLURMD_NODENAME && echo "done $SLURMD_NODENAME"' &`,
      'done',
      'wait',
      `srun -N1 -n1 -w n2 --chdir=/ --export=NONE,OWN=1 sh -c 'echo "$SLURMD_NODENAME $PWD $OWN"'`,
      '',
    ];
    write('steps.sh', lines.join('\n'));
    const id = await ok('sbatch', '--parsable', 'steps.sh');
    assert.equal((await ended(id)).code, 0, text(`slurm-${id}.out`));
    const said = text(`slurm-${id}.out`);
    assert.equal(said.match(/^done n[12]$/gm)?.length, 4, said);
    assert.match(said, /^n2 \/ 1$/m);
  });

  it('[X2] a signal goes to what a script has started, or to the script alone', async () => {
    const rank = `bash -c 'trap "exit 4" USR1; echo > ranks.ready; while :; do sleep 0.1; done'`;
    const ranks = ['#!/bin/bash', `srun ${rank}`, 'echo "srun $?" > ranks.said', ''];
    write('ranks.job', ranks.join('\n'));
    const alone = [
      '#!/bin/bash',
      "trap 'echo script > alone.said' USR1",
      // What is not named would end of it.
      'sleep 600 & other=$!',
      'echo > alone.ready',
      'until [ -s alone.said ]; do sleep 0.1; done',
      'kill -0 $other && echo lives >> alone.said; kill $other',
      '',
    ];
    write('alone.job', alone.join('\n'));
    const ready = (name: string): Promise<boolean> =>
      until(`${name} is there`, () => existsSync(join(cluster.work, name)) || undefined);
    const first = await ok('sbatch', '--parsable', 'ranks.job');
    await ready('ranks.ready');
    await ok('scancel', '-s', 'USR1', first);
    assert.equal((await ended(first)).code, 0, text(`slurm-${first}.out`));
    assert.equal(text('ranks.said'), 'srun 4\n');
    const next = await ok('sbatch', '--parsable', 'alone.job');
    await ready('alone.ready');
    await ok('scancel', '-b', '-s', 'USR1', next);
    assert.equal((await ended(next)).code, 0, text(`slurm-${next}.out`));
    assert.equal(text('alone.said'), 'script\nlives\n');
    const warned = ['--hold', '--time=2', '--signal=B:USR2@30', '--wrap', 'true'];
    const held = await ok('sbatch', '--parsable', ...warned);
    const { warning } = (await cluster.job(held)) as { warning?: object };
    assert.deepEqual(warning, { leadMs: 30_000, signal: 12, to: 'main' });
    // Nextflow says it of each process, also where there is no limit before which it could come.
    const unlimited = ['--hold', '--signal=B:USR2@30', '--wrap', 'true'];
    const plain = await ok('sbatch', '--parsable', ...unlimited);
    assert.equal(((await cluster.job(plain)) as unknown as { warning: unknown }).warning, null);
    await ok('scancel', plain);
    await ok('scancel', held);
  });

  it('[X2] starts of others, appended files and numbers with zeros', async () => {
    write('old.txt', 'old\n');
    const first = await ok(
      'sbatch',
      '--parsable',
      '--hold',
      '--wrap',
      'until [ -e go2 ]; do sleep 0.1; done',
    );
    const append = ['--open-mode=append', '-o', 'old.txt', '--wrap', 'echo new'];
    const next = await ok('sbatch', '--parsable', '-d', `after:${first}`, ...append);
    assert.equal(
      await ok('squeue', '-h', '-j', next, '-o', '%r %E'),
      `Dependency after:${first}(unfulfilled)`,
    );
    assert.match(
      await ok('scontrol', '-o', 'show', 'job', next),
      new RegExp(`^JobId=${next} .* Dependency=after:${first}`),
    );
    await ok('scontrol', 'release', first);
    await ended(next);
    assert.equal(text('old.txt'), 'old\nnew\n');
    write('go2', '');
    await ended(first);
    const array = await ok(
      'sbatch',
      '--parsable',
      '-a',
      '7',
      '-o',
      'z-%3a.txt',
      '--wrap',
      'echo $SLURM_ARRAY_TASK_STEP',
    );
    await ended(array);
    assert.equal(text('z-007.txt'), '1\n');
    assert.equal(
      await ok('scontrol', 'write', 'batch_script', array, '-'),
      '#!/bin/sh\necho $SLURM_ARRAY_TASK_STEP',
    );
    assert.equal(await ok('scancel', array), '');
    assert.equal(await ok('sinfo', '-h', '-o', '%D'), '2');
  });

  it('[X2] a job that a job submits is itself, and not its parent', async () => {
    const inner = 'echo $SLURM_JOB_ID $SLURM_NTASKS x$SLURM_ARRAY_TASK_ID > inner';
    const wrap = `sbatch --wait --wrap '${inner}'`;
    // It finds the head, which is not in its usual place.
    const id = await ok('sbatch', '--parsable', '-n', '2', '--array=5', '--wrap', wrap);
    await ended(id);
    assert.equal(text('inner'), `${Number(id) + 1} 1 x\n`);
  });

  it('[X4] scancel by state ends those in that state alone', async () => {
    const wrap = 'until [ -e stop ]; do sleep 0.05; done';
    const id = await ok('sbatch', '--parsable', '--array=0-3%1', '--wrap', wrap);
    await until('one runs', async () => {
      return (await ok('squeue', '-h', '-j', id, '-t', 'R', '-o', '%i')) === `${id}_0` || undefined;
    });
    assert.match(
      (await type('scancel', '-t', 'RUNING', id)).error,
      /Invalid job state specified: RUNING/,
    );
    assert.match((await type('scancel', `${id}.0`)).error, /There is no step/);
    await ok('scancel', '-t', 'PENDING', id);
    write('stop', '');
    await ended(id);
    const states = await ok('sacct', '-X', '-n', '-P', '-j', id, '-j', '1', '-o', 'JobID,State');
    assert.deepEqual(
      states
        .split('\n')
        .filter((line) => line.startsWith(id))
        .sort(),
      [`${id}_0|COMPLETED`, `${id}_1|CANCELLED`, `${id}_2|CANCELLED`, `${id}_3|CANCELLED`],
    );
    assert.match(states, /^1\|/m);
  });

  it('nodes and partitions are shown', async () => {
    assert.match(await ok('sinfo', '-h', '-o', '%P %a %D %N'), /^default\* up 2 n\[1-2\]$/);
    assert.match(await ok('sinfo', '-N', '-h'), /^n1 [\s\S]*\nn2 /);
    assert.equal(await ok('sinfo', '-h', '-o', '%C'), '0/4/0/4');
    assert.equal(await ok('sinfo', '-h', '-O', 'NodeList:8,StateLong:.6'), 'n[1-2]    idle');
    assert.equal(await ok('sinfo', '-h', '-R'), '');
    assert.match(
      await ok('scontrol', 'show', 'node', 'n1'),
      /NodeName=n1 [\s\S]*CPUTot=2[\s\S]*RealMemory=512/,
    );
    assert.equal(await ok('scontrol', 'show', 'hostnames', 'n[1-2]'), 'n1\nn2');
    const queue: { jobs: unknown[] } = JSON.parse(await ok('squeue', '--json'));
    assert.deepEqual(queue.jobs, []);
  });

  it('salloc holds nodes, and srun in it starts ranks there, also with a terminal', async () => {
    const ranks =
      'export LATE=5; srun -l sh -c \'echo $SLURM_PROCID of $SLURM_NTASKS $LATE\'; srun -n1 sh -c "exit 4"; exit $?';
    const said = await type('salloc', '-N', '2', 'sh', '-c', ranks);
    assert.equal(said.code, 4, said.error);
    assert.deepEqual(said.out.trim().split('\n').sort(), ['0: 0 of 2 5', '1: 1 of 2 5']);
    assert.match(
      said.error,
      /^salloc: Granted job allocation (\d+)\n(.*\n)*salloc: Relinquishing job allocation \1$/m,
    );
    const id = /Granted job allocation (\d+)/.exec(said.error)?.[1] ?? '';
    const steps = await ok('sacct', '-n', '-P', '-j', id, '-o', 'JobID,State,ExitCode');
    const own = steps.split('\n').filter((line) => /\.\d/.test(line));
    assert.deepEqual(own.slice(1), [`${id}.1|COMPLETED|0:0`, `${id}.2|FAILED|4:0`]);
    const step = await ok('scontrol', '-o', 'show', 'step', `${id}.2`);
    assert.match(
      step,
      new RegExp(`^StepId=${id}\\.2 .* State=FAILED NodeList=n1 Nodes=1 Tasks=1 `),
    );
    const whole = await ok('sacct', '-n', '-X', '-P', '-j', id, '-o', 'JobID');
    assert.equal(whole, id);
    const has = 'echo $SLURM_CPUS_PER_TASK $OMP_NUM_THREADS $SLURM_TASKS_PER_NODE';
    for (const words of [['srun'], ['salloc', 'srun']]) {
      const [command = '', ...inner] = words;
      const each = await ok(command, '-n2', '-c1', '-N1', ...inner, 'sh', '-c', has);
      assert.equal(each, '1 1 2\n1 1 2', command);
    }
    const limited = await type('srun', '-t', '0:01', 'sleep', '600');
    assert.match(limited.error, /^srun: job \d+: .*time limit/m);
    // Its end may come too late to be told.
    assert.ok([125, 143].includes(limited.code ?? 0), limited.error);
    const bad = `srun -n2 -K sh -c '[ $SLURM_PROCID = 1 ] || exit 3; sleep 600'`;
    const more =
      'srun -n1 -t 0:01 sleep 600; code=$?; srun -n1 -D /tmp pwd; srun -n1 -D /nosuch pwd; exit $code';
    const over = await type('salloc', '-n2', 'sh', '-c', `${bad}; ${more}`);
    assert.equal(over.code, 143, over.error);
    assert.match(over.error, /Terminating StepId=\d+\.1: a task exited with exit code 3/);
    assert.equal(over.out, '/tmp\n');
    assert.match(over.error, /step \d+\.4: .*its folder is not there/);
    assert.match(over.error, /STEP \d+\.2 CANCELLED DUE TO TIME LIMIT/);
    const shell = new TypedTerminal(
      'salloc sh -c "srun --pty sh -c \'tty; read x; exit 7\'; exit \\$?"',
      {
        env,
        cwd: cluster.work,
        size: { columns: 80, rows: 24 },
      },
    );
    await shell.shows(/\/dev\/pts/);
    shell.type('\r');
    assert.equal(await shell.ended(), 7);
  });

  it('[X5] srun --jobid looks into a job that runs, and refuses one that does not', async () => {
    const id = await cluster.ok('run', '--array', '0-1', '--', 'sleep', '600');
    await until('both run', async () =>
      (await cluster.job(id)).taskCounts['running'] === 2 ? true : undefined,
    );
    const own = 'echo $WEFT_TASK_ID $SLURM_PROCID of $SLURM_NTASKS';
    assert.equal(await ok('srun', `--jobid=${id}_1`, 'sh', '-c', own), `${id}[1] 0 of 1`);
    const many = await type('srun', `--jobid=${id}_1`, '-n', '9', 'true');
    assert.match(many.error, /^srun: error: Unable to create step for job: 9 tasks are more/);
    const whole = await type('srun', `--jobid=${id}`, 'true');
    assert.match(whole.error, /^srun: error: Invalid job id specified: .*\n.*one task of an array/);
    await cluster.ok('cancel', id);
    await ended(id);
    const over = await type('srun', `--jobid=${id}_1`, 'true');
    assert.match(over.error, /^srun: error: Job \d+_1 does not run: it is done/);
    assert.deepEqual([many.code, whole.code, over.code], [1, 1, 1]);
  });

  it('[X2] what is typed takes back what the script says', async () => {
    write('never.sh', '#!/bin/sh\n#SBATCH --no-requeue\n');
    const said = await ok('sbatch', '--hold', '--requeue', 'never.sh');
    const id = /\d+$/.exec(said)?.[0] ?? '';
    assert.match(await ok('scontrol', 'show', 'job', id), /Requeue=1/);
    await ok('scancel', id);
  });

  it('[X2] nodes are left out, one of its name runs at a time, and sattach follows', async () => {
    const wrap = ['--parsable', '-J', 'alone', '--exclude=n1', '--wrap'];
    const first = await ok(
      'sbatch',
      ...wrap,
      'hostname >&2; until [ -e go-alone ]; do sleep 0.1; done',
    );
    const next = await ok('sbatch', '-d', 'singleton', ...wrap, 'true');
    await until('the first runs', async () => {
      return (await ok('squeue', '-h', '-j', first, '-o', '%N')) === 'n2' || undefined;
    });
    assert.match(await ok('scontrol', 'show', 'job', next), /Dependency=singleton\(unfulfilled\)/);
    const followed = type('sattach', `${first}.batch`);
    write('go-alone', '');
    const said = await followed;
    assert.equal(said.code, 0, said.error);
    assert.match(said.error, /slurm-\d+\.out in .*: that is not followed/);
    await ended(next);
    assert.equal(
      await ok('sacct', '-X', '-n', '-P', '-j', next, '-o', 'State,NodeList'),
      'COMPLETED|n2',
    );
  });

  it('[X2] scontrol makes a reservation, shows it and deletes it', async () => {
    const made = ['StartTime=now+2hours', 'Duration=90', 'Users=root', 'Nodes=n[1-2]'];
    const said = await ok('scontrol', 'create', 'ReservationName=course', ...made);
    assert.equal(said, 'Reservation created: course');
    const shown = await ok('scontrol', 'show', 'reservation', 'course');
    assert.match(shown, /ReservationName=course .*Duration=01:30:00\n {3}Nodes=n\[1-2\] NodeCnt=2/);
    await ok('scontrol', 'delete', 'ReservationName=course');
    const gone = await type('scontrol', 'show', 'reservation', 'course');
    assert.match(gone.error, /^scontrol: error: Reservation course not found/);
  });

  it('scancel ends a step alone, and sstat shows what runs', async () => {
    const id = await ok('sbatch', '--parsable', '--wrap', 'sleep 600');
    await until('it runs', async () => {
      return (await ok('squeue', '-h', '-j', id, '-t', 'R', '-o', '%i')) === id || undefined;
    });
    const step = cluster.weft('exec', id, '--', 'sleep', '600');
    await until('its step runs', async () => {
      const lines = await ok('sstat', '-n', '-P', '-a', '-j', id, '-o', 'JobID,NTasks');
      return lines === `${id}.batch|1\n${id}.0|1` || undefined;
    });
    await ok('scancel', `${id}.0`);
    assert.equal((await step).code, 129);
    assert.match((await type('scancel', `${id}.0`)).error, /Step \d+\.0 is over: signal 1/);
    assert.equal(await ok('sacct', '-n', '-P', '-j', `${id}.0`, '-o', 'State'), 'CANCELLED');
    await ok('scancel', id);
    assert.match((await type('sstat')).error, /^sstat: error: You must give --jobs/);
  });

  it('[X1] [X2] scripts as tutorials have them: one, an array with what comes after it, and MPI', async () => {
    const script = (name: string, lines: readonly string[]): void =>
      write(name, `#!/bin/bash\n${lines.join('\n')}\n`);
    script('serial.sh', [
      '#SBATCH --job-name=first_serial        # what squeue shows',
      '#SBATCH --mail-type=END,FAIL           # when to write',
      '#SBATCH --mail-user=ann@example.org    # to whom',
      '#SBATCH --partition=default',
      '#SBATCH --nodes=1',
      '#SBATCH --ntasks=1',
      '#SBATCH --cpus-per-task=1',
      '#SBATCH --mem=100mb',
      '#SBATCH --time=00:05:00',
      '#SBATCH --output=serial_%j.log',
      '#SBATCH --error=serial_%j.err',
      '#SBATCH --get-user-env --propagate=STACK',
      '##SBATCH --gres=gpu:1',
      'set -euo pipefail',
      'cd "$SLURM_SUBMIT_DIR"',
      'nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | wc -l)',
      'echo "$SLURM_JOB_NAME: $nodes node, $SLURM_CPUS_PER_TASK cpu"',
      'SCRATCH=$(mktemp -d)',
      `trap 'rm -rf "$SCRATCH"' EXIT`,
      'seq 1 100 | paste -sd+ | bc > "$SCRATCH/sum" || echo 5050 > "$SCRATCH/sum"',
      'cp "$SCRATCH/sum" "sum_$SLURM_JOB_ID.txt"',
      'echo done >&2',
    ]);
    const sent = await type('sbatch', 'serial.sh');
    assert.match(sent.error, /--mail-type is ignored: This cluster does not send notifications/);
    const serial = /^Submitted batch job (\d+)\n$/.exec(sent.out)?.[1] ?? '';
    await ended(serial);
    assert.equal(text(`serial_${serial}.log`), 'first_serial: 1 node, 1 cpu\n');
    assert.equal(text(`serial_${serial}.err`), 'done\n');
    assert.equal(text(`sum_${serial}.txt`), '5050\n');

    write('points.txt', ['a 1', 'b 2', 'c 3', 'd 4', ''].join('\n'));
    script('sweep.sh', [
      '#SBATCH -J sweep',
      '#SBATCH -a 1-4%2',
      '#SBATCH -t 0-00:05',
      '#SBATCH -n 1',
      '#SBATCH --mem-per-cpu=64M',
      '#SBATCH -o logs/sweep_%A_%a.out',
      'line=$(sed -n "$SLURM_ARRAY_TASK_ID p" points.txt)',
      'read -r name value <<< "$line"',
      'echo "$name $((value * value))" > "out/$name.txt"',
      'echo "task $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT"',
    ]);
    script('gather.sh', [
      '#SBATCH --output=%x-%j.out',
      '#SBATCH --time=1',
      'cat out/*.txt > all.txt',
    ]);
    script('chain.sh', [
      'mkdir -p logs out',
      `first=$(sbatch sweep.sh | awk '{ print $NF }')`,
      'second=$(sbatch --parsable --dependency=afterok:$first gather.sh)',
      'third=$(sbatch --parsable -d afterany:$first:$second --kill-on-invalid-dep=yes --wrap "wc -l < all.txt > count.txt")',
      'echo "$first $second $third"',
    ]);
    const [array = '', , last = ''] = (await ok('bash', 'chain.sh')).split(' ');
    await ended(last);
    assert.equal(text('all.txt'), 'a 1\nb 4\nc 9\nd 16\n');
    assert.equal(text('count.txt'), '4\n');
    assert.equal(text(`logs/sweep_${array}_3.out`), 'task 3 of 4\n');

    write('sum.c', PROGRAM);
    script('mpi.sh', [
      '#SBATCH --job-name=mpi_sum',
      '#SBATCH --nodes=2',
      '#SBATCH --ntasks-per-node=2',
      '#SBATCH --mem=200M',
      '#SBATCH --time=00:10:00',
      '#SBATCH --output=%x.%j.out',
      'module purge 2> /dev/null || true',
      'mpicc.mpich -O1 -o sum sum.c',
      'export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK',
      'echo "$SLURM_JOB_NUM_NODES nodes, $SLURM_NTASKS ranks: $(srun hostname | wc -l)"',
      'srun --mpi=pmi2 ./sum',
      `srun -N 1 -n 1 --exclusive sh -c 'echo "alone: $SLURM_PROCID of $SLURM_NTASKS"' &`,
      'wait',
    ]);
    // It finds the head, which is not in its usual place.
    const mpi = await ok('sbatch', '--parsable', 'mpi.sh');
    await ended(mpi);
    assert.equal(
      text(`mpi_sum.${mpi}.out`),
      '2 nodes, 4 ranks: 4\n4 ranks, sum 6\nalone: 0 of 1\n',
    );
    const columns = 'jobid,jobname%20,ntasks,alloctres%40,state,exitcode,elapsed,maxrss,cputime';
    const rows = await ok('sacct', '-n', '-P', '-j', mpi, `--format=${columns}`);
    assert.match(
      rows,
      new RegExp(`^${mpi}\\|mpi_sum\\|\\|cpu=4,mem=400M,node=2\\|COMPLETED\\|0:0`),
    );
    assert.match(rows, new RegExp(`^${mpi}\\.batch\\|batch\\|1\\|`, 'm'));
    assert.match(rows, new RegExp(`^${mpi}\\.0\\|.*\\|4\\|`, 'm'));
  });

  it('[X3] what is wrong or not honoured is said in the manner of Slurm, and nothing is submitted', async () => {
    const before = await cluster.jobCount();
    const wrong: readonly (readonly [words: RegExp, ...argv: string[]])[] = [
      [
        /^sbatch: unrecognized option '--foo'\nTry "sbatch --help" for more information\n$/,
        'sbatch',
        '--foo',
        'job.sh',
      ],
      [/^sbatch: error: Unable to open file none\.sh/, 'sbatch', 'none.sh'],
      [/^sbatch: error: --exclude leaves no node/, 'sbatch', '--exclude=n[1-2]', 'job.sh'],
      [/^sattach: error: there is no step 1\.9/, 'sattach', '1.9'],
      [/^sattach: unrecognized option '--pty'/, 'sattach', '--pty', '1.0'],
      [/^sattach: error: No job 99999/, 'sattach', '99999.0'],
      [/^scontrol: error: A reservation needs Dur/, 'scontrol', 'create', 'reservation'],
      [
        /^scontrol: error: Creating .* accounts is not/,
        'scontrol',
        'create',
        'reservation',
        'Accounts=x',
      ],
      [/^sbatch: error: Invalid --time specification: 1h/, 'sbatch', '-t', '1h', 'job.sh'],
      [/^sbatch: error: This does not look like a batch script/, 'sbatch', 'plain'],
      [/DOS line breaks/, 'sbatch', 'dos.sh'],
      [/^sbatch: error: Batch script is larger than/, 'sbatch', 'large.sh'],
      [/^sbatch: error: Batch script begins with a byte order mark/, 'sbatch', 'mark.sh'],
      [
        /^sbatch: error: --ntasks 5 is more than 2 nodes with 2 each/,
        'sbatch',
        '-N2',
        '-n5',
        '--ntasks-per-node=2',
        'job.sh',
      ],
      [/^sbatch: error: Script arguments not permitted/, 'sbatch', '--wrap', 'true', 'job.sh'],
      [/^sbatch: error: Batch script contains DOS line breaks/, 'sbatch', 'one-dos.sh'],
      [/^sbatch: error: quote\.sh:2: a quote is not closed/, 'sbatch', 'quote.sh'],
      [
        /^sbatch: error: Maximum node count 1 is less than minimum node count 2/,
        'sbatch',
        '-N',
        '2-1',
        'job.sh',
      ],
      [/^sbatch: error: Batch script is empty!/, 'sbatch', '--wrap='],
      [/^sbatch: error: --gres, .* exclude/, 'sbatch', '--gpus=1', '--gres=gpu:2', 'job.sh'],
      [/^sbatch: error: Invalid --mail-type specification/, 'sbatch', '--mail-type=NOPE', 'job.sh'],
      [/^sacct: error: Invalid field requested: ""/, 'sacct', '--format='],
      [/^sacct: error: Start time .* is after/, 'sacct', '-S', '2030-01-01', '-E', '2020-01-01'],
      [/^sacct: error: Invalid job state specified: NOPE/, 'sacct', '-s', 'NOPE'],
      [/^sacct: error: Invalid field requested: "Nope"/, 'sacct', '--format=JobID,Nope'],
      [/^sbatch: bad\.sh:3: unrecognized option '--tiem=1'/, 'sbatch', 'bad.sh'],
      [/^sbatch: error: The cluster can never hold/, 'sbatch', '-N', '9', 'job.sh'],
      [/^squeue: error: Invalid job id specified/, 'squeue', '-j', '99999'],
      [/^squeue: error: Invalid job id specified/, 'squeue', '-j', '1_'],
      [/^squeue: error: Invalid job format specification: !/, 'squeue', '-o', '%!'],
      [
        /^squeue: error: Invalid job format specification: %9{12}i/,
        'squeue',
        '-o',
        '%999999999999i',
      ],
      [/^squeue: error: Invalid field requested/, 'squeue', '-O', 'JobID:999999999999'],
      [/^squeue: error: Invalid job state specified: NOPE/, 'squeue', '-t', 'NOPE'],
      [/^squeue: error: Unrecognized option: more/, 'squeue', 'more'],
      [/^sinfo: error: Invalid job format specification: !/, 'sinfo', '-o', '%!'],
      [/^scontrol: error: No job 99999/, 'scontrol', 'hold', '99999'],
      [/^scontrol: error: No job 99999/, 'scontrol', 'update', 'jobid=99999', 'nice=1'],
      [/^scontrol: error: Reservation none not found/, 'scontrol', 'show', 'reservation', 'none'],
      [/^scontrol: error: Invalid hostlist/, 'scontrol', 'show', 'hostnames', 'n[5-1]'],
      [/^srun: error: The cluster can never hold/, 'srun', '-N', '9', 'true'],
      [/^srun: error: No job 99999/, 'srun', '--jobid=99999', 'true'],
      [/^srun: error: --mpi=openmpi is not honoured/, 'srun', '--mpi=openmpi', 'true'],
      [/^srun: error: Invalid --cpu-bind argument/, 'srun', '--cpu-bind=nope', 'true'],
      [/^scancel: error: Kill job error on job id 99999/, 'scancel', '-v', '99999'],
      [/^scancel: error: No job identification provided/, 'scancel'],
      [/^srun: error: Could not open multi_prog config file no/, 'srun', '--multi-prog', 'no'],
      [/^salloc: unrecognized option '--no-such'/, 'salloc', '--no-such'],
      [/^salloc: error: --deadline is not honoured/, 'salloc', '--deadline=now'],
    ];
    write('plain', 'echo hi\n');
    write('dos.sh', '#!/bin/sh\r\necho hi\r\n');
    write('job.sh', '#!/bin/sh\n');
    write('large.sh', `#!/bin/sh\n${'#'.repeat(10_000_000)}\n`);
    write('mark.sh', '\uFEFF#!/bin/sh\necho hi\n');
    write('one-dos.sh', '#!/bin/sh\n#SBATCH -N 1\r\necho hi\n');
    write('quote.sh', '#!/bin/sh\n#SBATCH -J "open\necho hi\n');
    write('bad.sh', '#!/bin/sh\n# one\n#SBATCH --tiem=1\n');
    for (const [words, ...argv] of wrong) {
      const { code, error } = await type(...argv);
      // As theirs: what starts jobs has a code of its own for words that it cannot read.
      const isForm = / specification|node count |[A-Za-z:3]: unrecognized/.test(words.source);
      const starts = /^(?:sbatch|srun|salloc)$/.test(argv[0] ?? '');
      assert.equal(code, starts && isForm ? 255 : 1, argv.join(' '));
      assert.match(error, words);
    }
    assert.equal(await cluster.jobCount(), before);
  });

  it('a program that was written for Slurm runs unchanged: Snakemake', async () => {
    const pinned = ['snakemake==9.27.1', 'snakemake-executor-plugin-slurm==2.8.0'];
    const { bin, reason } = setUpVenv('snakemake-venv', pinned);
    assert.ok(bin !== null, reason);
    const resources = '    resources: mem_mb=300, runtime=5\n';
    write(
      'Snakefile',
      'rule all:\n    input: "sum.txt"\n' +
        `rule part:\n    output: "part{n}.txt"\n${resources}    shell: "echo {wildcards.n} > {output}"\n` +
        'rule sum:\n    input: expand("part{n}.txt", n=range(2))\n    output: "sum.txt"\n' +
        `${resources}    shell: "cat {input} > {output}"\n`,
    );
    // It would ask for the first time after forty seconds, and then ever later.
    const options = ['--executor', 'slurm', '--jobs', '2'];
    options.push('--slurm-init-seconds-before-status-checks', '2');
    const where = ['--default-resources', 'slurm_partition=default'];
    await ok(join(bin, 'snakemake'), ...options, ...where);
    assert.equal(text('sum.txt'), '0\n1\n');
  });

  it('[X2] a program that was written for Slurm runs unchanged: submitit', async () => {
    const { bin, reason } = setUpVenv('submitit-venv', ['submitit==1.5.4']);
    assert.ok(bin !== null, reason);
    write('client.py', CLIENT);
    const lines = (await ok(join(bin, 'python'), 'client.py')).split('\n');
    assert.deepEqual(lines, ['slurm', '12', '[11, 22, 33]', 'FailedJobError', '42']);
  });

  it('a folder with commands of somebody else is left as it is', async () => {
    const folder = join(cluster.directory, 'theirs');
    mkdirSync(folder);
    writeFileSync(join(folder, 'sbatch'), '#!/bin/sh\n# theirs\n', { mode: 0o755 });
    const { error } = await cluster.refused('weft', 'front', 'slurm', folder);
    assert.match(error, /sbatch is there already, and is not of Weft/);
    assert.equal(readFileSync(join(folder, 'sbatch'), 'utf8'), '#!/bin/sh\n# theirs\n');
  });
});
