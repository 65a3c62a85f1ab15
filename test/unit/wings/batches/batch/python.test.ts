// The Python package: what it writes is read, and its mistakes are ValueErrors.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { readBatch } from '../../../../../src/wings/batches/batch/read/read-batch.ts';
import { ROOT } from '../../../../../tools/tree.ts';
import { makeFolder } from '../../../../support/folder.ts';

const skip = spawnSync('python3', ['--version']).status === 0 ? false : 'no python3 here';

function python(context: TestContext, text: string, files: Readonly<Record<string, string>> = {}) {
  const cwd = makeFolder(context, { ...files, 'make.py': text });
  const done = spawnSync('python3', ['-I', '-c', RUN, 'make.py'], { cwd, encoding: 'utf8' });
  return { cwd, ...done };
}

/** Isolated from the machine's own packages. */
const RUN = `import sys; sys.path.insert(0, ${JSON.stringify(path.join(ROOT, 'python', 'src'))})
sys.dont_write_bytecode = True
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"))`;

test("the seed's own example, under the module's old name", { skip }, (context) => {
  const { cwd, stderr, status } = python(
    context,
    `import distribute_compute_config as distribute
meta = distribute.metadata("wing", "sweep", ["apptainer"], "@alice:example.org")
sif = distribute.file("./solver.sif", relative=True)
mesh = distribute.file("./a.h5", relative=True, alias="mesh.h5")
init = distribute.initialize(sif, [mesh], ["/solver/extra"])
jobs = [distribute.job(f"job_{n}", [distribute.file(f"./{n}.json", alias="config.json", relative=True)]) for n in (1, 2)]
slurm = distribute.slurm(output="output.txt", nodes=1, ntasks=4, mem_per_cpu="10M", time="00:30:00")
config = distribute.apptainer_config(meta, distribute.description(init, jobs), slurm=slurm)
distribute.write_config_to_file(config, "./distribute-jobs.yaml")
`,
    { 'solver.sif': '', 'a.h5': '', '1.json': '', '2.json': '' },
  );
  assert.equal(status, 0, stderr);
  const { batch } = readBatch(path.join(cwd, 'distribute-jobs.yaml'));
  assert.deepEqual(batch.notices, [{ kind: 'matrix', user: '@alice:example.org' }]);
  assert.deepEqual(batch.files, [{ path: './a.h5', as: 'mesh.h5' }]);
  assert.deepEqual(batch.solver?.kind === 'apptainer' && batch.solver.mounts, ['/solver/extra']);
  assert.deepEqual(batch.jobs[1]?.files, [{ path: './2.json', as: 'config.json' }]);
  const fields = { output: 'output.txt', nodes: '1', ntasks: '4', mem_per_cpu: '10M' };
  assert.deepEqual(batch.slurm, { ...fields, time: '00:30:00' });
});

test("the paths of the seed's documents may be texts, of files that come later", {
  skip,
}, (context) => {
  const text = (image: string) => `import distribute_compute_config as distribute
meta = distribute.metadata("test_namespace", "test_batch", ["apptainer"], "@karik:example.org")
config = distribute.file("./path/config1.json", alias="config.json", relative=True)
initialize = distribute.initialize(${image}, [config], ["/solver/extra_mount"])
description = distribute.description(initialize, jobs=[distribute.job("job_1", ["./path/b.csv"])])
distribute.write_config_to_file(distribute.apptainer_config(meta, description), "./b.yaml")
`;
  const written = ['"./path/x.sif"', 'sif="./path/x.sif"', 'sif_path="./path/x.sif"'].map(
    (image) => {
      const isNamed = image.includes('=');
      const whole = isNamed
        ? text(image).replace(', [config], [', ', required_files=[config], required_mounts=[')
        : text(image);
      const { cwd, stderr, status } = python(context, whole);
      assert.equal(status, 0, stderr);
      assert.throws(() => readBatch(path.join(cwd, 'b.yaml')), /'\.\/path' does not exist|x\.sif/);
      for (const [name, content] of Object.entries({
        'x.sif': '',
        'config1.json': '',
        'b.csv': '',
      })) {
        mkdirSync(path.join(cwd, 'path'), { recursive: true });
        writeFileSync(path.join(cwd, 'path', name), content);
      }
      const { batch } = readBatch(path.join(cwd, 'b.yaml'));
      return { solver: batch.solver, files: batch.files, own: batch.jobs[0]?.files };
    },
  );
  const image = { image: './path/x.sif', isFile: true, mounts: ['/solver/extra_mount'] };
  const expected = {
    solver: { kind: 'apptainer', ...image, gpu: false },
    files: [{ path: './path/config1.json', as: 'config.json' }],
    own: [{ path: './path/b.csv', as: 'b.csv' }],
  };
  assert.deepEqual(written, [expected, expected, expected]);
});

test('a sweep of two hundred jobs with a build script, and texts that YAML could take for something else', {
  skip,
}, (context) => {
  const { cwd, stderr, status } = python(
    context,
    `import weft_batch as batch
meta = batch.metadata("null", "1e3", [])
init = batch.initialize(build_file="build.py", required_files=["b: #c.txt"])
jobs = [batch.job(batch.sweep_name(v), file=batch.file("job.py")) for v in batch.sweep(re=range(100), mesh=["a", "yes"])]
batch.write_config_to_file(batch.python_config(meta, batch.description(init, jobs)), "b.yaml")
`,
    { 'build.py': '', 'job.py': '', 'b: #c.txt': '' },
  );
  assert.equal(status, 0, stderr);
  const { batch } = readBatch(path.join(cwd, 'b.yaml'));
  assert.deepEqual([batch.namespace, batch.name], ['null', '1e3']);
  assert.equal(batch.jobs.length, 200);
  assert.deepEqual([batch.jobs[0]?.name, batch.jobs[199]?.name], ['re0-a', 're99-yes']);
  assert.deepEqual(batch.files, [{ path: 'b: #c.txt', as: 'b: #c.txt' }]);
});

const WRONG: readonly (readonly [text: string, said: string])[] = [
  ['b.metadata("a/b", "c", [])', 'namespace: .* has a separator'],
  ['b.metadata("a", "c@2", [])', "batch_name: .* has an '@'"],
  ['b.metadata("a", "..", [])', 'batch_name: expected a name'],
  ['b.metadata("a", "b", "gpu")', 'capabilities: expected a list of texts'],
  ['b.metadata("a", "b", [], "alice")', 'matrix_username: expected @user:server'],
  ['b.file("nowhere")', 'path: .*nowhere does not exist'],
  ['b.file("x", relative=True, alias="a/b")', 'alias: .* has a separator'],
  ['b.initialize()', 'give either sif or build_file'],
  ['b.initialize("a.sif", sif_path="b.sif")', 'sif and sif_path are the same thing'],
  ['b.initialize("")', 'sif: path: expected the path of a file'],
  ['b.initialize("make.py", [], ["data"])', 'required_mounts: expected a path in the container'],
  ['b.initialize("make.py", ["make.py", "make.py"])', "two are called 'make.py'"],
  ['b.job("x\\0y")', 'name: .* has control characters'],
  ['b.job("n" * 201)', 'more than 200 bytes'],
  ['b.slurm(ntasks=0)', 'ntasks: expected a whole number, at least 1'],
  ['b.slurm(time="a\\nb")', 'time: expected a text on one line'],
  ['b.description(b.initialize("make.py"), [])', 'at least one job'],
  ['b.description(b.initialize("make.py"), [b.job("a"), b.job("a")])', 'more than one is called a'],
  ['b.description(1, [b.job("a")])', 'expected what initialize\\(\\) gives'],
  [
    'b.python_config(b.metadata("a", "b", []), b.description(b.initialize("make.py"), [b.job("a")]))',
    'needs build_file',
  ],
  [
    'b.python_config(b.metadata("a", "b", []), b.description(b.initialize(build_file="make.py"), [b.job("a")]))',
    'job a needs file',
  ],
  ['list(b.sweep(re=[]))', 're: has no values'],
];

test('mistakes are ValueErrors that say what was expected', { skip }, (context) => {
  const tries = WRONG.map(
    ([text]) => `try:\n  ${text}\n  print("taken")\nexcept ValueError as error:\n  print(error)\n`,
  );
  const { stdout, stderr } = python(context, `import weft_batch as b\n${tries.join('')}`);
  const said = stdout.trimEnd().split('\n');
  assert.equal(said.length, WRONG.length, `${stdout}${stderr}`);
  for (const [at, [text, pattern]] of WRONG.entries()) {
    assert.match(said[at] ?? '', new RegExp(pattern), text);
  }
});
