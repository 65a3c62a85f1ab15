// Steps inside of running tasks: by the programs alone, with daemons that are killed meanwhile.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { JobDetail } from '../../src/kernel/api/jobs.ts';
import { TypedTerminal } from '../support/typed-terminal.ts';
import { isOver } from '../support/when-killed.ts';
import { until } from './support/hosts.ts';
import { LocalCluster, repository } from './support/local-cluster.ts';

const UP = ['--nodes', '2', '--listen', 'none'];
const WEFT = `${process.execPath} ${join(repository, 'bin', 'weft.mjs')}`;

describe('steps inside of tasks', { timeout: 900_000 }, () => {
  let cluster: LocalCluster;
  /** A job on two nodes, until the end of this file. */
  let job = '';
  before(async () => {
    cluster = await LocalCluster.startApart(...UP);
    job = await cluster.ok('run', '--nodes', '2', '--', 'sleep 3600');
  });
  after(() => cluster.close());

  const exec = (...words: string[]) => cluster.weft('exec', ...words);
  const stepsOf = async (id: string) => {
    return (await cluster.client.call<JobDetail>('GET', `/v1/jobs/${id}`)).steps ?? [];
  };
  const killed = (daemon: string) => cluster.kill(daemon);
  const appears = (name: string) => until(`${name} is written`, () => cluster.lines(name)[0]);
  const isAlive = (pid: number): boolean => !isOver(pid);

  it('[Z1] a step has what its task has, and its exit code is its program’s', async () => {
    const line =
      'echo "$WEFT_JOB_ID $WEFT_NODE_RANK $WEFT_STEP_ID $WEFT_CPUS"; pwd; echo no >&2; exit 3';
    const said = await exec(`${job}/n2`, '--', 'sh', '-c', line);
    assert.deepEqual(said, {
      code: 3,
      out: `${job} 1 ${job}.0 1\n${cluster.work}\n`,
      error: 'no\n',
    });
    const input = await cluster.run('weft', ['exec', job, '--', 'cat'], { input: 'from here' });
    assert.deepEqual(input, { code: 0, out: 'from here', error: '' });
    const none = await exec(job, '--', 'no-such-program');
    assert.equal(none.code, 127);
    assert.match(none.error, /no-such-program cannot be started: there is no such program/);
    const many = await cluster.refused('weft', 'exec', '-n', '300', job, '--', 'true');
    assert.match(many.error, /-n: '300' is not a count from 1 to 256/);
  });

  it('[Z1] a step is in the group of its task, and under its limits', async () => {
    const own = await cluster.ok('run', '-f', '--', 'cat /proc/self/cgroup');
    const inside = await exec(job, '--', 'cat', '/proc/self/cgroup');
    const weft = /weft-[^/]+\/g\d+/;
    assert.equal(weft.test(inside.out), weft.test(own));
  });

  it('[Z1] several processes run on the nodes, and the highest exit code counts', async () => {
    const line =
      'echo "$WEFT_STEP_RANK of $WEFT_STEP_COUNT on $WEFT_NODE_RANK"; exit "$WEFT_STEP_RANK"';
    const said = await exec(job, '--per-node', '-n', '2', '-l', '--', 'sh', '-c', line);
    const lines = said.out.trim().split('\n').sort();
    assert.equal(said.code, 3, said.error);
    assert.deepEqual(lines, [
      '0: 0 of 4 on 0',
      '1: 1 of 4 on 0',
      '2: 2 of 4 on 1',
      '3: 3 of 4 on 1',
    ]);
  });

  it('[Z12] processes are bound to cpus of the task, or refused', async () => {
    const line = 'echo $WEFT_CPUSET; grep -o "Cpus_allowed_list:.*" /proc/self/status';
    const said = await exec(job, '--per-node', '-l', '--bind', 'core', '--', 'sh', '-c', line);
    assert.equal(said.code, 0, said.error);
    const lines = said.out.trim().split('\n');
    const cpus = ['0: ', '1: '].map((label) => {
      const own = lines.filter((one) => one.startsWith(label)).map((one) => one.slice(3));
      assert.equal(own[1], `Cpus_allowed_list:\t${own[0]}`);
      return own[0];
    });
    assert.deepEqual((await stepsOf(job)).at(-1)?.cpus, cpus);
    const other = await cluster.ok('run', '--', 'sleep 3600');
    const [, rank] =
      (await exec(other, '--', 'sh', '-c', 'echo $WEFT_NODELIST')).out.match(/^n(\d)$/m) ?? [];
    const own = await exec(other, '--bind', 'core', '--', 'sh', '-c', 'echo $WEFT_CPUSET');
    assert.notEqual(own.out.trim(), cpus[Number(rank) - 1]);
    await cluster.ok('cancel', other);
    assert.match(await cluster.ok('job', job), /BOUND TO/);
    const bound = ['--bind', 'core', '--', 'true'];
    const many = await cluster.refused('weft', 'exec', `${job}/n1`, '-n', '2', ...bound);
    assert.match(many.error, /2 processes cannot be bound to a cpu each: the task has 1 cpu there/);
    const wrong = await cluster.refused('weft', 'exec', job, '--bind', 'socket', '--', 'true');
    assert.match(wrong.error, /--bind: 'socket' is not core, numa or none/);
  });

  it('inside of a job the job may be left out', async () => {
    const line = `WEFT_DIR=${cluster.state} ${WEFT} exec -- sh -c 'echo in $WEFT_STEP_ID'`;
    const said = await cluster.ok('run', '-f', '--', line);
    assert.match(said, /^in \d+\.0$/);
  });

  it('weft job lists steps with their ends', async () => {
    const lines = (await cluster.ok('job', job)).split('\n');
    const first = lines.find((line) => line.startsWith(`${job}.0 `)) ?? '';
    assert.match(first, /exit 3 .*n2 +sh -c/);
    const [step] = await stepsOf(job);
    assert.deepEqual([step?.state, step?.exit, step?.nodes], ['ended', { code: 3 }, ['n2']]);
  });

  it('what cannot be is refused with the way out', async () => {
    const far = await cluster.refused('weft', 'exec', `${job}/n9`, '--', 'true');
    assert.match(far.error, /'n9' is not a node of this task; it has n1, n2/);
    const held = await cluster.ok('run', '--hold', '--', 'true');
    const waits = await cluster.refused('weft', 'exec', held, '--', 'true');
    assert.match(waits.error, /a step needs a task that runs/);
    await cluster.ok('cancel', held);
    const unknown = await cluster.refused('weft', 'exec', '999', '--', 'true');
    assert.equal(unknown.code, 3);
    await cluster.refused('weft', 'exec', job);
    await cluster.refused('weft', 'exec', 'true');
    await cluster.refused('weft', 'shell', job);
    await cluster.refused('weft', 'exec', job, '-n', '0', '--', 'true');
    await cluster.refused('weft', 'exec', job, '--pty', '-n', '2', '--', 'true');
  });

  it('[Z4] much output comes whole, and Ctrl-C goes to the step', async () => {
    const much = await exec(job, '--', 'head', '-c', '20000000', '/dev/zero');
    assert.deepEqual([much.code, much.out.length], [0, 20_000_000]);
    const line = `exec ${WEFT} exec ${job} -- sh -c 'trap "echo heard; exit 9" INT; echo up > up; while :; do sleep 0.1; done'`;
    const terminal = new TypedTerminal(line, {
      env: cluster.env,
      cwd: cluster.work,
      size: { columns: 80, rows: 24 },
    });
    await appears('up');
    terminal.type('\u0003');
    await terminal.shows(/heard/);
    assert.equal(await terminal.ended(), 9);
  });

  it('[Z6] a terminal: its size, job control by keys, and the way out', async () => {
    const size = { columns: 101, rows: 33 };
    const shell = new TypedTerminal(`${WEFT} exec ${job} --pty -- env PS1='ready$ ' sh -i`, {
      env: cluster.env,
      cwd: cluster.work,
      size,
    });
    await shell.shows(/ready\$/);
    shell.type('stty size; tty\r');
    await shell.shows(/33 101\s+\/dev\/pts\/\d+\s+ready\$\s*$/);
    shell.type('cat\r');
    // Keys are for whoever has the terminal: what it says twice has come to the program.
    shell.type('once\r');
    await shell.shows(/once[\s\S]*once/);
    shell.type('\u001a');
    await shell.shows(/Stopped.*\s+ready\$\s*$/);
    shell.type('fg\r');
    await shell.shows(/\$ fg\s+cat/);
    shell.type('again\r');
    await shell.shows(/again[\s\S]*again/);
    shell.type('\u0003');
    await shell.shows(/\^C\s*ready\$\s*$/);
    shell.type('echo gone=$((1+1))\r');
    await shell.shows(/gone=2/);
    shell.type('exit 7\r');
    assert.equal(await shell.ended(), 7);
    const left = new TypedTerminal(
      `${WEFT} exec ${job} --pty -- sh -c 'echo $$ > left; sleep 600'`,
      {
        env: cluster.env,
        cwd: cluster.work,
        size,
      },
    );
    const pid = Number(await appears('left'));
    left.type('\r~.');
    await left.shows(/detached/);
    assert.equal(await left.ended(), 129);
    await until('it is hung up', () => (isAlive(pid) ? undefined : true));
  });

  it('[Z6] a terminal without a size', async () => {
    const none = new TypedTerminal(`${WEFT} exec ${job} --pty -- stty size`, {
      env: cluster.env,
      cwd: cluster.work,
      size: { columns: 0, rows: 0 },
    });
    assert.equal(await none.ended(), 0);
    assert.match(none.said, /0 0/);
  });

  it('[Z5] the 65th step at once is refused', async () => {
    const own = await cluster.ok('run', '--', 'sleep 3600');
    await until('it runs', async () =>
      (await cluster.job(own)).state === 'running' ? true : undefined,
    );
    const start = () =>
      cluster.client.call('POST', `/v1/jobs/${own}/steps`, { argv: ['sleep', '3600'] });
    for (let at = 0; at < 64; at += 1) await start();
    const refused = await cluster.refused('weft', 'exec', own, '--', 'true');
    assert.match(refused.error, /has 64 steps, which is as many as it may have at once/);
    await until('all run', async () => {
      const steps = await stepsOf(own);
      return steps.length === 64 && steps.every(({ state }) => state === 'running')
        ? true
        : undefined;
    });
    await cluster.ok('cancel', own);
    await cluster.weft('wait', own);
    const over = await stepsOf(own);
    assert.ok(over.every(({ state }) => state === 'ended'));
  });

  it('[Z3] a step ends with its task, and the task does not with it', async () => {
    const own = await cluster.ok('run', '--', 'until [ -e end ]; do sleep 0.05; done');
    const deaf = `trap '' TERM HUP INT; echo $$ > deaf; while :; do sleep 1; done`;
    const step = exec(own, '--', 'sh', '-c', deaf);
    const pid = Number(await appears('deaf'));
    const failed = await exec(own, '--', 'false');
    assert.equal(failed.code, 1);
    assert.equal((await cluster.job(own)).state, 'running');
    writeFileSync(join(cluster.work, 'end'), '');
    assert.equal((await cluster.weft('wait', own)).code, 0);
    assert.equal(isAlive(pid), false, 'the step has outlived its task');
    const said = await step;
    assert.equal(said.code, 125);
    assert.match(said.error, /its task has ended/);
  });

  it('weft attach shows what a job writes, and ends with its code', async () => {
    const own = await cluster.ok(
      'run',
      '--',
      'echo begun; until [ -e attached ]; do sleep 0.05; done; exit 6',
    );
    const attached = cluster.run('weft', ['attach', own], {
      onOutput: () => writeFileSync(join(cluster.work, 'attached'), ''),
    });
    const { code, out } = await attached;
    assert.deepEqual([code, out], [6, 'begun\n']);
  });

  /** Brings input to a job, as a pipe that says one thing and goes on for as long as it is let. */
  const bring = (id: string, line: string) => {
    const words = [join(repository, 'bin', 'weft.mjs'), 'attach', '--stdin', id];
    const child = spawn(process.execPath, words, { cwd: cluster.work, env: cluster.env });
    let error = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      error += text;
    });
    child.stdin.write(line);
    const over = new Promise<number>((resolve) =>
      child.once('close', (code) => resolve(code ?? 1)),
    );
    return { child, over, said: () => error };
  };
  const GETS = 'while read x; do echo "$x" >> NAME; done; echo over >> NAME';

  it('[Z15] input is brought to a job that waits for it, by one at a time', async () => {
    const own = await cluster.ok(
      'run',
      '--stdin',
      'attach',
      '--',
      GETS.replaceAll('NAME', 'brought'),
    );
    const first = bring(own, 'one\n');
    assert.equal(await appears('brought'), 'one');
    const second = bring(own, 'not taken\n');
    const busy = /job \d+: somebody else is bringing its input; nothing of yours is taken/;
    await until('the second is told', () => busy.test(second.said()) || undefined);
    first.child.stdin.end('two\n');
    assert.deepEqual(await Promise.all([first.over, second.over]), [0, 1], first.said());
    assert.deepEqual(cluster.lines('brought'), ['one', 'two', 'over']);
    assert.equal(first.said(), '');
    const late = await cluster.run('weft', ['attach', '--stdin', own], { input: 'late' });
    assert.deepEqual([late.code, /it has ended before your input had/.test(late.error)], [1, true]);
    const array = await cluster.ok('run', '--stdin', 'attach', '--array', '0-1', '--', 'sort');
    const other = await cluster.run('weft', ['attach', '--stdin', array], { input: 'a' });
    assert.match(other.error, /is an array; name one of its tasks, as \d+\[0\]/);
    for (const index of [0, 1]) {
      const named = ['attach', '--stdin', `${array}[${index}]`];
      const said = await cluster.run('weft', named, { input: 'b\na\n' });
      assert.deepEqual(said, { code: 0, out: 'a\nb\n', error: '' });
    }
    const none = await cluster.run('weft', ['attach', '--stdin', job], { input: 'a' });
    assert.equal(none.code, 2);
    assert.match(none.error, /takes no input from here\n.*weft run --stdin attach/);
  });

  it('[Z15] whoever brings input is told that all was taken by a task that ends with it', async () => {
    // What brings it has all, and says so when the task has had the time to end before that.
    const line = `read first
      for pid in $(pgrep -f 'fl[o]ck -n 3'); do
        grep -qaF "$WEFT_STDIN" /proc/$pid/environ && sh=$pid
      done
      cat=$(pgrep -P $sh)
      helper=$(ps -o ppid= -p $sh | tr -d ' '); kill -STOP $sh $cat
      files() { ls /proc/$helper/fd | wc -l; }; all=$(files); echo ready > slow
      until [ $(files) -lt $all ]; do sleep 0.1; done
      kill -STOP $helper; kill -CONT $cat $sh
      setsid sh -c "until [ ! -e $WEFT_STDIN.end ]; do sleep 0.1; done; sleep 0.5
        kill -CONT $helper" > /dev/null 2>&1 &
      cat >> slow`;
    const own = await cluster.ok('run', '--stdin', 'attach', '--', line);
    const first = bring(own, 'one\n');
    assert.equal(await appears('slow'), 'ready');
    first.child.stdin.end('two\n');
    assert.deepEqual([await first.over, first.said()], [0, '']);
    assert.deepEqual(cluster.lines('slow'), ['ready', 'two']);
  });

  it('[Z15] a task that is started again takes its input anew, and whoever brought it is told', async () => {
    const line =
      'cat >> again; echo $WEFT_EPOCH >> starts; until [ -e enough ]; do sleep 0.1; done';
    const own = await cluster.ok('run', '--stdin', 'attach', '--', line);
    const first = bring(own, 'one\n');
    first.child.stdin.end();
    assert.equal(await appears('starts'), '1');
    await cluster.ok('requeue', own);
    const isTold = () => /was started again.*bring all of it once more/.test(first.said());
    await until('that is told', () => isTold() || undefined);
    bring(own, 'two\n').child.stdin.end();
    await until('the second start has it', () => cluster.lines('starts')[1]);
    writeFileSync(join(cluster.work, 'enough'), '');
    assert.equal(await first.over, 1, 'what it brought was not all that the job needed');
    assert.deepEqual(cluster.lines('again'), ['one', 'two']);
  });

  it('[Z15] a terminal that is closed leaves the input of a job open', async () => {
    const own = await cluster.ok('run', '--stdin', 'attach', '--', GETS.replaceAll('NAME', 'hung'));
    const setting = { env: cluster.env, cwd: cluster.work, size: { columns: 80, rows: 24 } };
    const terminal = new TypedTerminal(`${WEFT} attach --stdin ${own}`, setting);
    terminal.type('one\n');
    assert.equal(await appears('hung'), 'one');
    terminal.kill();
    await until('its step is over', async () => {
      const steps = await stepsOf(own);
      return steps.every(({ state }) => state === 'ended') || undefined;
    });
    bring(own, 'two\n').child.stdin.end();
    assert.equal((await cluster.weft('wait', own)).code, 0);
    assert.deepEqual(cluster.lines('hung'), ['one', 'two', 'over']);
    // WEFT_INPUT is a folder, in jobs of batches.
    const line = 'cat > typed; test -n "$WEFT_STDIN" -a -z "$WEFT_INPUT"';
    const typed = await cluster.ok('run', '--stdin', 'attach', '--', line);
    const other = new TypedTerminal(`${WEFT} attach --stdin ${typed}`, setting);
    other.type('all\n\u0004');
    assert.equal(await other.ended(), 0, 'the end that is typed is that of the input');
    assert.deepEqual(cluster.lines('typed'), ['all']);
  });

  it('[Z16] what a step writes is looked at beside whoever started it, to its end', async () => {
    const line = 'until [ -e looked ]; do echo tick; sleep 0.1; done; echo last; exit 5';
    const step = exec(job, '--', 'sh', '-c', `echo $$ > looking; ${line}`);
    await appears('looking');
    const { id = '' } = (await stepsOf(job)).at(-1) ?? {};
    const leaves = bring(id, '');
    const onOutput = () => writeFileSync(join(cluster.work, 'looked'), '');
    const seen = await cluster.run('weft', ['attach', '-l', id], { onOutput });
    assert.deepEqual([seen.code, seen.error], [5, '']);
    assert.match(seen.out, /^(?:0: tick\n)+0: last\n$/);
    const own = await step;
    assert.equal(own.code, 5);
    assert.match(own.out, /^(?:tick\n)+last\n$/);
    assert.equal(await leaves.over, 2, 'input is that of whoever started it');
    const late = await cluster.refused('weft', 'attach', id);
    assert.match(late.error, /has ended: what it wrote went to whoever started it/);
    const none = await cluster.refused('weft', 'attach', `${job}.9999`);
    assert.match(none.error, /there is no step \d+\.9999/);
  });

  it('[Z8] weft alloc holds nodes while its command runs, which may start steps on them', async () => {
    const line = `echo $WEFT_NODE_COUNT $WEFT_NODELIST; ${WEFT} exec --per-node -- sh -c 'echo at $WEFT_NODE_RANK'; exit 3`;
    const said = await cluster.weft('alloc', '--nodes', '2', '--', 'sh', '-c', line);
    assert.equal(said.code, 3, said.error);
    const [held, ...steps] = said.out.trim().split('\n');
    assert.deepEqual([held, steps.sort()], ['2 n1,n2', ['at 0', 'at 1']]);
    const id = /job (\d+) holds n1, n2/.exec(said.error)?.[1] ?? '';
    assert.equal((await cluster.job(id)).outcome?.kind, 'failed');
    const good = await cluster.weft('alloc', '--', 'true');
    assert.equal(good.code, 0);
    const last = /job (\d+) holds/.exec(good.error)?.[1] ?? '';
    assert.equal((await cluster.job(last)).outcome?.kind, 'completed');
  });

  it('[Z8] its command is hung up when the job ends first', async () => {
    const said = cluster.weft(
      'alloc',
      '--',
      'sh',
      '-c',
      'echo $WEFT_JOB_ID > held; exec sleep 600',
    );
    const id = await appears('held');
    await cluster.ok('cancel', id);
    const { code, error } = await said;
    assert.equal(code, 129);
    assert.match(error, /has ended; its command here is hung up/);
  });

  it('[Z8] nodes are let go when weft alloc was killed', async () => {
    const child = spawn(
      process.execPath,
      [
        join(repository, 'bin', 'weft.mjs'),
        'alloc',
        '--',
        'sh',
        '-c',
        'echo $WEFT_JOB_ID $$ > hard; exec sleep 600',
      ],
      { cwd: cluster.work, env: cluster.env, stdio: 'ignore' },
    );
    const [id = '', pid = ''] = (await appears('hard')).split(' ');
    child.kill('SIGKILL');
    await until('its command is hung up', () => !existsSync(`/proc/${pid}`) || undefined);
    assert.equal((await cluster.job(id)).state, 'running');
    // A line may come again for a minute.
    const outcome = await until('it has ended', async () => {
      const { state, outcome: found } = await cluster.job(id);
      return state === 'done' ? (found ?? undefined) : undefined;
    });
    assert.deepEqual([outcome.kind, outcome.exit], ['failed', { code: 129 }]);
    assert.match(
      await cluster.ok('logs', id, '--stderr'),
      /let go: the command that held them is gone/,
    );
  });

  it('[Z6] weft run --pty is a command on a node at this terminal', async () => {
    const own = new TypedTerminal(`${WEFT} run --pty -- sh -c 'tty; read x; echo got $x; exit 5'`, {
      env: cluster.env,
      cwd: cluster.work,
      size: { columns: 80, rows: 24 },
    });
    await own.shows(/\/dev\/pts/);
    own.type('this\r');
    await own.shows(/got this/);
    assert.equal(await own.ended(), 5);
    const array = await cluster.refused('weft', 'run', '--pty', '--array', '0-1', 'true');
    assert.match(array.error, /--pty gives one task a terminal/);
  });

  it('[Z4] a step lives through a kill of the head, and nothing of its output is lost', async () => {
    const line = 'for i in $(seq 1 200); do echo line $i; sleep 0.02; done; cat';
    const step = cluster.run('weft', ['exec', job, '--', 'sh', '-c', `echo up > lines; ${line}`], {
      input: 'and the input',
    });
    await appears('lines');
    await killed('head');
    await cluster.up(...UP);
    const { code, out } = await step;
    assert.equal(code, 0);
    const wanted = Array.from({ length: 200 }, (_, at) => `line ${at + 1}\n`).join('');
    assert.equal(out, `${wanted}and the input`);
    const steps = await stepsOf(job);
    assert.equal(steps.at(-1)?.state, 'ended');
  });

  it('[Z9] [Z10] a step is ended or signalled alone, and is in the history of its job', async () => {
    const own = await cluster.ok('run', '--', 'sleep 3600');
    const trap = 'trap "exit 7" USR1; echo up > trap; while :; do sleep 0.1; done';
    const first = exec(own, '--', 'sh', '-c', trap);
    await appears('trap');
    const sent = await cluster.ok('kill', '-s', 'USR1', `${own}.0`);
    assert.equal(sent, `Step ${own}.0: USR1 sent to 1 process.`);
    assert.equal((await first).code, 7);
    const second = exec(own, '--', 'sh', '-c', 'echo up > sleeps; exec sleep 600');
    await appears('sleeps');
    await cluster.ok('cancel', `${own}.1`);
    assert.equal((await second).code, 129);
    const over = await cluster.refused('weft', 'kill', `${own}.1`);
    assert.match(over.error, /Step \d+\.1 is over: signal 1\./);
    await cluster.ok('cancel', own);
    await cluster.weft('wait', own);
    await killed('head');
    await cluster.up(...UP);
    const steps = await stepsOf(own);
    const exits = steps.map(({ exit }) => exit);
    assert.deepEqual(exits, [{ code: 7 }, { signal: 1 }]);
    assert.ok((steps[0]?.used?.memoryPeakBytes ?? 0) > 0);
  });

  it('[Z11] processes of MPI end together, and who speaks no PMI is told so', async () => {
    const begin = 'echo "cmd=init pmi_version=1 pmi_subversion=1" >&$PMI_FD; read -u $PMI_FD said';
    const ranks = (line: string) => exec(job, '-n', '2', '--pmi', '--', 'bash', '-c', line);
    const gone = await ranks(`${begin}; [ $PMI_RANK = 0 ] || exit 5; exec sleep 600`);
    assert.equal(gone.code, 5, gone.error);
    assert.match(gone.error, /process 1 ended before it was done; the others are ended/);
    const line = 'echo "cmd=abort exitcode=9" >&$PMI_FD';
    const abort = await ranks(`${begin}; [ $PMI_RANK = 0 ] && ${line}; exec sleep 600`);
    assert.equal(abort.code, 9, abort.error);
    assert.match(abort.error, /process 0 asked for the end of all/);
    const none = await ranks('exit 3');
    assert.equal(none.code, 3);
    assert.match(none.error, /none of its processes spoke PMI/);
    await cluster.refused('weft', 'exec', job, '--pmi', '--pty', '--', 'true');
  });

  it('[Z7] a step ends with the agent of its node, and the task goes on', async () => {
    const step = exec(job, '--', 'sh', '-c', 'echo $$ > agents; sleep 600');
    const pid = Number(await appears('agents'));
    const fed = await cluster.ok('run', '--stdin', 'attach', '--', GETS.replaceAll('NAME', 'fed'));
    const first = bring(fed, 'early\n');
    await appears('fed');
    await killed('n1');
    await cluster.up(...UP);
    await until('it is told', () => /sent last may be lost/.test(first.said()) || undefined);
    bring(fed, 'late\n').child.stdin.end();
    assert.equal(await first.over, 1);
    assert.deepEqual(cluster.lines('fed'), ['early', 'late', 'over'], '[Z15]');
    await until('the step is ended', () => (isAlive(pid) ? undefined : true));
    const over = await until('that is told', async () => {
      const last = (await stepsOf(job)).at(-1);
      return last?.state === 'ended' ? last : undefined;
    });
    assert.match(over.why ?? '', /the agent of its node was started anew/);
    assert.equal((await cluster.job(job)).state, 'running');
    const again = await exec(job, '--', 'echo', 'again');
    assert.equal(again.out, 'again\n');
    const left = readdirSync(join(cluster.state, 'nodes', 'n1', 'steps'));
    assert.ok(left.length <= 4, `pipes of an earlier agent are left: ${left}`);
    const said = await step;
    assert.equal(said.code, 125);
    assert.match(
      said.error,
      /: Step \S+ is over without an exit code: the agent of its node was started anew/,
    );
    assert.doesNotMatch(said.error, /line is lost:/);
  });
});
