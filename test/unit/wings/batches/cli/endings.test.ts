// `weft batch run --local`: failures, limits, runs that are cut off, and going on with them.

import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { takeLock } from '../../../../../src/kernel/connect/lock-file.ts';
import { folderOf, markOf } from '../../../../../src/kernel/connect/process-file.ts';
import { Failure } from '../../../../../src/kernel/model/failure.ts';
import { Stage } from '../../../../../src/wings/batches/batch/files/stage.ts';
import { readBatch } from '../../../../../src/wings/batches/batch/read/read-batch.ts';
import { makeFolder } from '../../../../support/folder.ts';
import { assertRefused, manifestOf, runLocally, runWith, textOf, treeOf } from './local-runs.ts';

const root = path.resolve(import.meta.dirname, '../../../../..');
const NO_ROOT = process.getuid?.() === 0 ? false : 'mounting a small disk needs root';

test('each way to end is told, archived and marked', async (context) => {
  const cwd = makeFolder(context, {
    'b.yaml': `namespace: lab
name: ends
jobs:
  - {name: good, run: good.sh}
  - {name: code, run: job.sh, args: [exit 3]}
  - {name: signal, run: job.sh, args: [kill -SEGV $$]}
  - {name: slow, run: job.sh, args: [sleep 600 & sleep 600], time: 300ms, retries: 1}
  - {name: none, run: none.sh, retries: 1}
  - {name: again, run: again.sh, retries: 2}
  - {name: never, run: job.sh, args: [exit 4], retries: 1}
`,
    'good.sh': '#!/bin/sh\necho fine > distribute_save/result\n',
    'job.sh': '#!/bin/sh\necho part > distribute_save/part\necho said >&2\neval "$1"\n',
    'none.sh': '#!/nowhere/interpreter\n',
    'again.sh': '#!/bin/sh\necho x >> "$TRIES"; [ "$(wc -l < "$TRIES")" -ge 2 ]\n',
  });
  const { code, out } = await runWith(cwd, { TRIES: path.join(cwd, 'tries') }, 'b.yaml');
  assert.equal(code, 1);
  assert.match(out, /\] good completed after /);
  assert.match(
    out,
    /\] code failed with exit code 3 after .*\n {2}see archive\/lab\/ends\/code\/_weft\/stderr\n/,
  );
  assert.match(out, /\] signal failed with SIGSEGV after /);
  assert.match(out, /\] slow ran into its time limit after /);
  assert.match(out, /\] none could not start: \.\/none\.sh cannot be started: no such file or dir/);
  assert.match(out, /\] again completed at start 2 after /);
  assert.match(out, /\] never failed at start 2 with exit code 4 after /);
  assert.match(
    out,
    /^2 of 7 jobs completed; results: archive\/lab\/ends\n`--resume` runs the others again\.$/m,
  );
  const folder = path.join(cwd, 'archive/lab/ends');
  const ends = ['good', 'code', 'signal', 'slow', 'none', 'again', 'never'].map((job) => {
    const { outcome, exitCode, signal, epoch } = manifestOf(path.join(folder, job));
    return [job, outcome, exitCode, signal, epoch];
  });
  assert.deepEqual(ends, [
    ['good', 'completed', 0, null, 1],
    ['code', 'failed', 3, null, 1],
    ['signal', 'failed', null, 'SIGSEGV', 1],
    ['slow', 'timeout', null, 'SIGTERM', 1],
    ['none', 'launch_failed', null, null, 1],
    ['again', 'completed', 0, null, 2],
    ['never', 'failed', 4, null, 2],
  ]);
  assert.equal(textOf(folder, 'code/part'), 'part\n', 'what a failed job has made is kept');
  assert.equal(textOf(folder, 'slow/_weft/stderr'), 'said\n');
});

const COUNTED = {
  'b.yaml': `namespace: lab
name: counted
files: [conf]
jobs: [{name: a, run: job.sh, args: [a]}, {name: b, run: job.sh, args: [b]}]
`,
  'job.sh': `#!/bin/sh
echo "$1" >> "$STARTS"; cp input/conf distribute_save/; [ ! -e "$STARTS.$1" ]
`,
  conf: 'one',
};

test('a second run is refused, resumed without what completed, or put beside it', async (context) => {
  const cwd = makeFolder(context, COUNTED);
  const STARTS = path.join(cwd, 'starts');
  const run = (...argv: string[]) => runWith(cwd, { STARTS }, 'b.yaml', ...argv);
  const starts = () => textOf(STARTS).trimEnd().split('\n').join('');
  writeFileSync(`${STARTS}.b`, '');
  assert.equal((await run('--at-once', '1')).code, 1);
  const refused = await run();
  assertRefused(refused, 'batch.exists');
  assert.match(
    refused.error,
    /lab\/counted is in .*archive\/lab\/counted already: 1 of 2 jobs comp/,
  );
  assert.match(refused.error, /--resume runs only what did not complete; --new-version begins/);
  assert.equal(starts(), 'ab');
  rmSync(`${STARTS}.b`);
  const resumed = await run('--resume');
  assert.equal(resumed.code, 0, resumed.error);
  assert.match(resumed.out, /^lab\/counted: 1 job to run, 1 completed before$/m);
  assert.match(resumed.out, /^2 of 2 jobs completed/m);
  assert.equal(starts(), 'abb');
  assert.equal((await run('--resume')).code, 0);
  assert.equal(starts(), 'abb', 'nothing is left to run');
  const both = await run('--resume', '--new-version');
  assert.equal(both.code, 2);
  writeFileSync(path.join(cwd, 'conf'), 'two');
  const changed = await run('--resume');
  assertRefused(changed, 'batch.changed');
  assert.match(changed.error, /lab\/counted has changed since a, b completed\./);
  assert.equal((await run('--new-version', '--at-once', '1')).code, 0);
  assert.equal(textOf(cwd, 'archive/lab/counted/a/conf'), 'one');
  assert.equal(textOf(cwd, 'archive/lab/counted@2/a/conf'), 'two');
  assert.equal(manifestOf(path.join(cwd, 'archive/lab/counted@2/a')).batch, 'counted@2');
  assert.equal((await run('--resume')).code, 0, 'the newest version is the one that is resumed');
  assert.equal(starts(), 'abbab');
});

test('a result that was cut off, or whose manifest somebody changed, is run again', async (context) => {
  const cwd = makeFolder(context, COUNTED);
  const STARTS = path.join(cwd, 'starts');
  const run = (...argv: string[]) => runWith(cwd, { STARTS }, 'b.yaml', ...argv);
  const of = (...names: string[]) => path.join(cwd, 'archive/lab/counted', ...names);
  assert.equal((await run()).code, 0);
  truncateSync(of('a/conf'), 1);
  writeFileSync(
    of('b/_weft/manifest.json'),
    textOf(of('b/_weft/manifest.json')).replace('"conf"', '"../x"'),
  );
  const first = await run('--resume');
  assert.equal(first.code, 0, first.error);
  assert.match(first.error, /a is run again: its conf has 1 bytes, not 3/);
  assert.match(first.error, /b is run again: of its manifest, an entry cannot be right/);
  for (const [break_, said] of [
    [() => writeFileSync(of('a/_weft/manifest.json'), '{"version": 1'), /it is not whole/],
    [() => rmSync(of('a/_weft/manifest.json')), /a is run again: it has no manifest/],
    [() => rmSync(of('a/_weft/stdout')), /a is run again: its _weft\/stdout is missing/],
    [
      () => writeFileSync(of('a/_weft/manifest.json'), textOf(of('b/_weft/manifest.json'))),
      /another job/,
    ],
    [() => writeFileSync(of('a/_weft/manifest.json'), '{"version": 9}'), /of no known version/],
  ] as const) {
    break_();
    const { code, error } = await run('--resume');
    assert.equal(code, 0);
    assert.match(error, said);
    assert.equal(manifestOf(of('a')).outcome, 'completed');
  }
});

test('a build that fails starts no job, shows its log, and can be mended', async (context) => {
  const cwd = makeFolder(context, {
    'b.yaml':
      'namespace: lab\nname: built\nsolver: {build: build.sh}\njobs: [{name: a, run: job.sh}]\n',
    'build.sh': '#!/bin/sh\necho "no compiler here" >&2\nexit 3\n',
    'job.sh': '#!/bin/sh\ncat solver\n',
  });
  const failed = await runLocally(cwd, 'b.yaml');
  assertRefused(failed, 'batch.build_failed');
  assert.match(
    failed.error,
    /The build of lab\/built failed \(exit code 3\); no job was started\. Its log is .*_build\/.*\.log\.\nno compiler here\n/,
  );
  const left = treeOf(path.join(cwd, 'archive/lab/built')).filter((name) => !/\.log$/.test(name));
  assert.deepEqual(left, ['_batch.json', '_build/']);
  writeFileSync(path.join(cwd, 'build.sh'), '#!/bin/sh\necho mended > solver\n');
  assert.equal((await runLocally(cwd, 'b.yaml', '--resume')).code, 0);
  assert.equal(textOf(cwd, 'archive/lab/built/a/_weft/stdout'), 'mended\n');
});

test('a build that takes longer than its time starts no job', async (context) => {
  const cwd = makeFolder(context, {
    'b.yaml':
      'namespace: lab\nname: long\nsolver: {build: build.sh, time: 1s}\njobs: [{name: a, run: job.sh}]\n',
    'build.sh': '#!/bin/sh\necho begun\nsleep 20\n',
    'job.sh': '#!/bin/sh\n',
  });
  const failed = await runLocally(cwd, 'b.yaml');
  assertRefused(failed, 'batch.build_failed');
  assert.match(
    failed.error,
    /failed \(its time limit\); no job was started\. Its log is .*\nbegun\n/,
  );
  assert.ok(!existsSync(path.join(cwd, 'archive/lab/long/a')));
});

test('a batch comes after another one only when all of that is there', async (context) => {
  const job = (name: string, more = '') =>
    `namespace: lab\nname: ${name}\njobs: [{name: a, run: job.sh}]\n${more}`;
  const cwd = makeFolder(context, {
    'mesh.yaml': job('mesh'),
    'solve.yaml': job('solve', 'after: [lab/mesh]\n'),
    'job.sh': '#!/bin/sh\nexit $FAIL\n',
  });
  const none = await runLocally(cwd, 'solve.yaml');
  assertRefused(none, 'batch.dependency_unmet');
  assert.match(none.error, /lab\/solve comes after lab\/mesh, which is not complete: there is no /);
  await runWith(cwd, { FAIL: '1' }, 'mesh.yaml');
  assert.match((await runLocally(cwd, 'solve.yaml')).error, /not complete: 0 of 1 job completed/);
  assert.equal((await runLocally(cwd, 'mesh.yaml', '--resume')).code, 0);
  assert.equal((await runLocally(cwd, 'solve.yaml')).code, 0);
});

test('[N20] two runs of one batch do not work at once', async (context) => {
  const cwd = makeFolder(context, COUNTED);
  mkdirSync(path.join(cwd, 'archive/lab'), { recursive: true });
  const lock = path.join(cwd, 'archive/lab/.counted.lock');
  // That of another process that lives: the one that began this one, of this release and an older
  // one.
  const words = new RegExp(`Another run of lab/counted works in .* \\(process ${process.ppid}\\)`);
  for (const where of [{ folder: folderOf(lock) }, {}]) {
    writeFileSync(lock, JSON.stringify({ ...markOf(process.ppid), ...where }));
    const refused = await runLocally(cwd, 'b.yaml');
    assertRefused(refused, 'batch.busy');
    assert.match(refused.error, words);
  }
  rmSync(lock);
  const taken = takeLock(lock, 'user');
  assert.ok(taken.ok, 'and what it left is no lock');
});

test('results that cannot be kept end the run in words', async (context) => {
  const cwd = makeFolder(context, { ...COUNTED, archive: 'a file' });
  const refused = await runLocally(cwd, 'b.yaml');
  assertRefused(refused, 'batch.not_archived');
  assert.match(refused.error, /Results cannot be kept in .*\/archive: /);
});

test('a full disk loses nothing that was archived', { skip: NO_ROOT }, async (context) => {
  const cwd = makeFolder(context, {
    'b.yaml': BIG,
    'job.sh': '#!/bin/sh\nhead -c "$1" /dev/urandom > distribute_save/data\n',
    'disk/': '',
  });
  const disk = path.join(cwd, 'disk');
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'weft', disk]);
  try {
    const run = (...argv: string[]) => runLocally(cwd, 'b.yaml', '--save-dir', 'disk', ...argv);
    const full = await run('--at-once', '1');
    assertRefused(full, 'batch.not_archived');
    assert.match(full.error, /Results cannot be kept in .*disk: the disk is full/);
    assert.deepEqual(
      treeOf(disk).filter((name) => !/\.json$/.test(name)),
      [...['lab/', 'lab/big/', 'lab/big/small/', 'lab/big/small/data']],
    );
    execFileSync('mount', ['-o', 'remount,size=64m', disk]);
    const { code, out } = await run('--resume');
    assert.equal(code, 0);
    assert.match(out, /1 job to run, 1 completed before/);
  } finally {
    execFileSync('umount', [disk]);
  }
});

const BIG = `namespace: lab
name: big
jobs: [{name: small, run: job.sh, args: [1000]}, {name: large, run: job.sh, args: [6000000]}]
`;

test('a file that is written while it is read is not used', async (context) => {
  const cwd = makeFolder(context, {
    'b.yaml': 'namespace: lab\nname: moving\nfiles: [grows]\njobs: [{name: a, run: job.sh}]\n',
    'job.sh': '#!/bin/sh\n',
    grows: '',
  });
  const writer = spawn('sh', ['-c', 'echo; while echo x; do :; done >> grows'], {
    cwd,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    await once(writer.stdout, 'data');
    truncateSync(path.join(cwd, 'grows'), 64 * 1_048_576);
    const reading = readBatch(path.join(cwd, 'b.yaml'));
    await assert.rejects(Stage.make(reading, path.join(cwd, 'staged')), (error) => {
      assert.ok(error instanceof Failure);
      assert.equal(error.code, 'batch.file_changed');
      return /grows was changed while it was read/.test(error.message);
    });
  } finally {
    await end(writer);
  }
});

const SLOW = {
  'b.yaml': `namespace: lab
name: slow
jobs: [{name: quick, run: job.sh}, {name: slow, run: job.sh, args: [slow]}, {name: later, run: job.sh}]
`,
  // What it starts must end with it.
  'job.sh': `#!/bin/sh
echo part > distribute_save/part
if [ "$1" = slow ] && [ -e "$MEET/hang" ]; then
  sleep 600 & echo $! > "$MEET/pid.new"; mv "$MEET/pid.new" "$MEET/pid"; wait
fi
`,
  'meet/hang': '',
};

async function beginSlow(context: TestContext, cwd: string): Promise<ChildProcess> {
  const argv = [path.join(root, 'bin', 'weft.mjs'), 'batch', 'run', '--local', 'b.yaml'];
  const child = spawn(process.execPath, [...argv, '--at-once', '1'], {
    cwd,
    env: { ...process.env, MEET: path.join(cwd, 'meet'), WEFT_DIR: cwd },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  context.after(() => end(child));
  await until(() => existsSync(path.join(cwd, 'meet', 'pid')));
  return child;
}

async function until(isSo: () => boolean): Promise<void> {
  const limit = performance.now() + 120_000;
  while (!isSo()) {
    assert.ok(performance.now() < limit, 'in time');
    await sleep(10);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const over = once(child, 'exit');
  child.kill('SIGKILL');
  await over;
}

function isAlive(pid: number): boolean {
  return markOf(pid) !== null;
}

test('Ctrl-C ends what runs, keeps what it has made, and the rest can be resumed', async (context) => {
  const cwd = makeFolder(context, SLOW);
  const child = await beginSlow(context, cwd);
  const sleeper = Number(textOf(cwd, 'meet/pid'));
  const over = once(child, 'exit');
  child.kill('SIGINT');
  const [code] = (await over) as [number];
  assert.equal(code, 130);
  assert.ok(!isAlive(sleeper), 'what the job has started is gone');
  const folder = path.join(cwd, 'archive/lab/slow');
  assert.deepEqual(treeOf(folder), ['_batch.json', 'quick/', 'quick/part', 'slow/', 'slow/part']);
  assert.equal(manifestOf(path.join(folder, 'slow')).outcome, 'cancelled');
  rmSync(path.join(cwd, 'meet/hang'));
  const MEET = path.join(cwd, 'meet');
  const resumed = await runWith(cwd, { MEET }, 'b.yaml', '--resume');
  assert.equal(resumed.code, 0, resumed.error);
  assert.match(resumed.out, /2 jobs to run, 1 completed before/);
  assert.equal(manifestOf(path.join(folder, 'slow')).outcome, 'completed');
});

test('a run that was killed leaves nothing half-made, and the next ends what it left running', async (context) => {
  const cwd = makeFolder(context, SLOW);
  const child = await beginSlow(context, cwd);
  const sleeper = Number(textOf(cwd, 'meet/pid'));
  await end(child);
  assert.ok(isAlive(sleeper), 'nobody was there to end it');
  const folder = path.join(cwd, 'archive/lab/slow');
  assert.ok(!existsSync(path.join(folder, 'slow')), 'a job without its end has no folder');
  assert.equal(manifestOf(path.join(folder, 'quick')).outcome, 'completed');
  rmSync(path.join(cwd, 'meet/hang'));
  const MEET = path.join(cwd, 'meet');
  // As one does that was killed before it noted the process.
  rmSync(path.join(folder, '_work', 'pids'), { recursive: true });
  const { code, error } = await runWith(cwd, { MEET }, 'b.yaml', '--resume');
  assert.equal(code, 0, error);
  assert.ok(!isAlive(sleeper), 'ended before anything was started');
  const all = ['later/', 'later/part', 'quick/', 'quick/part', 'slow/', 'slow/part'];
  assert.deepEqual(treeOf(folder), ['_batch.json', ...all]);
});

test('what a job shuts is opened to be removed', async (context) => {
  const cwd = makeFolder(context, {
    'b.yaml': 'namespace: lab\nname: shut\njobs: [{name: a, run: job.sh}]\n',
    'job.sh': '#!/bin/sh\nmkdir -p shut/in; : > shut/in/file; chmod 500 shut/in shut\n',
  });
  chmodSync(cwd, 0o755);
  assert.equal((await runLocally(cwd, 'b.yaml')).code, 0);
  assert.ok(!existsSync(path.join(cwd, 'archive/lab/shut/_work')));
  assert.equal(readFileSync(path.join(cwd, 'archive/lab/shut/a/_weft/stdout'), 'utf8'), '');
});
