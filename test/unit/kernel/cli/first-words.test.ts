// What is said to somebody who types what seems right: the order of options, jobs that are over,
// numbers in the wrong place, folders with a slip in their names.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { runWeft } from '../../../../src/kernel/cli/main.ts';
import { translated } from '../../../../src/kernel/cli/submit/foreign-lines.ts';
import { capture, FakeHead } from './fake-head.ts';
import { doneJob, jobView } from './views.ts';

const ACCEPTS = {
  'POST /v1/jobs': () => ({ json: { jobId: 42, taskCount: 1, directory: '/work', again: false } }),
};

test('an option of ours behind a quoted line is refused, with the line as it is meant', async () => {
  await using head = await FakeHead.start(ACCEPTS);
  const late = await head.weft('run', 'python3 x.py --n 3', '--memory', '50M');
  const right = "weft run --memory 50M 'python3 x.py --n 3'";
  assert.deepEqual([late.code, late.error], [2, `weft: options go before the command: ${right}\n`]);
  assert.equal((await head.weft('run', 'python3 x.py', '--memory=50M', '-n', '2')).code, 2);
  assert.equal((await head.weft('run', 'python3', 'x.py', '--memory', '50M')).code, 0);
  assert.equal((await head.weft('run', 'My Program', '--own-option')).code, 0);
});

test('the help of run has its options in parts, and examples', async () => {
  const { out } = await capture(tmpdir(), { program: 'weft', argv: ['run', '--help'] }, runWeft);
  const parts = [...out.matchAll(/^\S.*:$/gm)].map(([title]) => title);
  assert.deepEqual(parts.slice(2), [
    ...['The job:', 'What it needs:', 'When it starts, and how it may end:', 'Many tasks:'],
    ...['Files, output, variables:', 'Which cluster:', 'Examples:'],
  ]);
  const alone = /The job:\n([\s\S]*?)\n\n/.exec(out)?.[1]?.match(/^ {2}-.*?(?= {2})/gm);
  assert.deepEqual(
    alone,
    ['  --name <name>', '  --comment <text>', '  --notify <whom>'],
    'each other has its part',
  );
});

test('a range of jobs that are over is told so, not that there is none', async () => {
  const jobs = [
    { ...doneJob('failed'), id: 2 },
    { ...doneJob('completed'), id: 1 },
  ];
  await using head = await FakeHead.start({
    'GET /v1/whoami': () => ({ json: { name: 'alice', role: 'user' } }),
    'GET /v1/jobs': ({ query }) => ({
      json: { jobs: query['state'] === 'all' ? jobs : [], next: null },
    }),
  });
  const over = await head.weft('kill', '1-3');
  const words = 'weft: Job 1-3 is already done (1 completed, 1 failed).\n';
  assert.deepEqual([over.code, over.error], [5, words]);
  const named = await head.weft('cancel', '--name', 'hello');
  const ended = 'weft: Job with --name hello is already done (1 completed, 1 failed).\n';
  assert.deepEqual([named.code, named.error], [5, ended]);
  const none = await head.weft('kill', '7-9');
  assert.deepEqual([none.code, /No job 7-9\./.test(none.error)], [3, true]);
});

test('a number behind jobs is that job, as `weft job` shows it', async () => {
  await using head = await FakeHead.start({ 'GET /v1/jobs/4': () => ({ json: jobView() }) });
  const { code, out, error } = await head.weft('jobs', '4', '-o', 'json');
  assert.equal(error, '');
  assert.deepEqual([code, JSON.parse(out).id], [0, 42]);
});

test('lines of Slurm are told as ours where they mean the same, and named where they do not', () => {
  const lines = ['-J md', '--time=10:00', '--mem=4000', '-c4', '--gres=gpu:a100:2', '--exclusive'];
  const script = (of: readonly string[]) =>
    `#!/bin/sh\n${of.map((line) => `#SBATCH ${line}\n`).join('')}./md\n`;
  const same = [
    '--name md',
    '--time 10m',
    '--memory 4000M',
    '--cpus 4',
    '--gpus a100:2',
    '--exclusive',
  ];
  assert.deepEqual(translated(script(lines), '#SBATCH'), { same, other: [] });
  const others = ['--ntasks=8', '--mail-type END', '--time=soon', '--nodes=1-4', '-J "a b'];
  assert.deepEqual(translated(script(others), '#SBATCH'), { same: [], other: others });
  const several = ['--nodes=2 --ntasks-per-node=4 --cpus-per-task=2', '-J x -t 10'];
  const all = ['--nodes 2', '--procs 4', '--cpus 8', '--name x', '--time 10m'];
  assert.deepEqual(translated(script(several), '#SBATCH'), { same: all, other: [] });
  const apart = translated(script(['--ntasks-per-node=4', '--cpus-per-task=2']), '#SBATCH');
  assert.deepEqual(apart?.same, ['--procs 4', '--cpus 8'], 'cpus are for a node here');
  const one = translated(script(['--ntasks=1', '--cpus-per-task=4']), '#SBATCH');
  assert.deepEqual(one, { same: ['--cpus 4'], other: [] }, 'one task is what a job has anyway');
  const bare = translated(script(['--ntasks-per-node=4']), '#SBATCH');
  assert.deepEqual(bare?.same, ['--procs 4', '--cpus 4'], 'and of theirs each task has one');
  const times = ['30', '1:30', '2:00:00', '1-12', '1-0:30'].map((time) => `-t ${time}`);
  const read = '--time 30m --time 1m30s --time 2h --time 1d12h --time 1d30m';
  assert.equal(translated(script(times), '#SBATCH')?.same.join(' '), read);
  const hq = '#HQ --cpus=4\n#HQ --time-limit 90\n#HQ --pin taskset\n';
  const ours = { same: ['--cpus 4', '--time 90s'], other: ['--pin taskset'] };
  assert.deepEqual(translated(hq, '#HQ'), ours);
});

test('submit refuses a script with lines that nobody reads, and says which it would take', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-script-'));
  try {
    const script = path.join(folder, 'run.sh');
    const lines = ['--cpus=4', '--time-limit=10m', '--pin=taskset'];
    const directives = lines.map((line) => `#HQ ${line}\n`).join('');
    writeFileSync(script, `#!/bin/sh\n${directives}./md\n`);
    await using head = await FakeHead.start(ACCEPTS);
    const { code, error } = await head.weft('submit', script);
    assert.deepEqual([code, head.work], [2, []]);
    assert.deepEqual(error.replaceAll(script, 'run.sh').split('\n'), [
      'weft: run.sh: its 3 #HQ lines are not read, and it has no #WEFT line',
      '  The same here:',
      '  #WEFT --cpus 4',
      '  #WEFT --time 10m',
      '  Without an equal: --pin=taskset',
      '  `weft submit --ignore-directives` runs it without options.',
      '',
    ]);
    assert.equal((await head.weft('submit', '--ignore-directives', script)).code, 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('head asks before it begins a cluster in a folder that is not there', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-typo-'));
  try {
    let started = 0;
    const programs = {
      runHead: () => {
        started += 1;
        return Promise.resolve();
      },
    };
    const asked: string[] = [];
    const typed = (answer: string | null, dir: string) =>
      capture(
        folder,
        { program: 'weft', argv: ['head', '--listen', 'none', '--dir', dir], programs },
        (it) => {
          const ask = async (question: string) => {
            asked.push(question);
            return answer as string;
          };
          return runWeft(answer === null ? it : { ...it, terminal: { ...it.terminal, ask } });
        },
      );
    const typo = path.join(folder, 'typo');
    assert.equal((await typed('', typo)).code, 1);
    assert.deepEqual([started, asked.length, asked[0]?.includes(typo)], [0, 1, true]);
    assert.equal((await typed('y', typo)).code, 0);
    const service = await typed(null, path.join(folder, 'new'));
    assert.match(service.error, /there is no cluster in .*new; a new one begins/);
    mkdirSync(path.join(folder, 'prepared'));
    assert.equal((await typed('n', path.join(folder, 'prepared'))).code, 0, 'nobody is asked');
    assert.deepEqual([started, asked.length], [3, 2]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('pilots are asked for in so many words: where nobody sits, a size must stand there', async () => {
  await using head = await FakeHead.start({});
  const { code, error } = await head.weft('pilot', 'start', 'slurm');
  assert.deepEqual([code, error], [2, 'weft: say how many pilots: -n COUNT, or --max COUNT\n']);
});

test('at a terminal pilots without a number are started by a yes, and by nothing else', async () => {
  const fleet = { name: 'f1', pilots: [], isOnce: true, min: 0, max: 32 };
  await using head = await FakeHead.start({ 'POST /v1/pilots': () => ({ json: fleet }) });
  const argv = ['pilot', 'start', 'slurm'];
  const answered = async (answer: string, ...more: string[]) => {
    let asked = '';
    const of = { program: 'weft', argv: [...argv, ...more] };
    const { code } = await capture(head.directory, of, (it) => {
      const ask = (question: string) => {
        asked = question;
        return Promise.resolve(answer);
      };
      return runWeft({ ...it, terminal: { ...it.terminal, ask } });
    });
    return { code, asked };
  };
  const question = 'start 32 pilots? [y/N] ';
  for (const no of ['', 'n', 'sure', 'yesterday']) {
    assert.deepEqual(await answered(no), { code: 1, asked: question }, no);
  }
  assert.deepEqual(head.work, []);
  assert.deepEqual(await answered('Yes'), { code: 0, asked: question });
  assert.deepEqual(
    head.work.map(({ body }) => (body as { max: number }).max),
    [32],
  );
  assert.deepEqual(await answered('n', '-n', '2'), { code: 0, asked: '' });
});

test('doctor sends nobody on a machine that has joined to start a cluster there', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-doctor-'));
  try {
    const member = { name: 'lab9', url: 'https://head:5001', clusterName: 'lab', secret: 's' };
    writeFileSync(path.join(folder, 'membership.json'), JSON.stringify(member));
    const argv = ['doctor', '--dir', folder];
    const { out } = await capture(folder, { program: 'weft', argv, cwd: folder }, runWeft);
    assert.match(
      out,
      /note +head +this machine is node lab9 of lab, whose head is at https:\/\/head:5001\n.*`weft node show lab9`/,
    );
    assert.doesNotMatch(out, /Start a cluster here/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('doctor says that a name in the configuration is not that with which a machine joined', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-doctor-'));
  const said = async (name: string): Promise<string> => {
    writeFileSync(path.join(folder, 'weft.yaml'), `node:\n  name: ${name}\n`);
    const argv = ['doctor', '--dir', folder];
    return (await capture(folder, { program: 'weft', argv, cwd: folder }, runWeft)).out;
  };
  try {
    const member = { name: 'lab9', url: 'https://head:5001', clusterName: 'lab', secret: 's' };
    writeFileSync(path.join(folder, 'membership.json'), JSON.stringify(member));
    assert.match(
      await said('lab10'),
      /note .*node\.name is lab10, but this machine joined as lab9 and stays that until it joins anew\n.*`weft join --again` here/,
    );
    assert.doesNotMatch(await said('lab9'), /joined as/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('doctor shows the settings in force that are not the defaults, and where they stand', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-doctor-'));
  try {
    writeFileSync(path.join(folder, 'weft.yaml'), 'head:\n  node_timeout: 20s\n');
    const argv = ['doctor', '--dir', folder];
    const { out } = await capture(folder, { program: 'weft', argv, cwd: folder }, runWeft);
    assert.match(out, /in force beside the defaults: .*head\.node_timeout 20s \(.*weft\.yaml:2\)/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
