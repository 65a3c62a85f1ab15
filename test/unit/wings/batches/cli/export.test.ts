// `weft batch export slurm`: the folder it writes, run by a stand-in for Slurm that starts at once
// what is submitted. A real one runs it in test/e2e/slurm.test.ts.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { runWeft } from '../../../../../src/kernel/cli/main.ts';
import { makeFolder } from '../../../../support/folder.ts';
import { capture, type Said } from '../../../kernel/cli/fake-head.ts';
import { assertRefused, textOf, treeOf } from './local-runs.ts';

/** Runs the script where it was submitted, with the number of tasks that it asks for. */
const SBATCH = `#!/bin/bash
echo "$(basename "$PWD") $*" >> "$RECORD"
for script; do :; done
export SLURM_SUBMIT_DIR=$PWD SLURM_JOB_ID=$(wc -l < "$RECORD")
SLURM_NTASKS=$(sed -n 's/^#SBATCH --ntasks=//p' "$script")
if [ -n "$SLURM_NTASKS" ]; then export SLURM_NTASKS; else unset SLURM_NTASKS; fi
cd / && bash "$SLURM_SUBMIT_DIR/$script" > "$SLURM_SUBMIT_DIR/stdout" 2> "$SLURM_SUBMIT_DIR/stderr"
echo "$SLURM_JOB_ID;cluster"
`;
/** Nothing is queued any more when somebody asks. */
const SQUEUE = '#!/bin/sh\nexit 1\n';
/** Writes down its words and leaves a result where the container would. */
const APPTAINER = `#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word"; done > "$WEFT_SAVE/words"
cp "$WEFT_INPUT"/* "$WEFT_SAVE/"
`;
const PROGRAMS = { 'bin/sbatch': SBATCH, 'bin/squeue': SQUEUE };

function exported(cwd: string, ...argv: string[]): Promise<Said> {
  return capture(
    cwd,
    { program: 'weft', argv: ['batch', 'export', 'slurm', 'out', ...argv], cwd },
    runWeft,
  );
}

/** What `submit.sh` says, and which folders it submitted. */
function submit(
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): { code: number | null; lines: string[] } {
  const record = path.join(cwd, 'record');
  const PATH = `${path.join(cwd, 'bin')}:${process.env['PATH']}`;
  const { status, stdout, stderr } = spawnSync('bash', [path.join(cwd, 'out/submit.sh')], {
    cwd: '/',
    env: { ...process.env, PATH, RECORD: record, ...env },
    encoding: 'utf8',
  });
  return { code: status, lines: `${stdout}${stderr}`.trimEnd().split('\n') };
}

function makeBatch(context: TestContext, files: Readonly<Record<string, string>>): string {
  return makeFolder(context, { ...PROGRAMS, ...files });
}

const BUILT = {
  'weft.batch.yaml': `namespace: lab
name: heat
solver: {build: build.sh}
files: [rod, grids]
defaults: {run: job.sh}
jobs:
  - {name: one, args: [1, "it's $HOME", "{{cpus}}"], files: [{path: a, as: own}], slurm: {ntasks: 3}}
  - {name: two words, args: [2]}
`,
  'build.sh':
    '#!/bin/sh\necho built from $(cat input/rod) > solver; echo lost > distribute_save/x\n',
  'job.sh': `#!/bin/sh
echo "$@" > distribute_save/args; cp solver input/* distribute_save/ 2> /dev/null
ls > distribute_save/listing
[ ! -e "$FAIL.$1" ]
`,
  rod: 'steel',
  'grids/coarse': '',
  a: 'A',
};

test('build and jobs, inputs, arguments, results; only what is not done is submitted again', async (context) => {
  const cwd = makeBatch(context, BUILT);
  const said = await exported(cwd);
  assert.equal(said.code, 0, said.error);
  assert.match(
    said.out,
    /^Wrote 2 jobs of lab\/heat to out\.\n {2}out\/upload\.sh USER@HOST:FOLDER /,
  );
  const FAIL = path.join(cwd, 'fail');
  writeFileSync(`${FAIL}.2`, '');
  const first = submit(cwd, { FAIL });
  assert.deepEqual(first.lines, [
    ...['build: submitted as 1', 'jobs/one: submitted as 2', 'jobs/two words: submitted as 3'],
  ]);
  assert.deepEqual(textOf(cwd, 'record').trimEnd().split('\n'), [
    'build --parsable build.sl',
    'one --parsable --dependency=afterok:1 --kill-on-invalid-dep=yes job.sl',
    'two words --parsable --dependency=afterok:1 --kill-on-invalid-dep=yes job.sl',
  ]);
  const result = (...names: string[]) => textOf(cwd, 'out/jobs', ...names);
  assert.equal(result('one/results/args'), "1 it's $HOME 3\n");
  assert.equal(result('one/results/solver'), 'built from steel\n');
  assert.equal(result('one/results/own'), 'A');
  const listing = 'build.sh distribute_save input job.sh solver';
  assert.equal(result('one/results/listing').trimEnd().replaceAll('\n', ' '), listing);
  assert.equal(result('two words/exit_code'), '1\n');
  assert.equal(result('two words/results/args'), '2\n', 'what a failed job has made is kept');
  assert.ok(!existsSync(path.join(cwd, 'out/jobs/one/work')));
  rmSync(`${FAIL}.2`);
  assert.deepEqual(submit(cwd, { FAIL }).lines, [
    ...['jobs/one: done', 'jobs/two words: submitted as 4'],
  ]);
  assert.deepEqual(submit(cwd, { FAIL }).lines, ['jobs/one: done', 'jobs/two words: done']);
  const again = await exported(cwd);
  assert.match(again.out, /^Wrote 2 jobs of lab\/heat to out; 2 results in it stay\.$/m);
  assert.deepEqual(submit(cwd, { FAIL }).lines, ['jobs/one: done', 'jobs/two words: done']);
  writeFileSync(path.join(cwd, 'a'), 'B');
  assert.match((await exported(cwd)).out, /; 1 result in it stay/);
  assert.deepEqual(submit(cwd, { FAIL }).lines, [
    ...['jobs/one: submitted as 5', 'jobs/two words: done'],
  ]);
  assert.equal(result('one/results/own'), 'B');
});

test('apptainer, without mounts and with them, is started by the words of a node', async (context) => {
  for (const mounts of [[], ['/output', '/scratch/a']]) {
    const cwd = makeBatch(context, {
      'distribute-jobs.yaml': `meta: {batch_name: b, namespace: n, capabilities: [apptainer]}
apptainer:
  initialize: {sif: {path: wing.sif}, required_files: [mesh], required_mounts: [${mounts}]}
  jobs: [{name: re100, required_files: [{path: a, alias: input.json}], slurm: {time: "00:05:00"}}]
slurm: {ntasks: 4, time: 00:30:00}
`,
      'wing.sif': 'image',
      mesh: 'mesh',
      a: '{}',
      'bin/apptainer': APPTAINER,
    });
    const said = await exported(cwd);
    assert.equal(said.code, 0, said.error);
    assert.match(said.error, /not in the export: needs; name a partition under slurm:/);
    assert.deepEqual(submit(cwd).lines, ['jobs/re100: submitted as 1']);
    const job = path.join(cwd, 'out/jobs/re100');
    const binds = [`${job}/results:/distribute_save:rw`, `${job}/work/input:/input:rw`];
    binds.push(...mounts.map((mount, at) => `${job}/work/_bind_path_${at}:${mount}:rw`));
    assert.deepEqual(textOf(job, 'results/words').trimEnd().split('\n'), [
      ...['run', '--nv', '--app', 'distribute', '--bind', binds.join(',')],
      ...[`${job}/../../files/image`, '4'],
    ]);
    assert.equal(textOf(job, 'results/input.json'), '{}');
    assert.equal(textOf(cwd, 'out/files/image'), 'image');
    assert.match(textOf(job, 'job.sl'), /^#SBATCH --time=00:05:00$/m);
    assert.equal(textOf(job, 'exit_code'), '0\n');
  }
});

test("python of the seed's file: run.py with the tasks, initial_files for the build", async (context) => {
  const cwd = makeBatch(context, {
    'distribute-jobs.yaml': `meta: {batch_name: b, namespace: n, capabilities: []}
python:
  initialize: {build_file: compile.py, required_files: [always.csv]}
  jobs: [{name: one, file: execute.py}]
slurm: {ntasks: 2}
`,
    'compile.py': `import os
names = " ".join(sorted(os.listdir(".")))
open("found", "w").write(names)
`,
    'execute.py': `import os, sys
with open(os.environ["WEFT_SAVE"] + "/said", "w") as said:
    print(sys.argv, open("found").read(), sorted(os.listdir("input")), file=said)
`,
    'always.csv': '',
  });
  assert.equal((await exported(cwd)).code, 0);
  submit(cwd);
  assert.equal(
    textOf(cwd, 'out/jobs/one/results/said'),
    "['run.py', '2'] distribute_save initial_files input run.py ['always.csv']\n",
  );
});

test('docker loads its archive once where jobs run', async (context) => {
  const docker = `#!/bin/sh
loads=$WEFT_SAVE/../../../loads
case $1 in
  image) [ -s "$loads" ] || exit 1; echo sha256:07; exit ;;
  load) echo "$@" >> "$loads"; echo "Loaded image: wing:7"; exit ;;
esac
for word in "$@"; do printf '%s\\n' "$word"; done > "$WEFT_SAVE/words"
`;
  const cwd = makeBatch(context, {
    'b.yaml':
      'namespace: n\nname: b\nsolver: {docker: wing.tar}\njobs: [{name: one, args: [x]}, {name: two}]\n',
    'wing.tar': 'image',
    'bin/docker': docker,
  });
  assert.equal((await exported(cwd, 'b.yaml')).code, 0);
  submit(cwd);
  const words = textOf(cwd, 'out/jobs/one/results/words').trimEnd().split('\n');
  const name = ['--name', 'weft-1', '--user', `${process.getuid?.()}:${process.getgid?.()}`];
  assert.deepEqual(words.slice(0, 9), ['run', '--rm', '--init', '--pull', 'never', ...name]);
  assert.deepEqual(words.slice(-2), ['sha256:07', 'x']);
  assert.match(
    textOf(cwd, 'out/loads'),
    /^load --input .*\/out\/jobs\/one\/..\/..\/files\/image\n$/,
  );
  assert.match(textOf(cwd, 'out/jobs/two/results/words'), /^sha256:07\n/m);
});

const NO_RSYNC = spawnSync('rsync', ['--version']).status === 0 ? false : 'no rsync here';

test('upload.sh takes what is to be run, and leaves what has come of it', {
  skip: NO_RSYNC,
}, async (context) => {
  const cwd = makeBatch(context, { ...BUILT, 'there/': '' });
  assert.equal((await exported(cwd, '--to', 'alice@login:jobs')).code, 0);
  assert.match(textOf(cwd, 'out/upload.sh'), /^to=\$\{1:-alice@login:jobs\}$/m);
  submit(cwd);
  const upload = (...argv: string[]) =>
    spawnSync('bash', [path.join(cwd, 'out/upload.sh'), ...argv], { cwd: '/', encoding: 'utf8' });
  const done = upload(path.join(cwd, 'there'));
  assert.equal(done.status, 0, done.stderr);
  assert.match(done.stdout, /^Submit lab\/heat there: out\/submit\.sh$/m);
  const there = treeOf(path.join(cwd, 'there'));
  assert.ok(there.includes('out/jobs/one/files/input/own'), there.join('\n'));
  const results = there.filter((name) =>
    /results|products|exit_code|slurm_id|\/inputs$/.test(name),
  );
  assert.deepEqual(results, []);
  assert.equal((await exported(cwd)).code, 0);
  const nowhere = upload();
  assert.equal(nowhere.status, 2);
  assert.match(nowhere.stderr, /say where to: upload\.sh USER@HOST:FOLDER/);
});

test('only an export of the same batch is written over', async (context) => {
  const cwd = makeBatch(context, { ...BUILT, 'out/precious': 'mine' });
  assertRefused(await exported(cwd), 'batch.not_an_export');
  assert.deepEqual(treeOf(path.join(cwd, 'out')), ['precious']);
  rmSync(path.join(cwd, 'out'), { recursive: true });
  writeFileSync(path.join(cwd, 'out'), 'a file');
  assertRefused(await exported(cwd), 'batch.not_an_export');
  rmSync(path.join(cwd, 'out'));
  assert.equal((await exported(cwd)).code, 0);
  const other = readFileSync(path.join(cwd, 'weft.batch.yaml'), 'utf8').replace('heat', 'cold');
  writeFileSync(path.join(cwd, 'other.yaml'), other);
  assertRefused(await exported(cwd, 'other.yaml'), 'batch.not_an_export');
});

test('another system and a place that is none are refused', async (context) => {
  const cwd = makeBatch(context, BUILT);
  const pbs = await capture(
    cwd,
    { program: 'weft', argv: ['batch', 'export', 'pbs', 'out'], cwd },
    runWeft,
  );
  assert.match(pbs.error, /'pbs' is no system to export to; write slurm/);
  const { code, error } = await exported(cwd, '--to', '--rsh=evil');
  assert.equal(code, 2);
  assert.match(error, /--to: '--rsh=evil' is no place for rsync/);
});
