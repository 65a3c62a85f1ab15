// From what was written to a batch: names, the sweep, arguments, and everything that is wrong at
// once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatPlace } from '../../../../../src/kernel/files/problem.ts';
import { compileBatch } from '../../../../../src/wings/batches/core/compile.ts';
import type { WrittenBatch } from '../../../../../src/wings/batches/core/written.ts';
import { PLAIN_BATCH_JOB } from '../plain-batch.ts';

const SMALL: WrittenBatch = {
  namespace: 'alice_wing',
  name: 'sweep_01',
  solver: { build: 'build.py' },
  jobs: [{ name: 're100', run: 'job.py' }],
};

function compiled(more: Partial<WrittenBatch>) {
  return compileBatch({ ...SMALL, ...more }, 'weft');
}

function problemsOf(more: Partial<WrittenBatch>): string[] {
  return compiled(more).problems.map(({ at, what }) => `${formatPlace(at)}: ${what}`);
}

function namesOf(more: Partial<WrittenBatch>): string[] {
  const { batch, problems } = compiled(more);
  assert.deepEqual(problems, []);
  return batch.jobs.map(({ name }) => name);
}

test('the smallest batch, and what holds where nothing is said', () => {
  const { batch, problems, uses } = compiled({});
  assert.deepEqual(problems, []);
  assert.deepEqual(uses, [
    { path: 'build.py', at: ['solver', 'build'], must: 'program' },
    { path: 'job.py', at: ['jobs', 0, 'run'], must: 'program' },
  ]);
  assert.deepEqual(batch.jobs, [
    {
      ...PLAIN_BATCH_JOB,
      name: 're100',
      run: { path: 'job.py', as: 'job.py' },
      args: ['{{cpus}}'],
      files: [],
    },
  ]);
  assert.deepEqual(batch.outputs, ['**']);
});

test('a sweep makes a job of every combination, the last key changing fastest', () => {
  const sweep = { re: [100, 200, 400], mesh: ['a', 'b'] };
  const names = ['re100-a', 're100-b', 're200-a', 're200-b', 're400-a', 're400-b'];
  assert.deepEqual(namesOf({ sweep, jobs: [{ run: 'job.py' }] }), names);
  const { jobs: _, ...rest } = SMALL;
  const { batch, problems } = compileBatch({ ...rest, sweep, defaults: { run: 'job.py' } }, 'weft');
  assert.deepEqual(problems, []);
  assert.deepEqual(
    batch.jobs.map(({ name }) => name),
    names,
  );
});

test('a name takes the values where it says so, and behind it where it does not', () => {
  const sweep = { re: [100, 200], on: [true] };
  assert.deepEqual(namesOf({ sweep, jobs: [{ name: 'wing', run: 'job.py' }] }), [
    'wing-re100-true',
    'wing-re200-true',
  ]);
  assert.deepEqual(namesOf({ sweep, jobs: [{ name: 'w{{ re }}_{{on}}', run: 'job.py' }] }), [
    'w100_true',
    'w200_true',
  ]);
});

test('values are filled into arguments, files and their names; cpus wait for the start', () => {
  const jobs = [
    {
      run: 'job-{{re}}.py',
      args: ['--re={{re}}', '{{cpus}}', 7, false, '{{ re }}{{re}}'],
      files: [{ path: 'in/{{re}}.json', as: '{{re}}.json' }],
    },
  ];
  const { batch, uses, problems } = compiled({ sweep: { re: [1, 2] }, jobs });
  assert.deepEqual(problems, []);
  const [, second] = batch.jobs;
  assert.deepEqual(second?.run, { path: 'job-2.py', as: 'job-2.py' });
  assert.deepEqual(second?.args, ['--re=2', '{{cpus}}', '7', 'false', '22']);
  assert.deepEqual(second?.files, [{ path: 'in/2.json', as: '2.json' }]);
  assert.deepEqual(
    uses.map(({ path }) => path),
    ['build.py', 'job-1.py', 'in/1.json', 'job-2.py', 'in/2.json'],
  );
});

test('a job says more than the defaults', () => {
  const defaults = { cpus: 2, memory: '2G', time: '30m', retries: 1 };
  const jobs = [{ name: 'a', run: 'job.py', cpus: 4, time: 'none' }];
  const [job] = compiled({ defaults, jobs }).batch.jobs;
  assert.equal(job?.cpuCount, 4);
  assert.equal(job?.memoryBytes, 2 * 1024 ** 3);
  assert.equal(job?.walltimeMs, null);
  assert.equal(job?.retriesMax, 1);
});

test('where in the queue, on which nodes and with which variables a job runs', () => {
  const env = { SEED: 7, A: 'batch' };
  const defaults = { run: 'job.py', partition: 'big', qos: 'low', priority: -5, gpus: 1, cpus: 2 };
  const jobs = [
    { name: 'a' },
    { name: 'b', partition: 'small', qos: 'high', priority: 10, gpus: 2, needs: ['fast'] },
    { name: 'c', env: { A: 'own', B: true }, after: ['a', 'b'] },
  ];
  const { batch, problems } = compiled({ env, defaults, jobs, needs: ['gpu'] });
  assert.deepEqual(problems, []);
  assert.deepEqual(batch.env, { A: 'batch', SEED: '7' });
  const [a, b, c] = batch.jobs;
  assert.deepEqual([a?.partition, a?.qos, a?.priority, a?.gpuCount], ['big', 'low', -5, 1]);
  assert.deepEqual([b?.partition, b?.qos, b?.priority, b?.gpuCount], ['small', 'high', 10, 2]);
  assert.deepEqual([b?.needs, c?.env, c?.after], [['fast'], { A: 'own', B: 'true' }, ['a', 'b']]);
});

test('a job of a sweep comes after the job of its own values', () => {
  const jobs = [
    { name: 'mesh{{re}}', run: 'mesh.py', env: { RE: '{{re}}' } },
    { name: 'solve{{re}}', run: 'job.py', after: ['mesh{{re}}'] },
  ];
  const { batch, problems } = compiled({ sweep: { re: [1, 2] }, jobs });
  assert.deepEqual(problems, []);
  assert.deepEqual(
    batch.jobs.map(({ name, after, env }) => [name, after, env]),
    [
      ['mesh1', [], { RE: '1' }],
      ['mesh2', [], { RE: '2' }],
      ['solve1', ['mesh1'], {}],
      ['solve2', ['mesh2'], {}],
    ],
  );
});

const NO_GPU = 'but a job with `cpus` and without `gpus` gets no gpu';

test('what a job asks for may stand at the top: of each job that does not say it itself', () => {
  const top = {
    gpus: 1,
    partition: 'big',
    qos: 'low',
    priority: 3,
    cpus: 2,
    time: '1h',
    retries: 1,
  };
  const jobs = [
    { name: 'a', run: 'job.py' },
    { name: 'b', run: 'job.py', gpus: 0, qos: 'high' },
  ];
  const { batch, problems } = compiled({ ...top, memory: '1G', jobs });
  assert.deepEqual(problems, []);
  const same = compiled({ defaults: { ...top, memory: '1G' }, jobs }).batch.jobs;
  assert.deepEqual(batch.jobs, same);
  assert.deepEqual(
    batch.jobs.map(({ gpuCount, qos, partition }) => [gpuCount, qos, partition]),
    [
      [1, 'low', 'big'],
      [0, 'high', 'big'],
    ],
  );
  const twice = problemsOf({ gpus: 1, defaults: { gpus: 2, cpus: 1 }, jobs });
  assert.deepEqual(twice, ['gpus: stands in defaults, too; write it in one of the two places']);
  assert.match(
    problemsOf({ priority: 1000, jobs })[0] ?? '',
    /^priority: '1000': expected a whole/,
  );
  assert.match(problemsOf({ cpus: 4, needs: ['gpu'], jobs })[0] ?? '', /^cpus: needs 'gpu'/);
});

test('[B12] who needs a node with gpus and names cpus says how many gpus', () => {
  const asking = (needs: string[], more: object) =>
    problemsOf({ jobs: [{ name: 'a', run: 'job.py', needs, ...more }] });
  for (const need of ['gpu', 'gpu=a100', 'gpu & !old', '(gpu | gpus) & fast', 'GPU']) {
    const [said = '', ...others] = asking([need], { cpus: 4 });
    assert.ok(said.startsWith(`jobs[0].cpus: needs '${need}', ${NO_GPU}; write \`gpus: 1\``), said);
    assert.deepEqual(others, []);
    assert.deepEqual(asking([need], {}), [], 'a whole node has its gpus');
    for (const gpus of [0, 1]) assert.deepEqual(asking([need], { cpus: 4, gpus }), []);
  }
  for (const need of ['fast', '!gpu', 'gpu | fast', 'gpurdy', 'no-gpu']) {
    assert.deepEqual(asking([need], { cpus: 4 }), []);
  }
  const defaults = { cpus: 4 };
  assert.match(problemsOf({ needs: ['gpu'], defaults })[0] ?? '', /^defaults\.cpus: needs 'gpu'/);
  const solver = { docker: 'debian:12', gpu: true };
  const [inside] = problemsOf({ solver, jobs: [{ name: 'a', cpus: 1 }] });
  assert.ok(inside?.startsWith(`jobs[0].cpus: \`solver.gpu\` is true, ${NO_GPU}`), inside);
  const [none] = problemsOf({ solver, jobs: [{ name: 'a', cpus: 1, gpus: 0 }] });
  assert.match(none ?? '', /gives the container gpus, and this job asks for 0/);
});

test('a batch has so many arrays at most', () => {
  const env = (at: number) => ({ NUMBER: at });
  const jobs = Array.from({ length: 1001 }, (_, at) => ({
    name: `j${at}`,
    run: 'a',
    env: env(at),
  }));
  assert.deepEqual(problemsOf({ jobs: jobs.slice(1) }), []);
  assert.deepEqual(problemsOf({ jobs }), [
    'jobs: 1001 sets of jobs differ in what they ask for, in env or in after; at most 1000: give what differs from job to job in args or files',
  ]);
});

test('each container is known by its key; a .tar is a file and a name is none', () => {
  const jobs = [{ name: 'a' }];
  const mounts = ['/data'];
  const solver = (written: WrittenBatch['solver']) => {
    const { batch, problems, uses } = compiled({ solver: written as object, jobs });
    assert.deepEqual(problems, []);
    return { ...batch.solver, uses: uses.length };
  };
  const image = 'solver.sif';
  const base = { gpu: false, mounts: [] };
  assert.deepEqual(solver({ image, mounts, gpu: true }), {
    kind: 'apptainer',
    image,
    isFile: true,
    mounts,
    gpu: true,
    uses: 1,
  });
  assert.deepEqual(solver({ docker: 'out/solver.tar.gz' }), {
    kind: 'docker',
    image: 'out/solver.tar.gz',
    isFile: true,
    ...base,
    uses: 1,
  });
  assert.deepEqual(solver({ podman: 'example.org:5000/a/b:1.2' }), {
    kind: 'podman',
    image: 'example.org:5000/a/b:1.2',
    isFile: false,
    ...base,
    uses: 0,
  });
});

test('a batch without a solver runs the programs of its jobs', () => {
  const { solver: _, ...rest } = SMALL;
  const { batch, problems } = compileBatch(rest, 'weft');
  assert.deepEqual(problems, []);
  assert.equal(batch.solver, null);
});

test("a job's file may have the name of one of the batch, whose place it takes", () => {
  const files = [{ path: 'base.json', as: 'input.json' }];
  const jobs = [{ name: 'a', run: 'job.py', files: [{ path: 'x.json', as: 'input.json' }] }];
  assert.deepEqual(problemsOf({ files, jobs }), []);
});

const LONG = 'n'.repeat(4096);
const NAMES: readonly (readonly [name: string, said: RegExp])[] = [
  ['', /is empty/],
  ['a/b', /'a\/b' has a separator \//],
  ['a\\b', /has a separator \\/],
  ['.', /'\.' is no name/],
  ['..', /'\.\.' is no name/],
  ['a\0b', /NUL character/],
  ['a\nb', /control characters/],
  ['a\u202eb', /control characters/],
  ['\ud800', /not valid UTF-8/],
  [LONG, /4096 bytes; at most 200/],
  ['é'.repeat(101), /202 bytes; at most 200/],
  ['-rf', /begins with '-'/],
  ['.hidden', /begins with '\.'/],
  [' a', /begins or ends with a blank/],
];

for (const [name, said] of NAMES) {
  test(`${JSON.stringify(name.slice(0, 12))} names no namespace, batch, job or file`, () => {
    const jobs = [{ name, run: 'job.py' }];
    for (const [at, more] of Object.entries({
      namespace: { namespace: name },
      name: { name },
      'jobs[0].name': { jobs },
    })) {
      const [problem = '', ...others] = problemsOf(more);
      assert.ok(problem.startsWith(`${at}: `), problem);
      assert.match(problem, said);
      assert.deepEqual(others, []);
    }
  });
}

const WRONG: readonly (readonly [Partial<WrittenBatch>, ...said: string[]])[] = [
  [
    { name: 'a@2' },
    "name: 'a@2' has an '@', which stands before the number of a version, as in sweep_01@2",
  ],
  [{ jobs: [] }, 'jobs: a batch needs at least one job'],
  [{ jobs: [{ run: 'job.py' }] }, "jobs[0]: needs 'name'"],
  [{ jobs: [{ name: 'a' }] }, "jobs[0]: needs 'run': the program of this job"],
  [
    { jobs: [{ name: '_build', run: 'job.py' }] },
    "jobs[0].name: '_build' is a name of the archive's own",
  ],
  [
    {
      jobs: [
        { name: 'a', run: 'job.py' },
        { name: 'b', run: 'job.py' },
        { name: 'a', run: 'job.py' },
      ],
    },
    "jobs[2].name: 'a' is the name of job 1 already",
  ],
  [
    { sweep: { re: [1, 2] }, jobs: [{ name: 'x{{re}}y{{rf}}', run: 'job.py' }] },
    "jobs[0].name: {{rf}} is no key of the sweep. Did you mean 're'?",
  ],
  [
    { sweep: { re: [1], mesh: ['a', 'b'] }, jobs: [{ name: 'x{{re}}', run: 'job.py' }] },
    "jobs[0].name: 'x1' comes more than once out of the sweep; let the name have all of its keys",
  ],
  [
    { jobs: [{ name: 'a-{{cpus}}', run: 'job.py' }] },
    'jobs[0].name: {{cpus}} is known only when the job starts; it may stand in args',
  ],
  [
    { files: ['{{re}}.json'] },
    'files[0]: {{…}} stands for a value of the sweep, which only jobs have',
  ],
  [{ sweep: { re: [1, 1] }, jobs: [{ run: 'a.py' }] }, "sweep.re[1]: '1' is there twice"],
  [
    { sweep: { mesh: ['a/b'] }, jobs: [{ run: 'a.py' }] },
    "jobs[0]: 'a/b' has a separator /; write one name",
  ],
  [
    { sweep: { a: [...Array(400).keys()], b: [...Array(400).keys()] } },
    'sweep: makes 160000 jobs; a batch has at most 100000',
  ],
  [{ solver: {} }, 'solver: needs one of build, image (of apptainer), docker or podman'],
  [
    { solver: { build: 'build.py', docker: 'x.tar' } },
    "solver.docker: 'build' is there already; a batch has one solver: build, image (of apptainer), docker or podman",
  ],
  [
    { solver: { image: 'x.sif' } },
    'jobs[0].run: a container runs its own program; leave this out, and give it `args`',
  ],
  [{ solver: { build: 'b.py', mounts: ['/x'] } }, 'solver.mounts: only a container has mounts'],
  [
    { solver: { docker: '--privileged' }, jobs: [{ name: 'a' }] },
    "solver.docker: '--privileged' is neither an archive (.tar) nor the name of an image, as debian:12",
  ],
  [
    {
      solver: { image: 'a.sif', mounts: ['data', '/a:/b', '/a/../b', '/input', '/x', '/x'] },
      jobs: [{ name: 'a' }],
    },
    ...["'data'", "'/a:/b'", "'/a/../b'"].map(
      (mount, at) =>
        `solver.mounts[${at}]: ${mount}: expected a path in the container that begins with / and has no ':', ',' or '..'`,
    ),
    "solver.mounts[3]: '/input' is mounted already",
    "solver.mounts[5]: '/x' is mounted already",
  ],
  [
    { solver: { build: { path: 'b.py', as: 'input' } } },
    "solver.build.as: 'input' is the name of a folder that every job has; give another one with 'as'",
  ],
  [
    { files: ['a/x', { path: 'y', as: 'x' }, '..', '', 'a\0b', { path: 'z', as: '../z' }] },
    "files[1]: 'x' is the name of file 1 of this list already; give one another name with 'as'",
    "files[2]: '..' has no name of its own; give it one with 'as'",
    'files[3]: is empty; write the path of a file',
    'files[4]: the path has a NUL character in it',
    "files[5].as: '../z' has a separator /; write one name",
  ],
  [{ files: [LONG] }, 'files[0]: the path has 4096 bytes; at most 4095'],
  [
    { defaults: { cpus: 1.5, memory: 2, time: '0s', retries: 1e6 } },
    "defaults.cpus: '1.5': expected a whole number, at least 1",
    "defaults.retries: '1000000': expected a whole number from 0 to 1000",
    "defaults.memory: '2' has no unit; write 2M or 2G",
    "defaults.time: '0s' is no time; write none for no limit",
  ],
  [
    { jobs: [{ name: 'a', run: 'b.py', args: ['x\0', 'y'.repeat(131_072)] }] },
    'jobs[0].args[0]: the argument has a NUL character in it',
    'jobs[0].args[1]: the argument has 131072 bytes; at most 131071',
  ],
  [
    { defaults: { gpuMemory: '20', gpuShare: '8X' } },
    "defaults.gpuMemory: '20' has no unit; write 20M or 20G",
    "defaults.gpuShare: '8X' is not a size; write 512M, 4G, 4GiB, 100MB or a number of bytes",
  ],
  [
    {
      defaults: { gpuLinks: 'pcie', cpus: 1 },
      jobs: [
        { name: 'a', run: 'b.py', gpus: 1, gpuLinks: 'nvlink' },
        { name: 'b', run: 'b.py', gpus: 2, gpuLinks: 'nvlink' },
        { name: 'c', run: 'b.py', gpus: 2, gpuShare: '1G', gpuLinks: 'nvlink' },
      ],
    },
    "defaults.gpuLinks: 'pcie': expected any or nvlink",
    'jobs[0].gpuLinks: gpus that are joined are two and more, whole ones; say how many',
    'jobs[2].gpuLinks: gpus that are joined are two and more, whole ones; say how many',
  ],
  [
    { gpus: 2, gpuLinks: 'nvlink', jobs: [{ name: 'a', run: 'b.py' }] },
    'gpuLinks: a job without cpus has all gpus of its node, joined or not; give it cpus',
  ],
  [
    { defaults: { gpus: 0, gpuShare: '8G' } },
    "defaults.gpus: '0': gpuMemory and gpuShare say of which; leave one of both out",
  ],
  [
    { defaults: { gpus: -1, priority: 200, partition: 'a b', qos: '' } },
    "defaults.gpus: '-1' is not a number of gpus; write 2, or a100:2 for gpus of a type",
    "defaults.priority: '200': expected a whole number from -100 to 100, higher goes first",
    "defaults.partition: 'a b': expected a name, as `weft partition list` shows",
    "defaults.qos: '': expected a name, as `weft qos list` shows",
  ],
  [
    { env: { '1A': 'x', WEFT_JOB_ID: 1, WEFT_DIR: '/w', B: 'a\0b', C: '{{re}}', work: '/' } },
    "env.1A: '1A': expected the name of a variable, of letters, digits and _",
    "env.WEFT_JOB_ID: 'WEFT_JOB_ID' is set by Weft itself; give yours another name",
    'env.B: the variable has a NUL character in it',
    'env.C: {{…}} stands for a value of the sweep, which only jobs have',
    "env.work: 'work' is a variable of the script that starts the job; give yours another name",
  ],
  [
    { solver: { docker: 'a:1' }, env: { PATH: '/opt' }, jobs: [{ name: 'a', env: { LD_X: 1 } }] },
    "env.PATH: 'PATH' is read by docker on the node; set it in the image",
    "jobs[0].env.LD_X: 'LD_X' is read by docker on the node; set it in the image",
  ],
  [
    {
      jobs: [
        { name: 'mesh', run: 'a.py' },
        { name: 'b', run: 'a.py', after: ['mehs', 'lab/heat'] },
        { name: 'c', run: 'a.py', after: ['d'] },
        { name: 'd', run: 'a.py', after: ['mesh', 'e'] },
        { name: 'e', run: 'a.py', after: ['c'] },
      ],
    },
    "jobs[1].after[0]: 'mehs': expected the name of a job of this batch. Did you mean 'mesh'?",
    "jobs[1].after[1]: 'lab/heat': expected the name of a job of this batch. Batches stand in the `after` of the whole file.",
    'jobs[2].after: the job comes after itself: c after d after e after c',
  ],
  [{ needs: ['gpu &'] }, "needs[0]: 'gpu &': expected a label at the end"],
  [
    { outputs: ['a[', '!../x', '/etc/**', 'x\\', '!**'] },
    "outputs[0]: the pattern 'a[' has a [ without its ]",
    "outputs[1]: the pattern '!../x' has '.' or '..' in it; it is about paths inside the folder",
    "outputs[2]: the pattern '/etc/**' begins with '/', but is about what lies in the directory of the job; write 'etc/**'",
    "outputs[3]: the pattern 'x\\' ends with a '\\', which takes the next character as it is; write '\\\\' for one of its own",
    "outputs: the pattern '!**' takes everything away, and nothing after it is kept; [] says that nothing is kept",
  ],
  [
    { after: ['mesh', 'a/b/c', 'a/..'] },
    ...['mesh', 'a/b/c', 'a/..'].map(
      (text, at) =>
        `after[${at}]: '${text}': expected NAMESPACE/NAME of another batch, as alice_wing/mesh_01`,
    ),
  ],
  [
    { notify: [{}, { matrix: '@a:b', mail: 'a@b' }, { matrix: 'alice' }, { webhook: 'ftp://x' }] },
    'notify[0]: needs exactly one of matrix, webhook, command, mail',
    'notify[1]: needs exactly one of matrix, webhook, command, mail',
    "notify[2].matrix: 'alice': expected a Matrix user or room, as @alice:example.org, !id:example.org or #lab:example.org",
    "notify[3].webhook: 'ftp://x': expected a URL that begins with https:// or http://",
  ],
  [
    { slurm: { ntasks: 0, partition: 'a\nb', account: ' ' } },
    "slurm.ntasks: '0': expected a whole number, at least 1",
    'slurm.partition: has control characters or others that are not seen (U+000A); it must fit on one line of a script',
    'slurm.account: is empty; leave the key out',
  ],
];

for (const [more, ...said] of WRONG) {
  test(`wrong: ${said[0]}`, () => assert.deepEqual(problemsOf(more), said));
}
