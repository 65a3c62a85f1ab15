// `weft batch run --local`: what a job finds, what is kept of it, and by which words it is started.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { physicalCores } from '../../../../../src/wings/batches/batch/cores.ts';
import { makeFolder } from '../../../../support/folder.ts';
import { manifestOf, runLocally, runWith, textOf, treeOf } from './local-runs.ts';

test("the seed's contract: run.py with the cores, input, save folder, output text", async (context) => {
  const cwd = makeFolder(context, {
    'distribute-jobs.yaml': `meta: {batch_name: sweep, namespace: wing, capabilities: [python3]}
python:
  initialize:
    build_file: compile.py
    required_files: [always.csv, {path: mesh2.dat, alias: mesh.dat}]
  jobs:
    - name: job_1
      file: execute.py
      required_files: [{path: sometimes.csv, alias: dataset.csv}]
    - {name: job_2, file: {path: execute.py}}
`,
    'compile.py': `import os, sys
print("building", sys.argv, sorted(os.listdir(".")), sorted(os.listdir("input")))
open("solver", "w").write("solver")
open("distribute_save/of-the-build", "w").write("")
with open(os.environ["BUILDS"], "a") as builds: builds.write("x")
`,
    'execute.py': `import os, sys
print(sys.argv, sorted(os.listdir(".")))
print(sorted(os.listdir("input")), os.listdir("distribute_save"), file=sys.stderr)
assert os.environ["WEFT_INPUT"] == os.path.abspath("input"), os.environ["WEFT_INPUT"]
assert os.environ["WEFT_SAVE"] == os.path.abspath("distribute_save")
for name in ["stale", "input/stale"]: open(name, "w").write("")
open("distribute_save/mesh", "w").write(open("input/mesh.dat").read() + open("solver").read())
`,
    'always.csv': 'always',
    'mesh2.dat': 'mesh ',
    'sometimes.csv': 'sometimes',
  });
  const builds = path.join(cwd, 'builds');
  const { code, out, error } = await runWith(cwd, { BUILDS: builds });
  assert.equal(code, 0, `${out}${error}`);
  assert.match(error, /^weft: needs \(python3\) are for nodes; not looked at here\n$/);
  assert.match(out, /^wing\/sweep: 2 jobs to run$/m);
  assert.match(out, /^2 of 2 jobs completed; results: archive\/wing\/sweep$/m);
  assert.equal(textOf(builds), 'x', 'built once');
  const archive = path.join(cwd, 'archive');
  assert.deepEqual(
    treeOf(archive).filter((name) => !name.includes('_build')),
    [
      ...['wing/', 'wing/sweep/', 'wing/sweep/_batch.json'],
      ...['wing/sweep/job_1/', 'wing/sweep/job_1/job_1_output.txt', 'wing/sweep/job_1/mesh'],
      ...['wing/sweep/job_2/', 'wing/sweep/job_2/job_2_output.txt', 'wing/sweep/job_2/mesh'],
    ],
  );
  const found = "'distribute_save', 'initial_files', 'input', 'run.py', 'solver'";
  const cores = physicalCores();
  assert.equal(
    textOf(archive, 'wing/sweep/job_1/job_1_output.txt'),
    `STDOUT:\n['run.py', '${cores}'] [${found}]\n\nSTDERR:\n['always.csv', 'dataset.csv', 'mesh.dat'] []\n`,
  );
  assert.equal(
    textOf(archive, 'wing/sweep/job_2/job_2_output.txt'),
    `STDOUT:\n['run.py', '${cores}'] [${found}]\n\nSTDERR:\n['always.csv', 'mesh.dat'] []\n`,
    'nothing of another job is there',
  );
  assert.equal(textOf(archive, 'wing/sweep/job_2/mesh'), 'mesh solver');
  const { node } = manifestOf(path.join(archive, 'wing/sweep/job_1'));
  assert.match(
    textOf(archive, 'wing/sweep/_build', `${node}.log`),
    /^building \['run\.py'\] \['distribute_save', 'initial_files', 'input', 'run\.py'\] \['always\.csv', 'mesh\.dat'\]$/m,
  );
});

test('a sweep without a build: arguments, values, variables, jobs side by side', async (context) => {
  const cwd = makeFolder(context, {
    'weft.batch.yaml': `namespace: lab
name: side
sweep: {re: [1, 2]}
jobs: [{run: job.sh, args: ["{{re}}", "{{cpus}}"], cpus: 2, files: [{path: "in{{re}}", as: in}]}]
`,
    // Each waits for the other: one after the other they would never end.
    'job.sh': `#!/bin/sh
touch "$MEET/$1"
while [ ! -e "$MEET/1" ] || [ ! -e "$MEET/2" ]; do sleep 0.01; done
echo "$WEFT_BATCH $WEFT_JOB_NAME $WEFT_CPUS $2 $OMP_NUM_THREADS $(cat input/in)"
`,
    in1: 'one',
    in2: 'two',
    'meet/': '',
  });
  const meet = path.join(cwd, 'meet');
  const { code, out, error } = await runWith(cwd, { MEET: meet }, '--at-once', '2');
  assert.equal(code, 0, `${out}${error}`);
  const said = (job: string) => textOf(cwd, 'archive/lab/side', job, '_weft/stdout');
  assert.equal(said('re1'), 'lab/side re1 2 2 2 one\n');
  assert.equal(said('re2'), 'lab/side re2 2 2 2 two\n');
  assert.deepEqual(treeOf(path.join(cwd, 'archive/lab/side')), ['_batch.json', 're1/', 're2/']);
});

test('variables, order and gpus of jobs hold in a local run, and what is for a queue is told', async (context) => {
  const cwd = makeFolder(context, {
    'weft.batch.yaml': `namespace: lab
name: order
env: {SEED: 7, A: batch}
solver: {build: build.sh}
defaults: {run: job.sh, partition: big, priority: 3}
jobs:
  - {name: last, after: [bad, first], needs: [fast]}
  - {name: next, after: [first], env: {A: own}, gpus: 0}
  - {name: first}
  - {name: bad, args: [bad]}
  - {name: never, after: [last]}
`,
    'build.sh': '#!/bin/sh\necho "$SEED $A"\n',
    'job.sh':
      '#!/bin/sh\necho "$SEED $A"; date +%s%N > distribute_save/at; test "$1" != bad && test -z "$WEFT_GPUS$CUDA_VISIBLE_DEVICES"\n',
  });
  const { code, out, error } = await runLocally(cwd, '--at-once', '2');
  assert.equal(code, 1, `${out}${error}`);
  assert.match(error, /needs \(fast\) are for nodes/);
  assert.match(error, /partition, priority are for the queue of a cluster; not looked at here/);
  assert.match(out, /last not started: it comes after bad, which did not complete/);
  assert.match(out, /never not started: it comes after last, which did not complete/);
  assert.match(out, /^2 of 5 jobs completed/m);
  const archive = path.join(cwd, 'archive/lab/order');
  assert.equal(textOf(archive, 'next/_weft/stdout'), '7 own\n');
  assert.equal(textOf(archive, 'first/_weft/stdout'), '7 batch\n');
  const { node, startedAt } = manifestOf(path.join(archive, 'next'));
  assert.equal(textOf(archive, `_build/${node}.log`), '7 batch\n');
  assert.ok(manifestOf(path.join(archive, 'first')).endedAt <= startedAt);
  writeFileSync(
    path.join(cwd, 'weft.batch.yaml'),
    textOf(cwd, 'weft.batch.yaml').replace('[bad]', '[good]'),
  );
  const again = await runLocally(cwd, '--resume');
  assert.equal(again.code, 0, `${again.out}${again.error}`);
  assert.match(again.out, /3 jobs to run, 2 completed before/);
});

test('[B13] what a job leaves outside of its save folder is named as not kept', async (context) => {
  const cwd = makeFolder(context, {
    'weft.batch.yaml': 'namespace: lab\nname: out\nfiles: [mesh]\njobs: [{name: a, run: job.sh}]\n',
    mesh: 'mesh',
    'job.sh':
      '#!/bin/sh\nmkdir fields\nprintf 12345 > fields/x\nprintf 123 > run.log\ncp input/mesh distribute_save/\n',
  });
  const { code, out } = await runLocally(cwd);
  assert.equal(code, 0);
  const said = 'not kept, as outside distribute_save/: fields/, run.log (2 files, 8 bytes)';
  assert.ok(out.includes(`\n  ${said}\n`), out);
  const { outside } = manifestOf(path.join(cwd, 'archive/lab/out/a'));
  assert.deepEqual(outside, { files: 2, bytes: 8, names: ['fields/', 'run.log'] });
});

test('gpus that a machine has not are refused before the first job', async (context) => {
  const cwd = makeFolder(context, {
    'weft.batch.yaml':
      'namespace: lab\nname: g\njobs: [{name: a, run: job.sh, cpus: 1, gpus: 99}]\n',
    'job.sh': '#!/bin/sh\n',
  });
  const { code, error } = await runLocally(cwd);
  assert.equal(code, 2);
  assert.match(error, /job a asks for 99 gpus; this machine has 1/);
});

test('a missing apptainer is told once, before the first job', async (context) => {
  const cwd = makeFolder(context, {
    'weft.batch.yaml':
      'namespace: lab\nname: c\nsolver: {image: a.sif}\njobs: [{name: a}, {name: b}]\n',
    'a.sif': '',
  });
  const { error, out } = await runWith(cwd, { PATH: '/usr/bin:/bin' });
  assert.match(error, /apptainer is not found on \S+, in PATH=\/usr\/bin:\/bin/);
  assert.doesNotMatch(out, /could not start/);
});

test('outputs keep what they are: folders, modes, times, links, holes, names that are no text', async (context) => {
  const cwd = makeFolder(context, {
    'b.yaml': `namespace: lab
name: kinds
jobs: [{name: a, run: job.sh}]
outputs: ['**', '!*.tmp', '!scratch/']
`,
    'job.sh': `#!/bin/sh
cd distribute_save
mkdir -p nested/deep empty scratch/x locked
printf deep > nested/deep/file; : > zero; printf no > a.tmp; printf no > scratch/x/y
printf run > program; chmod 4755 program
touch -d 2020-02-02T02:02:02Z zero
ln -s nested/deep/file inside; ln -s ../../outside outside; ln -s /etc/passwd absolute
mkfifo pipe
truncate -s 64M hole; printf end >> hole
printf odd > "$(printf 'odd\\377name')"
printf secret > locked/file; chmod 555 locked
mkdir _weft; printf mine > _weft/manifest.json
`,
  });
  const { code, out, error } = await runLocally(cwd, 'b.yaml', '--save-dir', 'kept');
  assert.equal(code, 0, `${out}${error}`);
  const job = path.join(cwd, 'kept/lab/kinds/a');
  const odd = 'odd\ufffdname';
  assert.deepEqual(treeOf(job), [
    ...['empty/', 'hole', 'inside', 'locked/', 'locked/file', 'nested/', 'nested/deep/'],
    ...['nested/deep/file', odd, 'program', 'zero'],
  ]);
  assert.equal(statSync(path.join(job, 'program')).mode & 0o7777, 0o755);
  assert.equal(statSync(path.join(job, 'locked')).mode & 0o7777, 0o555);
  assert.equal(statSync(path.join(job, 'zero')).mtime.toISOString(), '2020-02-02T02:02:02.000Z');
  assert.equal(readlinkSync(path.join(job, 'inside')), 'nested/deep/file');
  const hole = lstatSync(path.join(job, 'hole'));
  assert.equal(hole.size, 64 * 1_048_576 + 3);
  assert.ok(hole.blocks * 512 < 8 * 1_048_576, `${hole.blocks} blocks: holes stay holes`);
  const { entries, leftOut, logs } = manifestOf(job);
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  assert.equal(byPath.get('inside')?.target, 'nested/deep/file');
  assert.equal(byPath.get(odd)?.pathBytes, Buffer.from('odd\xffname', 'latin1').toString('base64'));
  const deep = createHash('sha256').update('deep').digest('hex');
  assert.equal(byPath.get('nested/deep/file')?.sha256, deep);
  assert.deepEqual(
    leftOut.map((one) => `${one.path}: ${one.why}`),
    [
      '_weft: _weft is for what the archive itself says',
      '_weft/manifest.json: _weft is for what the archive itself says',
      'absolute: it is a link that leaves the folder, to /etc/passwd',
      'outside: it is a link that leaves the folder, to ../../outside',
      'pipe: it is a device, pipe or socket',
    ],
  );
  assert.deepEqual(
    logs.map((entry) => entry.path),
    ['_weft/stdout', '_weft/stderr'],
  );
  chmodSync(path.join(job, 'locked'), 0o755);
});

test('folders and links are given as they are, and a file of the job stands over one of the batch', async (context) => {
  const cwd = makeFolder(context, {
    'b.yaml': `namespace: lab
name: inputs
files: [grids, {path: x, as: conf}, link]
jobs: [{name: a, run: job.sh, files: [{path: y, as: conf}]}, {name: b, run: job.sh}]
`,
    'job.sh': `#!/bin/sh
cd input; find . | sort; cat conf grids/link link; test -x grids/tool && echo runs; rm -r *
`,
    'grids/deep/coarse': 'coarse\n',
    'grids/empty/': '',
    'grids/tool': '#!/bin/sh\n',
    x: 'x\n',
    y: 'y\n',
  });
  execFileSync('ln', ['-s', 'deep/coarse', path.join(cwd, 'grids', 'link')]);
  execFileSync('ln', ['-s', 'x', path.join(cwd, 'link')]);
  const { code, out, error } = await runLocally(cwd, 'b.yaml');
  assert.equal(code, 0, `${out}${error}`);
  const names = ['.', './conf', './grids', './grids/deep', './grids/deep/coarse'];
  names.push('./grids/empty', './grids/link', './grids/tool', './link');
  for (const [job, conf] of [
    ['a', 'y'],
    ['b', 'x'],
  ]) {
    const said = textOf(cwd, 'archive/lab/inputs', job ?? '', '_weft/stdout');
    assert.equal(said, `${[...names, conf, 'coarse', 'x', 'runs'].join('\n')}\n`);
  }
  assert.equal(textOf(cwd, 'grids/deep/coarse'), 'coarse\n', 'a job works on copies');
});

/** Stands for a container runtime: writes down its words, and acts as the container would. */
const RECORDER = `#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word"; done >> "$RECORD"
if [ "$1" = image ]; then echo sha256:07; exit; fi
if [ "$1" = load ]; then echo "Loaded image: wing:7"; exit; fi
save=$(printf '%s\\n' "$@" | sed -n 's#\\(.*[,=]\\)\\{0,1\\}\\(/[^:,]*\\):/distribute_save:rw.*#\\2#p')
echo result > "$save/result"
`;

test('apptainer is started by the exact words of a node', async (context) => {
  const cwd = makeFolder(context, {
    'distribute-jobs.yaml': `meta: {batch_name: b, namespace: n, capabilities: []}
apptainer:
  initialize: {sif: {path: wing.sif}, required_mounts: [/output, /scratch/a]}
  jobs: [{name: one}]
`,
    'wing.sif': 'image',
    'bin/apptainer': RECORDER,
  });
  const record = path.join(cwd, 'record');
  const PATH = `${path.join(cwd, 'bin')}:${process.env['PATH']}`;
  const { code, out, error } = await runWith(cwd, { PATH, RECORD: record });
  assert.equal(code, 0, `${out}${error}`);
  const work = path.join(cwd, 'archive/n/b/_work/jobs/one');
  const binds = [`${work}/distribute_save:/distribute_save:rw`, `${work}/input:/input:rw`];
  binds.push(`${work}/_bind_path_0:/output:rw`, `${work}/_bind_path_1:/scratch/a:rw`);
  assert.deepEqual(textOf(record).trimEnd().split('\n'), [
    ...['run', '--nv', '--app', 'distribute', '--bind', binds.join(',')],
    ...[path.join(cwd, 'wing.sif'), String(physicalCores())],
  ]);
  assert.equal(textOf(cwd, 'archive/n/b/one/result'), 'result\n');
});

test('singularity is what apptainer is called where only that is there', async (context) => {
  const cwd = makeFolder(context, {
    'distribute-jobs.yaml': `meta: {batch_name: b, namespace: n, capabilities: [singularity]}
singularity: {initialize: {sif: wing.sif}, jobs: [{name: one}]}
`,
    'wing.sif': 'image',
    'bin/singularity': RECORDER,
  });
  const record = path.join(cwd, 'record');
  const PATH = `${path.join(cwd, 'bin')}:${process.env['PATH']}`;
  const { code, out, error } = await runWith(cwd, { PATH, RECORD: record });
  assert.equal(code, 0, `${out}${error}`);
  assert.equal(textOf(cwd, 'archive/n/b/one/result'), 'result\n');
});

test('docker loads an image once, and runs it under a name for each job', async (context) => {
  const cwd = makeFolder(context, {
    'b.yaml': `namespace: n
name: b
solver: {docker: wing.tar}
jobs: [{name: one, cpus: 1, memory: 64M, args: [go]}, {name: two, cpus: 1}]
`,
    'wing.tar': 'image',
    'bin/docker': RECORDER,
  });
  const record = path.join(cwd, 'record');
  const PATH = `${path.join(cwd, 'bin')}:${process.env['PATH']}`;
  const { code, out, error } = await runWith(cwd, { PATH, RECORD: record }, 'b.yaml');
  assert.equal(code, 0, `${out}${error}`);
  const words = textOf(record).trimEnd().split('\n');
  const load = words.indexOf('load');
  assert.deepEqual(words.slice(load + 1, load + 3), ['--input', path.join(cwd, 'wing.tar')]);
  assert.equal(words.filter((word) => word === 'load').length, 1);
  assert.equal(words.filter((word) => word === 'sha256:07').length, 2, 'by its number');
  const [one, two] = words.filter((_, at) => words[at - 1] === '--name');
  assert.match(one ?? '', /^weft-[0-9a-f]{16}$/);
  assert.notEqual(one, two);
  assert.equal(words[words.indexOf('--memory') + 1], String(64 * 1_048_576));
  assert.equal(textOf(cwd, 'archive/n/b/two/result'), 'result\n');
});

test('a folder that containers cannot be told of is refused before anything is made', async (context) => {
  const cwd = makeFolder(context, {
    'b.yaml': 'namespace: n\nname: b\nsolver: {docker: debian:12}\njobs: [{name: one}]\n',
  });
  const { code, error } = await runLocally(cwd, 'b.yaml', '--save-dir', 'a:b');
  assert.equal(code, 2);
  assert.match(error, /--save-dir: containers cannot be given .*a:b.*a ':' or ','/);
});

test('--local is asked for, and --at-once is a number', async (context) => {
  const cwd = makeFolder(context, { 'job.sh': '#!/bin/sh\n' });
  writeFileSync(
    path.join(cwd, 'b.yaml'),
    'namespace: n\nname: b\njobs: [{name: a, run: job.sh}]\n',
  );
  const none = await runLocally(cwd, 'b.yaml', '--at-once', '0');
  assert.equal(none.code, 2);
  assert.match(none.error, /--at-once: '0' is less than 1/);
  assert.deepEqual(treeOf(path.join(cwd, 'archive')), []);
});
