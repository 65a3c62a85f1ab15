// Batch files as people write them, and everything that can be wrong with one, told at once with
// line and column.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { Failure } from '../../../../../src/kernel/model/failure.ts';
import {
  type BatchReading,
  readBatch,
} from '../../../../../src/wings/batches/batch/read/read-batch.ts';
import { makeFolder } from '../../../../support/folder.ts';

const FILES = {
  'mesh.h5': '',
  'base.json': '{}',
  're100.json': '{}',
  'build.py': '',
  'job.py': '',
  'tell.sh': '#!/bin/sh\n',
  'grids/coarse.dat': '',
};

function read(context: TestContext, text: string): BatchReading {
  const folder = makeFolder(context, { ...FILES, 'weft.batch.yaml': text });
  return readBatch(path.join(folder, 'weft.batch.yaml'));
}

/** Lines without the folder. */
function problemsOf(context: TestContext, text: string): string[] {
  const folder = makeFolder(context, { ...FILES, 'b.yaml': text });
  return problemsIn(path.join(folder, 'b.yaml'));
}

function problemsIn(file: string): string[] {
  try {
    readBatch(file);
  } catch (error) {
    assert.ok(error instanceof Failure, String(error));
    assert.equal(error.code, 'batch.invalid');
    assert.match(error.hint ?? '', /weft batch template/);
    return error.message.split('\n').map((line) => line.replaceAll(`${path.dirname(file)}/`, ''));
  }
  return [];
}

test('every key of the batch file', (context) => {
  const { batch } = read(
    context,
    `namespace: alice_wing
name: sweep_01
needs: [python3, gpu]
solver:
  build: build.py
  gpu: true
files: [mesh.h5, {path: base.json, as: input.json}, grids]
env: {SEED: 007}
defaults: {cpus: 2, gpus: 1, memory: 2G, time: 30m, retries: 1, partition: big, qos: low, priority: -5}
sweep: {re: [100, 0.20, 4e2], mesh: [a, 07]}
jobs:
  - {run: job.py, args: [--re, "{{re}}", 1.50], files: [{path: re100.json, as: "{{mesh}}.json"}]}
outputs: ['**', '!**/*.tmp']
after: [alice_wing/mesh_01]
notify: [{matrix: '@alice:lab'}, {webhook: 'https://example.org/done'}, {command: ./tell.sh}]
slurm: {ntasks: 4, time: 00:30:00, partition: cpu}
`,
  );
  const names = ['re100-a', 're100-mesh07', 're0.20-a', 're0.20-mesh07', 're4e2-a', 're4e2-mesh07'];
  assert.deepEqual(
    batch.jobs.map(({ name }) => name),
    names,
  );
  assert.deepEqual(
    batch.jobs[3]?.args,
    ['--re', '0.20', '1.50'],
    'numbers are as they were written',
  );
  const [first] = batch.jobs;
  assert.deepEqual([batch.env, first?.gpuCount], [{ SEED: '007' }, 1]);
  assert.deepEqual([first?.partition, first?.qos, first?.priority], ['big', 'low', -5]);
  assert.deepEqual(batch.slurm, { ntasks: '4', time: '00:30:00', partition: 'cpu' });
  assert.deepEqual(batch.after, [{ namespace: 'alice_wing', name: 'mesh_01' }]);
  assert.deepEqual(batch.notices, [
    { kind: 'matrix', user: '@alice:lab' },
    { kind: 'webhook', url: 'https://example.org/done' },
    { kind: 'command', command: './tell.sh' },
  ]);
});

test('what is new of jobs is told with its line and column, and where a key stands', (context) => {
  const text = `namespace: lab
name: heat
run: job.py
needs: [gpu]
defaults: {cpus: 2, env: {A: 1}, priority: high}
jobs:
  - {name: a, run: job.py, after: [c], gpus: 1.5, env: [A]}
  - {name: b, run: job.py, after: [a], needs: ['gpu &']}
`;
  assert.deepEqual(problemsOf(context, text), [
    "b.yaml:3:1: unknown key 'run'. It stands in defaults or in an entry of jobs.",
    "b.yaml:5:18: defaults.cpus: needs 'gpu', but a job with `cpus` and without `gpus` gets no gpu; write `gpus: 1` beside `cpus` (`gpus: 0`: it uses none), or leave `cpus` out: then it has a whole node with its gpus",
    "b.yaml:5:21: defaults: unknown key 'env'. It stands at the top or in an entry of jobs.",
    'b.yaml:5:44: defaults.priority: expected a whole number',
    "b.yaml:7:36: jobs[0].after[0]: 'c': expected the name of a job of this batch. Did you mean 'a'?",
    "b.yaml:7:46: jobs[0].gpus: '1.5' is not a number of gpus; write 2, or a100:2 for gpus of a type",
    'b.yaml:7:56: jobs[0].env: expected names of variables with their values',
    "b.yaml:8:48: jobs[1].needs[0]: 'gpu &': expected a label at the end",
  ]);
});

test('all that is wrong is told at once, in the order of the lines', (context) => {
  const text = `namespace: ../x
nam: sweep_01
solver:
  build: biuld.py
  docker: x.tar
  gpu: maybe
files: [mesh.h4, {pth: base.json, as: input.json}, {path: base.json, as: a/b}]
defaults: {memory: 2}
sweep: {re: [100, 100], mesh: []}
jobs:
  - {name: "a-{{rr}}", run: job.py, args: [{a: 1}]}
  - {name: b, run: re100.json, file: [x]}
  - 5
notify: [{command: ./tell.sx}]
slurm: {tme: '00:30:00'}
name: 1
name: 2
`;
  assert.deepEqual(problemsOf(context, text), [
    "b.yaml:1:12: namespace: '../x' has a separator /; write one name",
    "b.yaml:2:1: unknown key 'nam'. Did you mean 'name'?",
    "b.yaml:4:10: solver.build: 'biuld.py' does not exist. Did you mean 'build.py'?",
    "b.yaml:5:3: solver.docker: 'build' is there already; a batch has one solver: build, image (of apptainer), docker or podman",
    'b.yaml:6:8: solver.gpu: expected true or false',
    "b.yaml:7:9: files[0]: 'mesh.h4' does not exist. Did you mean 'mesh.h5'?",
    'b.yaml:7:18: files[1].path: is missing, or has no value',
    "b.yaml:7:19: files[1]: unknown key 'pth'. Did you mean 'path'?",
    "b.yaml:7:74: files[2].as: 'a/b' has a separator /; write one name",
    "b.yaml:8:20: defaults.memory: '2' has no unit; write 2M or 2G",
    "b.yaml:9:19: sweep.re[1]: '100' is there twice",
    'b.yaml:9:31: sweep.mesh: has no values',
    "b.yaml:11:12: jobs[0].name: {{rr}} is no key of the sweep. Did you mean 're'?",
    'b.yaml:11:44: jobs[0].args[0]: expected a text',
    "b.yaml:12:20: jobs[1].run: 're100.json' is not executable; chmod +x makes it so",
    "b.yaml:12:32: jobs[1]: unknown key 'file'. Did you mean 'files'?",
    'b.yaml:13:5: jobs[2]: expected a mapping of keys to values',
    "b.yaml:14:20: notify[0].command: './tell.sx' does not exist. Did you mean 'tell.sh'?",
    "b.yaml:15:9: slurm: unknown key 'tme'. Did you mean 'time'?",
    'b.yaml:17:1: this key is there twice',
  ]);
});

test('keys that are missing, or have nothing behind them', (context) => {
  assert.deepEqual(problemsOf(context, ''), [
    'b.yaml:1:1: namespace: is missing, or has no value',
    'b.yaml:1:1: name: is missing, or has no value',
    'b.yaml:1:1: jobs: a batch needs at least one job',
  ]);
  const text = 'namespace: x\nname:\nfiles: # none\njobs: [{name: a, run: job.py}]\n';
  assert.deepEqual(problemsOf(context, text), ['b.yaml:2:1: name: is missing, or has no value']);
});

const JOBS = 'jobs: [{name: a, run: job.py}]\n';
const BROKEN: readonly (readonly [text: string, ...said: RegExp[]])[] = [
  ['namespace: x\nsolver:\n\tbuild: build.py\n', /^b\.yaml:3:1: a tab indents this line/],
  [
    'meta:\n  matrix: @you:example.org\n',
    /^b\.yaml:2:11: a value cannot begin with @; put it in quotes$/,
  ],
  ['namespace: x\n---\nname: y\n', /^b\.yaml:2:1: a second document begins here/],
  ['namespace: [x\n', /^b\.yaml:2:1: .*\]/],
  ['- a\n- b\n', /^b\.yaml:1:1: expected a mapping/],
  ['just words\n', /^b\.yaml:1:1: expected a mapping/],
  [`namespace: *who\nname: x\n${JOBS}`, /^b\.yaml:1:12: there is no anchor &who/],
  [`? [a, b]\n: 1\nname: x\n${JOBS}`, /^b\.yaml:1:3: a key must be one word$/],
  [`namespace: x\nname: y\nfiles: &f [*f]\n${JOBS}`, /nested too deeply/],
  [`${'['.repeat(60)}${']'.repeat(60)}`, /nested too deeply/],
];

for (const [text, ...said] of BROKEN) {
  test(`broken YAML: ${JSON.stringify(text.slice(0, 40))}`, (context) => {
    const problems = problemsOf(context, text);
    assert.ok(problems.length >= said.length, problems.join('\n'));
    for (const [at, pattern] of said.entries()) assert.match(problems[at] ?? '', pattern);
  });
}

test('a bomb of aliases ends the reading, not the program', (context) => {
  const lines = ['a: &a [x, x, x, x, x, x, x, x, x]'];
  for (let at = 0; at < 12; at += 1) {
    const before = String.fromCharCode(97 + at);
    const list = Array(9).fill(`*${before}`).join(', ');
    lines.push(`${String.fromCharCode(98 + at)}: &${String.fromCharCode(98 + at)} [${list}]`);
  }
  const [problem = ''] = problemsOf(context, lines.join('\n'));
  assert.match(problem, /too many values/);
});

test('an alias stands for what it names', (context) => {
  const { batch } = read(
    context,
    'namespace: x\nname: y\njobs:\n  - {name: a, run: job.py, files: &all [mesh.h5]}\n  - {name: b, run: job.py, files: *all}\n',
  );
  assert.deepEqual(batch.jobs[1]?.files, [{ path: 'mesh.h5', as: 'mesh.h5' }]);
});

test('a key called __proto__ is unknown like any other', (context) => {
  const text = `namespace: x\nname: y\n__proto__: {jobs: 1}\n${JOBS}`;
  assert.deepEqual(problemsOf(context, text), ["b.yaml:3:1: unknown key '__proto__'."]);
});

test('files that are no files', (context) => {
  const folder = makeFolder(context, FILES);
  execFileSync('mkfifo', [path.join(folder, 'pipe')]);
  symlinkSync('nowhere', path.join(folder, 'dangling'));
  mkdirSync(path.join(folder, 'plain'));
  writeFileSync(path.join(folder, 'run.sh'), '#!/bin/sh\n');
  chmodSync(path.join(folder, 'run.sh'), 0o644);
  const file = path.join(folder, 'b.yaml');
  const jobs = 'jobs: [{name: a, run: run.sh}, {name: b, run: grids}]';
  writeFileSync(
    file,
    `namespace: x\nname: y\nfiles: [pipe, dangling, /dev/null, plain]\n${jobs}\n`,
  );
  assert.deepEqual(problemsIn(file), [
    "b.yaml:3:9: files[0]: 'pipe' is a device, pipe or socket; expected a file",
    "b.yaml:3:15: files[1]: 'dangling' is a link to something that does not exist",
    "b.yaml:3:25: files[2]: '/dev/null' is a device, pipe or socket; expected a file",
    "b.yaml:4:23: jobs[0].run: 'run.sh' is not executable; chmod +x makes it so",
    "b.yaml:4:47: jobs[1].run: 'grids' is a folder; expected a file",
  ]);
});

test('a batch file that is none', (context) => {
  const folder = makeFolder(context, { 'latin.yaml': '' });
  execFileSync('mkfifo', [path.join(folder, 'pipe')]);
  writeFileSync(path.join(folder, 'latin.yaml'), Buffer.from([0x61, 0x3a, 0x20, 0xe9]));
  const said = (name: string) => problemsIn(path.join(folder, name)).join('\n');
  assert.match(said('nothing.yaml'), /no such file or directory/);
  assert.match(said('.'), /is a folder/);
  assert.match(said('pipe'), /is a device, pipe or socket/);
  assert.match(said('latin.yaml'), /is not valid UTF-8/);
});
