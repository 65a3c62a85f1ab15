// `distribute template`, `run` and `slurm`: the seed's flags over what `weft batch` does.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { readBatch } from '../../../../../src/wings/batches/batch/read/read-batch.ts';
import { makeFolder } from '../../../../support/folder.ts';
import { distributeIn } from './typed.ts';

const JOB = `import sys
open('distribute_save/out', 'w').write(open('input/input.json').read() + sys.argv[0])
`;
const FILES = {
  'build.py': '',
  'job.py': JOB,
  'mesh.h5': '',
  'solver.sif': '',
  're100.json': '100 ',
  're200.json': '200 ',
};
const PATH = process.env['PATH'] ?? '';

test('template writes a file of each kind that is right as it is, and over none that is there', async (context) => {
  const cwd = makeFolder(context, FILES);
  const file = path.join(cwd, 'distribute-jobs.yaml');
  for (const kind of ['python', 'apptainer', 'docker']) {
    const said = await distributeIn({ cwd }, 'template', kind, '--force');
    assert.deepEqual(said, { code: 0, out: 'Wrote distribute-jobs.yaml.\n', error: '' });
    const { batch } = readBatch(file);
    assert.deepEqual(
      batch.jobs.map(({ name, files }) => [name, files.map(({ as }) => as)]),
      [
        ['re100', ['input.json']],
        ['re200', ['input.json']],
      ],
      kind,
    );
    assert.equal(batch.origin, 'distribute');
  }
  const before = readFileSync(file, 'utf8');
  const again = await distributeIn({ cwd }, 'template', 'python');
  assert.equal(again.code, 2);
  assert.match(again.error, /is there already\n.*--force/);
  assert.equal(readFileSync(file, 'utf8'), before);
  const printed = await distributeIn({ cwd }, 'template', '--output', '-', 'docker');
  assert.equal(printed.out, before);
});

test('template refuses a kind that it does not know, and a folder that is not there', async (context) => {
  const cwd = makeFolder(context, {});
  const kind = await distributeIn({ cwd }, 'template', 'pyton');
  assert.deepEqual([kind.code, existsSync(path.join(cwd, 'distribute-jobs.yaml'))], [2, false]);
  assert.match(kind.error, /'pyton' is no kind of batch; write python, apptainer, docker/);
  const nowhere = await distributeIn({ cwd }, 'template', 'python', '--output', 'no/x.yaml');
  assert.equal(nowhere.code, 2);
  assert.match(nowhere.error, /--output: cannot write no\/x\.yaml: no such file/);
});

test("words that are no command of its own are answered with the right one's name", async (context) => {
  const cwd = makeFolder(context, {});
  const said = async (word: string) => (await distributeIn({ cwd }, word, 'x')).error;
  assert.equal(
    await said('status'),
    "distribute: unknown command 'status'. Did you mean 'distribute server-status' (batches) or 'distribute node-status'?\n",
  );
  for (const [word, meant] of [
    ['submit', 'distribute add'],
    ['cancel', 'distribute kill'],
    ['show', 'weft batch show'],
    ['retry', 'weft batch retry'],
    ['pul', 'distribute pull'],
  ] as const) {
    assert.ok((await said(word)).endsWith(`Did you mean '${meant}'?\n`), word);
  }
});

test('run takes distribute-jobs.yaml and ./distribute-run, and mixes no two runs', async (context) => {
  const cwd = makeFolder(context, FILES);
  const at = { cwd, environment: { PATH } };
  await distributeIn({ cwd }, 'template', 'python');
  const first = await distributeIn(at, 'run');
  assert.equal(first.code, 0, first.error);
  const result = path.join(cwd, 'distribute-run', 'alice_wing', 'sweep_01', 're200', 'out');
  assert.equal(readFileSync(result, 'utf8'), '200 run.py');
  const again = await distributeIn(at, 'run');
  assert.equal(again.code, 5, again.error);
  writeFileSync(path.join(cwd, 're200.json'), '201 ');
  const clean = await distributeIn(at, 'run', 'distribute-jobs.yaml', '--clean-save');
  assert.equal(clean.code, 0, clean.error);
  assert.equal(readFileSync(result, 'utf8'), '201 run.py');
});

test('run --clean-save removes results of this batch and nothing else', async (context) => {
  const cwd = makeFolder(context, FILES);
  const at = { cwd, environment: { PATH } };
  await distributeIn({ cwd }, 'template', 'python');
  const other = path.join(cwd, 'out', 'alice_wing', 'other');
  mkdirSync(other, { recursive: true });
  writeFileSync(path.join(other, 'mine'), '');
  const said = await distributeIn(at, 'run', '-s', 'out', '--clean-save');
  assert.equal(said.code, 0, said.error);
  assert.ok(existsSync(path.join(other, 'mine')));
  const foreign = path.join(cwd, 'elsewhere', 'alice_wing', 'sweep_01');
  mkdirSync(foreign, { recursive: true });
  writeFileSync(path.join(foreign, 'mine'), '');
  const refused = await distributeIn(at, 'run', '--save-dir', 'elsewhere', '--clean-save');
  assert.equal(refused.code, 2);
  assert.match(refused.error, /is no result of a batch, and is not removed/);
  assert.ok(existsSync(path.join(foreign, 'mine')));
});

test('slurm puts the three flags together, and refuses some of them', async (context) => {
  const cwd = makeFolder(context, FILES);
  await distributeIn({ cwd }, 'template', 'python');
  const three = [
    ...['--cluster-username', 'anna', '--cluster-address', 'cluster.example'],
    ...['--cluster-upload-destination', '/scratch/sweeps'],
  ];
  const said = await distributeIn({ cwd }, 'slurm', 'out', ...three);
  assert.equal(said.code, 0, said.error);
  const upload = readFileSync(path.join(cwd, 'out', 'upload.sh'), 'utf8');
  assert.match(upload, /anna@cluster\.example:\/scratch\/sweeps/);
  const some = await distributeIn({ cwd }, 'slurm', 'out', ...three.slice(0, 4));
  assert.equal(some.code, 2);
  assert.match(some.error, /give --cluster-upload-destination, too/);
});

test('the flags about logs stand before or behind the verb, and say that they do nothing', async (context) => {
  const cwd = makeFolder(context, FILES);
  for (const argv of [
    ['--save-log', 'template', 'python', '--output', '-'],
    ['template', 'python', '--output', '-', '--save-log'],
  ]) {
    const { code, error } = await distributeIn({ cwd }, ...argv);
    assert.equal(code, 0);
    assert.equal(error, 'distribute: --save-log: only server and client write a log\n');
  }
});

test('a word that is no verb is told with the nearest one of its own', async (context) => {
  const cwd = makeFolder(context, {});
  const said = async (...argv: string[]) => (await distributeIn({ cwd }, ...argv)).error;
  assert.match(await said('node-stat'), /Did you mean 'distribute node-status'\?/);
  // To weft this means `jobs`, which is no verb here.
  assert.doesNotMatch(await said('squeue'), /jobs/);
  const none = await distributeIn({ cwd });
  assert.equal(none.code, 2);
  assert.match(none.error, /^Usage: distribute/);
});
