// A batch on a cluster of two nodes: files brought, the solver built once on each node, jobs that
// fail and run again, a build that fails.

import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { BatchJobView, BatchView } from '../../src/wings/batches/api/batches.ts';
import { LocalCluster } from './support/local-cluster.ts';

let cluster: LocalCluster;
before(async () => {
  cluster = await LocalCluster.startApart('--nodes', '2');
});
after(() => cluster.close());

type Shown = BatchView & { readonly jobs: readonly BatchJobView[] };

/** Writes files of a batch into a folder of its own; gives the batch file. */
function write(name: string, yaml: string, files: Readonly<Record<string, string>>): string {
  const folder = join(cluster.work, name);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), text);
    chmodSync(join(folder, file), 0o755);
  }
  const file = join(folder, 'weft.batch.yaml');
  writeFileSync(file, `namespace: lab\nname: ${name}\n${yaml}`);
  return file;
}

async function shown(title: string): Promise<Shown> {
  return JSON.parse(await cluster.ok('batch', 'show', title, '-o', 'json')) as Shown;
}

/** When all of its jobs are over. */
async function done(title: string): Promise<Shown> {
  const { jobIds } = await shown(title);
  await cluster.weft('wait', ...jobIds.map(String));
  return shown(title);
}

/** Says in a file of the test's that it has run. */
const buildScript = (count: string) => `#!/bin/sh
cat input/mesh/a input/mesh/b > solver
test -e input/mesh/empty && test -d input/mesh/none
echo "$PWD" >> ${count}
`;

test('[B1, B7] jobs find their files, and what the build of their node left', async () => {
  const count = join(cluster.directory, 'builds');
  const file = write(
    'heat',
    [
      'solver: {build: build.sh}',
      'files: [mesh, {path: base.json, as: input.json}]',
      'defaults: {cpus: 1}',
      'sweep: {re: [1, 2, 3, 4, 5, 6, 7, 8]}',
      'jobs: [{run: job.sh, args: ["{{re}}", "{{cpus}}"], files: [{path: own.txt, as: own}]}]',
    ].join('\n'),
    {
      'build.sh': buildScript(count),
      'job.sh':
        '#!/bin/sh\ncat solver input/own input/input.json; echo "$@ $WEFT_BATCH $WEFT_JOB_NAME"\necho "$1" > "$WEFT_SAVE/result"; ls -A distribute_save\n',
      'mesh/a': 'A\n',
      'mesh/b': 'B\n',
      'mesh/empty': '',
      'mesh/none/x': '',
      'base.json': '{}\n',
      'own.txt': 'own\n',
    },
  );
  assert.equal(await cluster.ok('batch', 'submit', file), 'lab/heat: 8 jobs submitted.');
  const batch = await done('lab/heat');
  assert.deepEqual(
    [batch.state, batch.outcome, batch.ended],
    ['done', 'completed', { completed: 8 }],
  );
  const out = await cluster.ok('batch', 'logs', 'lab/heat', 're3');
  assert.equal(out, 'A\nB\nown\n{}\n3 1 lab/heat re3\nresult');
  const nodes = new Set(batch.jobs.flatMap((job) => job.nodes));
  const builds = readFileSync(count, 'utf8').trim().split('\n');
  assert.equal(builds.length, nodes.size, 'one build for each node');
  assert.equal(nodes.size, 2);
  const logs = join(cluster.state, 'head/archive/batches/lab/heat/_build');
  assert.deepEqual(readdirSync(logs).sort(), [...nodes].map((node) => `${node}.log`).sort());
  const again = await cluster.refused('weft', 'batch', 'submit', file);
  assert.match(again.error, /lab\/heat is there already: 8 of 8 jobs completed/);
  const nothing = await cluster.refused('weft', 'batch', 'submit', '--resume', file);
  assert.match(nothing.error, /there is nothing to run again/);
});

test('[B10, B11, B13] an order of jobs, their variables, and what they leave elsewhere', async () => {
  const file = write(
    'order',
    [
      'env: {SEED: 7, A: batch}',
      'solver: {build: build.sh}',
      'defaults: {run: job.sh, cpus: 1, priority: -5}',
      'jobs:',
      '  - {name: solve, after: [mesh], env: {A: own}}',
      '  - {name: mesh}',
      '  - {name: bad, args: [bad]}',
      '  - {name: never, after: [bad, solve]}',
    ].join('\n'),
    {
      'build.sh': '#!/bin/sh\necho "built with $SEED $A"\necho made > product\n',
      'job.sh':
        '#!/bin/sh\necho "$SEED $A $(cat product)"; mkdir fields; echo 123 > fields/x; echo 1 > run.log; test "$1" != bad\n',
    },
  );
  await cluster.ok('batch', 'submit', file);
  const { jobs, ended } = await done('lab/order');
  assert.deepEqual(ended, { completed: 2, failed: 1, cancelled: 1 });
  const [solve, mesh, bad, never] = jobs;
  assert.ok((mesh?.endedAt ?? 0) <= (solve?.startedAt ?? 0), 'one after the other');
  assert.equal(await cluster.ok('batch', 'logs', 'lab/order', 'solve', '-o'), '7 own made');
  assert.equal(await cluster.ok('batch', 'logs', 'lab/order', 'mesh', '-o'), '7 batch made');
  const said = 'not kept, as outside distribute_save/: fields/, run.log (2 files, 6 bytes)';
  assert.deepEqual([mesh?.detail, solve?.detail], [said, said]);
  assert.ok(bad?.detail?.endsWith(`; ${said}`), bad?.detail ?? '');
  assert.match(never?.detail ?? '', /^waited for job \d+ to complete; it ended as failed$/);
  const logs = join(cluster.state, 'head/archive/batches/lab/order/_build');
  for (const log of readdirSync(logs)) {
    assert.equal(readFileSync(join(logs, log), 'utf8'), 'built with 7 batch\n');
  }
});

test('[B4] what failed is run again from mended files, and what completed is left', async () => {
  const jobs = 'jobs: [{name: good, run: good.sh, cpus: 1}, {name: bad, run: bad.sh, cpus: 1}]';
  const good = '#!/bin/sh\necho good\n';
  const file = write('mend', jobs, { 'good.sh': good, 'bad.sh': '#!/bin/sh\nexit 3\n' });
  await cluster.ok('batch', 'submit', file);
  const first = await done('lab/mend');
  assert.deepEqual([first.outcome, first.ended], ['failed', { completed: 1, failed: 1 }]);
  assert.equal(await cluster.ok('batch', 'retry', 'lab/mend'), '1 job of lab/mend runs again.');
  assert.deepEqual((await done('lab/mend')).ended, { completed: 1, failed: 1 });
  write('mend', jobs, { 'good.sh': good, 'bad.sh': '#!/bin/sh\necho mended\n' });
  const resumed = await cluster.ok('batch', 'submit', '--resume', file);
  assert.equal(resumed, 'lab/mend: 1 job submitted again.');
  assert.equal((await done('lab/mend')).outcome, 'completed');
  assert.equal(await cluster.ok('batch', 'logs', 'lab/mend', 'bad'), 'mended');
});

test('[B5] a batch begins when the one before is complete', async () => {
  const job = 'jobs: [{name: a, run: job.sh, cpus: 1}]';
  const gate = join(cluster.directory, 'gate');
  const waits = `#!/bin/sh\nuntil [ -e ${gate} ]; do sleep 0.05; done\n`;
  await cluster.ok('batch', 'submit', write('first', job, { 'job.sh': waits }));
  const second = write('second', `${job}\nafter: [lab/first]`, { 'job.sh': '#!/bin/sh\n:\n' });
  await cluster.ok('batch', 'submit', second);
  const { state, jobs, after: before } = await shown('lab/second');
  assert.deepEqual([state, before, jobs[0]?.state], ['pending', ['lab/first'], 'pending']);
  writeFileSync(gate, '');
  assert.equal((await done('lab/second')).outcome, 'completed');
});

test('[B7] a build that fails on every node ends the batch, and is done anew when asked', async () => {
  const ready = join(cluster.directory, 'ready');
  const file = write(
    'broken',
    'solver: {build: build.sh}\njobs: [{name: a, run: job.sh, cpus: 1}]',
    {
      'build.sh': `#!/bin/sh\necho no compiler here\ntest -e ${ready}\n`,
      'job.sh': '#!/bin/sh\necho ran\n',
    },
  );
  await cluster.ok('batch', 'submit', file);
  const failed = await done('lab/broken');
  assert.deepEqual([failed.outcome, failed.jobs[0]?.outcome], ['build_failed', 'build_failed']);
  assert.equal(failed.failedBuilds.length, 2);
  for (const { id, epoch } of failed.failedBuilds) {
    const said = await cluster.weft('logs', '-f', '-e', id, '--epoch', String(epoch));
    assert.match(said.out, /no compiler here\nweft: the build ended with exit code 1\n/);
  }
  const logs = join(cluster.state, 'head/archive/batches/lab/broken/_build');
  for (const { node } of failed.failedBuilds) {
    const log = readFileSync(join(logs, `${node}.log`), 'utf8');
    assert.equal(log, 'no compiler here\nweft: the build ended with exit code 1\n');
  }
  writeFileSync(ready, '');
  await cluster.ok('batch', 'rebuild', 'lab/broken');
  await cluster.ok('batch', 'retry', 'lab/broken');
  assert.equal((await done('lab/broken')).outcome, 'completed');
  assert.equal(await cluster.ok('batch', 'logs', 'lab/broken', 'a'), 'ran');
});

test('[B9] a build takes none of the time of its jobs, and has a limit of its own', async () => {
  const job = { 'job.sh': '#!/bin/sh\ncat solver\n' };
  const slow = write(
    'slow',
    'solver: {build: build.sh}\njobs: [{name: a, run: job.sh, cpus: 1, time: 6s}]\n',
    { ...job, 'build.sh': '#!/bin/sh\nsleep 8; echo made > solver\n' },
  );
  await cluster.ok('batch', 'submit', slow);
  assert.equal((await done('lab/slow')).outcome, 'completed');
  const hung = write(
    'hung',
    'solver: {build: build.sh, time: 2s}\njobs: [{name: a, run: job.sh, cpus: 1, time: 1h}]\n',
    { ...job, 'build.sh': '#!/bin/sh\nsleep 1000\n' },
  );
  await cluster.ok('batch', 'submit', hung);
  const { outcome, failedBuilds } = await done('lab/hung');
  assert.deepEqual([outcome, failedBuilds.length], ['build_failed', 2]);
});

test('[B7] a retry builds again where the build has failed', async () => {
  const ready = join(cluster.directory, 'ready-again');
  const file = write(
    'again',
    'solver: {build: build.sh}\njobs: [{name: a, run: job.sh, cpus: 1}]',
    {
      'build.sh': `#!/bin/sh\ntest -e ${ready}\n`,
      'job.sh': '#!/bin/sh\necho ran\n',
    },
  );
  await cluster.ok('batch', 'submit', file);
  assert.equal((await done('lab/again')).outcome, 'build_failed');
  writeFileSync(ready, '');
  await cluster.ok('batch', 'retry', 'lab/again');
  assert.equal((await done('lab/again')).outcome, 'completed');
});

test('[B7] what no node could build runs again from a mended build', async () => {
  const yaml = 'solver: {build: build.sh}\njobs: [{name: a, run: job.sh, cpus: 1}]';
  const files = { 'build.sh': '#!/bin/sh\nexit 1\n', 'job.sh': '#!/bin/sh\ncat solver\n' };
  const file = write('unbuilt', yaml, files);
  await cluster.ok('batch', 'submit', file);
  assert.equal((await done('lab/unbuilt')).outcome, 'build_failed');
  await cluster.ok('batch', 'retry', 'lab/unbuilt');
  assert.equal((await done('lab/unbuilt')).outcome, 'build_failed');
  write('unbuilt', yaml, { ...files, 'build.sh': '#!/bin/sh\necho mended > solver\n' });
  await cluster.ok('batch', 'submit', '--resume', file);
  assert.equal((await done('lab/unbuilt')).outcome, 'completed');
  assert.equal(await cluster.ok('batch', 'logs', 'lab/unbuilt', 'a'), 'mended');
});

test('[B3] results lie on the head under the names of batch and job, and go with the batch', async () => {
  const jobs = ['{name: a, run: job.sh, cpus: 1}', '{name: b, run: silent.sh, cpus: 1}'];
  const file = write('kept', `jobs: [${jobs.join(', ')}]`, {
    'job.sh':
      '#!/bin/sh\nmkdir distribute_save/out; echo one > distribute_save/out/result; echo x > beside; echo said; echo warned >&2\n',
    'silent.sh': '#!/bin/sh\n:\n',
  });
  await cluster.ok('batch', 'submit', '--wait', file);
  const home = join(cluster.state, 'head/archive/batches/lab/kept');
  assert.equal(readFileSync(join(home, 'a/out/result'), 'utf8'), 'one\n');
  const manifest = JSON.parse(readFileSync(join(home, 'a/_weft/manifest.json'), 'utf8'));
  assert.deepEqual(
    [manifest.outcome, manifest.batch, manifest.job],
    ['completed', 'lab/kept', 'a'],
  );
  await cluster.ok('batch', 'logs', '--follow', 'lab/kept', 'a');
  assert.equal(readFileSync(join(home, 'a/_weft/stdout'), 'utf8'), 'said\n');
  assert.equal(readFileSync(join(home, 'a/_weft/stderr'), 'utf8'), 'warned\n');
  assert.ok(existsSync(join(home, 'b/_weft/manifest.json')), 'also of a job that left nothing');
  await cluster.ok('batch', 'pull', 'lab/kept', '--save-dir', 'results');
  assert.deepEqual(
    readdirSync(join(cluster.work, 'results/lab/kept/a'), { recursive: true }).sort(),
    ['out', 'out/result'],
  );
  const files = 'and with it 1 file with 4 bytes of 2 jobs';
  assert.equal(
    await cluster.ok('batch', 'remove', 'lab/kept', '--dry-run'),
    `Batch lab/kept would be removed, ${files}.`,
  );
  assert.equal(
    await cluster.ok('batch', 'remove', 'lab/kept'),
    `Batch lab/kept is removed, ${files}.`,
  );
  assert.equal(existsSync(home), false);
});

test('a batch is cancelled and removed; nothing of it is left to run', async () => {
  const file = write(
    'long',
    'jobs: [{name: a, run: job.sh}, {name: b, run: job.sh}, {name: c, run: job.sh}]',
    {
      'job.sh': '#!/bin/sh\nexec sleep 600\n',
    },
  );
  await cluster.ok('batch', 'submit', file);
  assert.equal(
    await cluster.ok('batch', 'cancel', 'lab/long'),
    '3 jobs of lab/long are cancelled.',
  );
  assert.equal((await done('lab/long')).outcome, 'cancelled');
  await cluster.ok('batch', 'remove', 'lab/long');
  const list = await cluster.ok('batch', 'list', '--all', '-o', 'name');
  assert.ok(!list.split('\n').includes('lab/long'));
  assert.ok(readdirSync(cluster.work).includes('long'), 'files of the submitter stay');
});

test('[B3] all verbs of a batch by its name, typed in the folder that its results were pulled into', async () => {
  const ready = join(cluster.directory, 'ready-x');
  const file = write(
    'x',
    'solver: {build: build.sh}\ndefaults: {run: job.sh, cpus: 1}\njobs: [{name: good}, {name: bad, args: [bad]}]',
    {
      'build.sh': '#!/bin/sh\necho built\necho made > solver\n',
      'job.sh': `#!/bin/sh\necho "said by $WEFT_JOB_NAME"\ncat solver > "$WEFT_SAVE/result"\ntest "$1" != bad || test -e ${ready}\n`,
    },
  );
  const cwd = join(file, '..');
  const type = async (line: string, code = 0): Promise<string> => {
    const said = await cluster.run('weft', ['batch', ...line.split(' ')], { cwd });
    assert.equal(said.code, code, `weft batch ${line}: ${said.out}${said.error}`);
    return said.out;
  };
  const result = (job: string) => readFileSync(join(cwd, 'lab/x', job, 'result'), 'utf8');
  assert.equal(await type('submit'), 'lab/x: 2 jobs submitted.\n');
  await type('wait lab/x', 1);
  await type('pull lab/x');
  assert.deepEqual([result('good'), result('bad')], ['made\n', 'made\n']);
  assert.ok(existsSync(join(cwd, 'lab/x/_build')), 'what every verb must not take the name for');
  assert.match(await type('show lab/x'), /bad +\d+\[1\] +failed/);
  assert.equal(await type('logs lab/x good'), 'said by good\n');
  writeFileSync(join(cwd, 'lab/x/good/result'), 'mine\n');
  writeFileSync(ready, '');
  assert.equal(await type('retry lab/x'), '1 job of lab/x runs again.\n');
  await type('wait lab/x');
  await type('pull lab/x');
  assert.equal(result('good'), 'made\n', 'what differs is replaced');
  assert.match(await type('rebuild lab/x'), /The solver of lab\/x is built anew/);
  assert.equal(await type('cancel lab/x'), 'No job of lab/x waits or runs.\n');
  assert.match(await type('remove lab/x'), /^Batch lab\/x is removed, and with it 2 files/);
  assert.equal(result('bad'), 'made\n', 'what was pulled stays');
  await type('show lab/x', 3);
});
