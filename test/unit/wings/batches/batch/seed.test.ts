// The seed's two files, read as they are: the kinds of its documentation, retold.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { Failure } from '../../../../../src/kernel/model/failure.ts';
import { readBatch } from '../../../../../src/wings/batches/batch/read/read-batch.ts';
import { readSeedNodes } from '../../../../../src/wings/batches/batch/read/read-nodes.ts';
import type { BatchFile, ContainerSolver } from '../../../../../src/wings/batches/core/batch.ts';
import { runnableNodes } from '../../../../../src/wings/batches/core/runnable.ts';
import { makeFolder } from '../../../../support/folder.ts';

const FILES = {
  'compile.py': '',
  'plot.py': '',
  'wing.sif': '',
  'always.csv': '',
  'sometimes.csv': '',
  'file1.txt': '',
  'file999.txt': '',
};

function batchOf(context: TestContext, text: string): BatchFile {
  const folder = makeFolder(context, { ...FILES, 'distribute-jobs.yaml': text });
  return readBatch(path.join(folder, 'distribute-jobs.yaml')).batch;
}

function problemsOf(context: TestContext, text: string, read = readBatchAt): string[] {
  const folder = makeFolder(context, FILES);
  const file = path.join(folder, 'd.yaml');
  writeFileSync(file, text);
  try {
    read(file);
  } catch (error) {
    assert.ok(error instanceof Failure, String(error));
    return error.message.split('\n').map((line) => line.replaceAll(`${folder}/`, ''));
  }
  return [];
}

const readBatchAt = (file: string): void => void readBatch(file);

const PLAIN_JOB = {
  env: {},
  after: [],
  needs: [],
  cpuCount: null,
  gpuCount: null,
  gpuType: null,
  gpuMemoryBytes: null,
  gpuShareBytes: null,
  memoryBytes: null,
  walltimeMs: null,
  retriesMax: 0,
  partition: null,
  qos: null,
  priority: 0,
  slurm: {},
};

test('python: a build, files for all and for one, an alias; programs are called run.py', (context) => {
  const batch = batchOf(
    context,
    `meta:
  batch_name: wing_batch
  namespace: "alice-wing"
  capabilities: [python3, matplotlib]
  matrix: "@alice:example.org"

python:
  initialize:
    build_file:
      path: compile.py
    required_files:
      - path: always.csv
  jobs:
    - name: job_1
      file:
        path: plot.py
      required_files:
        - path: sometimes.csv
          alias: dataset.csv
    - name: job_2
      file:
        path: plot.py
      required_files: []
`,
  );
  assert.deepEqual(batch, {
    namespace: 'alice-wing',
    name: 'wing_batch',
    origin: 'distribute',
    needs: ['python3', 'matplotlib'],
    env: {},
    solver: { kind: 'build', build: { path: 'compile.py', as: 'run.py' }, gpu: false },
    files: [{ path: 'always.csv', as: 'always.csv' }],
    jobs: [
      {
        name: 'job_1',
        run: { path: 'plot.py', as: 'run.py' },
        args: ['{{cpus}}'],
        files: [{ path: 'sometimes.csv', as: 'dataset.csv' }],
        ...PLAIN_JOB,
      },
      {
        name: 'job_2',
        run: { path: 'plot.py', as: 'run.py' },
        args: ['{{cpus}}'],
        files: [],
        ...PLAIN_JOB,
      },
    ],
    outputs: ['**'],
    after: [],
    notices: [{ kind: 'matrix', user: '@alice:example.org' }],
    slurm: {},
  });
});

test('paths may stand where its documentation has them without their key', (context) => {
  const batch = batchOf(
    context,
    `meta: {batch_name: b, namespace: n, capabilities: []}
python:
  initialize:
    build_file: compile.py
    required_files: [file1.txt, {path: file999.txt, alias: file2.txt}]
  jobs: [{name: job_1, file: plot.py}]
`,
  );
  assert.deepEqual(batch.files, [
    { path: 'file1.txt', as: 'file1.txt' },
    { path: 'file999.txt', as: 'file2.txt' },
  ]);
  assert.deepEqual(batch.jobs[0]?.run, { path: 'plot.py', as: 'run.py' });
});

test('apptainer: an image, mounts, gpu, and Slurm for all and for one', (context) => {
  const batch = batchOf(
    context,
    `meta:
  batch_name: sweep_01
  namespace: alice_wing
  matrix: null
  capabilities: [apptainer, gpu]
apptainer:
  initialize:
    sif: {path: wing.sif, alias: null}
    required_files: [{path: file1.txt, alias: mesh.h5}]
    required_mounts: [/output, /scratch/a]
  jobs:
    - name: re100
      required_files: [{path: always.csv, alias: input.csv}]
      slurm: {time: "00:05:00"}
    - name: re200
      required_files: [{path: sometimes.csv, alias: input.csv}]
      slurm: null
slurm:
  job_name: null
  output: output.txt
  nodes: 1
  ntasks: 4
  cpus_per_task: 1
  mem_per_cpu: "10M"
  hint: nomultithread
  time: 00:30:00
  partition: cpu-core-0
  account: lab
  mail_user: alice@example.org
  mail_type: END
`,
  );
  assert.deepEqual(batch.solver, {
    kind: 'apptainer',
    image: 'wing.sif',
    isFile: true,
    mounts: ['/output', '/scratch/a'],
    gpu: true,
  });
  assert.deepEqual(batch.needs, ['apptainer|singularity', 'gpu']);
  assert.deepEqual(
    batch.jobs.map(({ name, run, slurm }) => [name, run, slurm]),
    [
      ['re100', null, { time: '00:05:00' }],
      ['re200', null, {}],
    ],
  );
  assert.deepEqual(batch.slurm, {
    output: 'output.txt',
    nodes: '1',
    ntasks: '4',
    cpus_per_task: '1',
    mem_per_cpu: '10M',
    hint: 'nomultithread',
    time: '00:30:00',
    partition: 'cpu-core-0',
    account: 'lab',
    mail_user: 'alice@example.org',
    mail_type: 'END',
  });
});

test('singularity, as its older files say, is apptainer by its older name', (context) => {
  const text = (kind: string) => `meta: {batch_name: b, namespace: n, capabilities: [${kind}, gpu]}
${kind}:
  initialize: {sif: wing.sif, required_files: [{path: always.csv}], required_mounts: [/output]}
  jobs: [{name: job_1, required_files: [{path: sometimes.csv, alias: dataset.csv}]}]
`;
  const batch = batchOf(context, text('singularity'));
  assert.deepEqual(batch, batchOf(context, text('apptainer')));
  const named = (...labels: string[]) => ({ name: labels.join(), labels });
  const nodes = [named('apptainer', 'gpu'), named('singularity', 'gpu'), named('docker', 'gpu')];
  const able = ['apptainer,gpu', 'singularity,gpu'];
  assert.deepEqual(runnableNodes(batch, nodes).nodes, able, 'a node has it by either name');
  const wrong = text('singularity').replace('always.csv', 'alwys.csv');
  assert.deepEqual(problemsOf(context, wrong), [
    "d.yaml:3:48: singularity.initialize.required_files[0]: 'alwys.csv' does not exist. Did you mean 'always.csv'?",
  ]);
  const both = `${text('singularity')}apptainer: {initialize: {sif: wing.sif}, jobs: [{name: a}]}\n`;
  assert.deepEqual(problemsOf(context, both), [
    "d.yaml:2:1: singularity: 'apptainer' is there already; a batch has one kind of solver",
  ]);
});

test('docker, of its branch', (context) => {
  const batch = batchOf(
    context,
    `meta: {batch_name: b, namespace: n, capabilities: [docker]}
docker:
  initialize: {image: example/wing:1, required_mounts: [/data]}
  jobs: [{name: a}]
`,
  );
  const mounts = ['/data'];
  const expected = { kind: 'docker', image: 'example/wing:1', isFile: false, mounts, gpu: false };
  assert.deepEqual(batch.solver, expected);
});

test('what looks like a value of a sweep is text there', (context) => {
  const text = `meta: {batch_name: b, namespace: n, capabilities: []}
python:
  initialize: {build_file: compile.py}
  jobs: [{name: "a{{re}}", file: plot.py}]
`;
  assert.equal(batchOf(context, text).jobs[0]?.name, 'a{{re}}');
});

test('mistakes are told by the keys of that file, all of them at once', (context) => {
  const text = `meta:
  batch_nam: b
  namespace: a/b
  capabilities: python3
python:
  initialize:
    build_file: {path: comple.py}
    required_files: [{path: no.txt, alas: x}, {path: file1.txt, alias: a/b}]
    required_mounts: []
  jobs:
    - {name: one, file: {path: plt.py}, required_files: [file1.txt, {path: file1.txt}]}
    - {name: one, file: plot.py, slurm: {ntask: 4}}
    - {name: two}
apptainer:
  initialize: {sif: wing.sif}
  jobs: []
`;
  assert.deepEqual(problemsOf(context, text), [
    'd.yaml:2:3: meta.batch_name: is missing, or has no value',
    "d.yaml:2:3: meta: unknown key 'batch_nam'. Did you mean 'batch_name'?",
    "d.yaml:3:14: meta.namespace: 'a/b' has a separator /; write one name",
    'd.yaml:4:17: meta.capabilities: expected a list',
    "d.yaml:7:24: python.initialize.build_file.path: 'comple.py' does not exist. Did you mean 'compile.py'?",
    "d.yaml:8:22: python.initialize.required_files[0]: 'no.txt' does not exist.",
    "d.yaml:8:37: python.initialize.required_files[0]: unknown key 'alas'. Did you mean 'alias'?",
    "d.yaml:8:72: python.initialize.required_files[1].alias: 'a/b' has a separator /; write one name",
    "d.yaml:9:5: python.initialize: unknown key 'required_mounts'. Did you mean 'required_files'?",
    "d.yaml:11:32: python.jobs[0].file.path: 'plt.py' does not exist. Did you mean 'plot.py'?",
    "d.yaml:11:69: python.jobs[0].required_files[1]: 'file1.txt' is the name of file 1 of this list already; give one another name with 'alias'",
    "d.yaml:12:14: python.jobs[1].name: 'one' is the name of job 1 already",
    "d.yaml:12:42: python.jobs[1].slurm: unknown key 'ntask'. Did you mean 'ntasks'?",
    'd.yaml:13:7: python.jobs[2].file: is missing, or has no value',
    "d.yaml:14:1: apptainer: 'python' is there already; a batch has one kind of solver",
  ]);
});

test('the example of its documents needs quotes, and is told where a right one is', (context) => {
  const text = 'meta:\n  batch_name: b\n  namespace: n\n  matrix: @me:example.org\n';
  const folder = makeFolder(context, { 'distribute-jobs.yaml': text });
  assert.throws(
    () => readBatch(path.join(folder, 'distribute-jobs.yaml')),
    (error: Failure) => {
      assert.match(error.message, /a value cannot begin with @; put it in quotes/);
      assert.match(error.hint ?? '', /`distribute template python --output -` shows a right one/);
      return true;
    },
  );
});

test('a file of that kind without a solver, and one without jobs', (context) => {
  const meta = 'meta: {batch_name: b, namespace: n, capabilities: []}\n';
  assert.deepEqual(problemsOf(context, meta), [
    'd.yaml:1:1: needs one of python, apptainer, singularity, docker',
  ]);
  const none = `${meta}apptainer: {initialize: {sif: wing.sif}, jobs: []}\n`;
  assert.deepEqual(problemsOf(context, none), [
    'd.yaml:2:48: apptainer.jobs: a batch needs at least one job',
  ]);
});

const JOB = { name: 'a', run: null, args: [], files: [], ...PLAIN_JOB };
const NODES = `nodes:
  - ip: 192.0.2.11
    name: lab1
    capabilities: [apptainer, gpu, python3]
  - {ip: lab2.example.org, name: lab2, capabilities: [python3, lab2-3], transport_port: 9000}
`;

test('the nodes file, with its usual ports, and host names too', (context) => {
  const folder = makeFolder(context, { 'distribute-nodes.yaml': NODES });
  const nodes = readSeedNodes(path.join(folder, 'distribute-nodes.yaml'));
  const usual = { transportPort: 8953, keepalivePort: 8954, cancelPort: 8955 };
  assert.deepEqual(nodes, [
    { name: 'lab1', host: '192.0.2.11', labels: ['apptainer', 'gpu', 'python3'], ...usual },
    {
      name: 'lab2',
      host: 'lab2.example.org',
      labels: ['python3', 'lab2-3'],
      ...usual,
      transportPort: 9000,
    },
  ]);
  const needing = (...needs: string[]) =>
    runnableNodes({ needs, solver: null, jobs: [JOB] }, nodes);
  const lab1 = { nodes: ['lab1'], total: 2, unmet: [], tooLarge: [] };
  assert.deepEqual(needing('gpu', 'python3'), lab1);
  const nobody = { nodes: [], total: 2, unmet: ['cuda'], tooLarge: [] };
  assert.deepEqual(needing('gpu', 'lab2-3', 'cuda'), nobody);
  const solver = {
    kind: 'apptainer',
    image: 'a.sif',
    isFile: true,
    gpu: false,
    mounts: [],
  };
  const contained = { needs: ['python3'], solver: solver as ContainerSolver, jobs: [JOB] };
  assert.deepEqual(
    runnableNodes(contained, nodes),
    lab1,
    'what a container is run by is a need too',
  );
});

test('mistakes in the nodes file', (context) => {
  const text = `nodes:
  - {ip: 192.0.2.11, name: lab1, capabilites: []}
  - {ip: 192.0.2.12, name: lab1, capabilities: [], cancel_port: 70000}
`;
  assert.deepEqual(
    problemsOf(context, text, (file) => void readSeedNodes(file)),
    [
      'd.yaml:2:5: nodes[0].capabilities: is missing, or has no value',
      "d.yaml:2:34: nodes[0]: unknown key 'capabilites'. Did you mean 'capabilities'?",
      "d.yaml:3:28: nodes[1].name: 'lab1' is the name of node 1 already",
      'd.yaml:3:65: nodes[1].cancel_port: expected a port, from 1 to 65535',
    ],
  );
});
