// What is PBS's own: its ids, its statuses, its words. What it has in common with all is in
// test/contract/adaptors.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SiteOutput } from '../../../../../src/wings/sites/adaptors/adaptor.ts';
import { pbs } from '../../../../../src/wings/sites/adaptors/pbs/pbs.ts';
import { schedulingOff } from '../../../../../src/wings/sites/adaptors/pbs/steer.ts';
import { bytesOf } from '../../../../../src/wings/sites/adaptors/pbs/values.ts';
import { documented } from './recorded.ts';

const adaptor = pbs(schedulingOff());
const output = (name: string) => documented(`pbs/${name}.txt`);

function jobs() {
  const read = adaptor.jobs.read(output('jobs'));
  assert.ok(read.ok);
  return new Map(read.value.map((job) => [job.id, job]));
}

test('a job of several nodes has its memory on each, and may want them for itself', () => {
  const job = jobs().get('16.head');
  assert.deepEqual(
    [job?.nodeCount, job?.cpuCount, job?.memoryBytes, job?.isExclusive, job?.walltimeMs],
    [2, 4, 1024 ** 3, true, 36_000_000],
  );
});

test('an array is those of its elements that wait, and the others are jobs', () => {
  const ids = [...jobs().keys()].filter((id) => id.startsWith('13'));
  assert.deepEqual(ids, ['13[].head', '13[0].head', '13[2].head']);
  assert.equal(adaptor.element('13[].head', 4), '13[4].head');
});

test('a name that looks like a number is a name', () => {
  assert.equal(jobs().get('19.head')?.name, '2026');
});

test('a status below 0 is no end of a program, but for the limits that pbs_mom keeps', () => {
  const of = (name: string) => {
    const read = adaptor.end?.('1').read(output(name));
    assert.ok(read?.ok);
    return read.value;
  };
  assert.deepEqual(of('end.walltime')?.exit, { signal: 9 });
  assert.match(of('end.walltime')?.reason ?? '', /exceeded resource walltime/);
  assert.deepEqual(of('end.walltime-old')?.exit, { signal: 15 });
  assert.equal(of('end.not-started'), null);
  assert.equal(of('end.cancelled-waiting'), null);
  assert.deepEqual(of('end.code'), {
    startedAt: Date.UTC(2026, 10, 22, 18, 5, 9),
    endedAt: Date.UTC(2026, 10, 22, 18, 20, 29),
    exit: { code: 3 },
    reason: null,
  });
});

test('one question is for the ends of all elements of an array', () => {
  const ends = adaptor.ends?.('13[].head') ?? assert.fail('no history');
  assert.deepEqual(ends.command.argv.slice(0, 3), ['qstat', '-x', '-t']);
  const { stdout } = output('end.code');
  const [id = ''] = /\d+\.head/.exec(stdout) ?? [];
  const read = ends.read({ stdout: stdout.replaceAll(id, '13[4].head'), stderr: '', code: 0 });
  assert.ok(read.ok);
  assert.deepEqual(
    [...read.value].map(([index, { exit }]) => [index, exit]),
    [[4, { code: 3 }]],
  );
  assert.ok(!ends.read(output('no-history')).ok);
});

test('a job that only the history has is known no more, and a server without one is told', () => {
  assert.deepEqual(adaptor.known?.('21.head').read(output('finished.known')), {
    ok: true,
    value: false,
  });
  const finished = adaptor.cancel('21.head').read(output('cancel.finished'));
  assert.ok(!finished.ok && finished.error.kind === 'no_such_job');
  const none = adaptor.end?.('21.head').read(output('no-history'));
  assert.ok(none !== undefined && !none.ok && none.error.kind === 'refused');
  assert.match(none.error.text, /not configured to maintain job history/);
});

test('a submission asks for chunks, and a node is switched by pbsnodes', () => {
  const { argv } = adaptor.submit({
    name: 'weft-c1-1',
    script: 'true\n',
    scriptFile: '/s',
    queue: 'workq',
    account: 'wing',
    walltimeMs: 90_500,
    nodeCount: 2,
    cpuCount: 2,
    memoryBytes: 1_048_577,
    directory: '/d',
    stdout: '/d/out',
    stderr: '/d/err',
    options: ['-p', '5'],
  }).command;
  assert.deepEqual(argv, [
    ...['qsub', '-N', 'weft-c1-1', '-S', '/bin/sh', '-r', 'n', '-m', 'n'],
    ...['-o', '/d/out', '-e', '/d/err', '-l', 'select=2:ncpus=2:mem=1025kb'],
    ...['-l', 'place=scatter', '-l', 'walltime=91', '-q', 'workq', '-A', 'wing', '-p', '5'],
  ]);
  assert.deepEqual(adaptor.setNode({ node: 'n3', kind: 'stop', reason: 'disk' }), [
    { argv: ['pbsnodes', '-C', 'disk', '-o', 'n3'] },
  ]);
  assert.deepEqual(adaptor.setNode({ node: 'n3', kind: 'restore', reason: 'd'.repeat(90) }), [
    { argv: ['pbsnodes', '-C', 'd'.repeat(80), '-r', 'n3'] },
  ]);
  assert.deepEqual(adaptor.setNode({ node: 'n3', kind: 'restore' }), [
    { argv: ['pbsnodes', '-C', '', '-r', 'n3'] },
  ]);
});

test('a node is open unless an operator has it offline, also while it is down', () => {
  const { stdout, ...rest } = output('nodes.off');
  const read = adaptor.nodes.read({
    ...rest,
    stdout: stdout.replace('state-unknown,down', 'offline,down'),
  });
  assert.ok(read.ok);
  const open = (nodes: typeof read.value) =>
    nodes.map(({ parts }) => parts?.map((one) => one.isOpen));
  assert.deepEqual(open(read.value), [[false], [false], [false], [true]]);
  const before = adaptor.nodes.read(output('nodes.off'));
  assert.ok(before.ok);
  assert.deepEqual(open(before.value)[1], [true]);
});

test('a server without nodes says nothing of them', () => {
  const none = adaptor.nodes.read(output('nodes.none'));
  assert.ok(!none.ok && none.error.kind === 'unreadable');
});

test('steering needs scheduling off, and starts a job on named nodes', () => {
  const [off] = adaptor.steering?.requirements ?? [];
  assert.deepEqual(off?.query.read(output('server.off')), { ok: true, value: true });
  assert.deepEqual(off?.query.read(output('server.on')), { ok: true, value: false });
  assert.deepEqual(adaptor.steering?.start({ id: '11.head', handle: null }, ['n2', 'n4']), [
    { argv: ['qrun', '-H', '(n2)+(n4)', '11.head'] },
  ]);
  const gone = adaptor.steering?.read(output('run.gone'), 'qrun');
  assert.ok(gone?.ok === false && gone.error.kind === 'no_such_job');
  const twice = adaptor.steering?.read(output('run.twice'), 'qrun');
  assert.ok(twice?.ok === false && twice.error.kind === 'refused');
  const node = { stdout: '', stderr: 'Unknown node n1', code: 1 };
  const unknown = adaptor.steering?.read(node, 'pbsnodes');
  assert.ok(unknown?.ok === false && unknown.error.text === 'pbsnodes: Unknown node n1');
});

/** What a job that waits is listed with; the fields are beside or instead of its own. */
function waiting(fields: object, wants: object) {
  const request = { ncpus: 2, nodect: 1, place: 'pack', select: '1:ncpus=2', ...wants };
  const job = { Job_Name: 'a', Job_Owner: 'alice@login1', job_state: 'Q', queue: 'workq' };
  const Jobs = { '7.head': { ...job, Resource_List: request, ...fields } };
  return { stdout: JSON.stringify({ pbs_version: '23.06.06', Jobs }), stderr: '', code: 0 };
}

function read(output: SiteOutput, of = adaptor) {
  const read = of.jobs.read(output);
  assert.ok(read.ok && read.value[0] !== undefined);
  return read.value[0];
}

test('[G16] what a job wants of its nodes is read, or it is held for what nobody plans', () => {
  const asks = (select: string, wants: object = {}) => {
    const chunks = select.split('+').map((one) => Number(/^\d+/.exec(one)?.[0] ?? 1));
    const nodect = chunks.reduce((sum, count) => sum + count);
    const job = read(waiting({}, { place: 'free', select, nodect, ...wants }));
    assert.equal(job.isHeldByUs ?? false, job.state === 'held');
    const { queues, ...where } = job.where ?? {};
    if (job.state === 'waiting') assert.deepEqual(queues, ['workq']);
    return job.state === 'waiting' ? [job.nodeCount, where] : (job.reason ?? '');
  };
  const planned: readonly (readonly [select: string, nodeCount: number, where: object])[] = [
    ['1:ncpus=2', 1, {}],
    ['ncpus=2:mem=1gb:mpiprocs=2:ompthreads=1', 1, {}],
    ['3:ncpus=2', 3, {}],
    ['1:ncpus=2:host=n2', 1, { only: ['n2'] }],
    ['1:ncpus=2:vnode=n2:host=n2', 1, { only: ['n2'] }],
    ['1:ncpus=1:host=n1+1:host=n3:ncpus=1', 2, { only: ['n1', 'n3'] }],
    ['1:mem=1gb:host=n1+1:host=n3:mem=1048576kb', 2, { only: ['n1', 'n3'] }],
    ['2:ncpus=1:host=n1+1:ncpus=2:host=n1', 1, { only: ['n1'] }],
    ['2:ncpus=1:big=True:arch=linux', 2, { features: ['big', 'linux'] }],
  ];
  for (const [select, nodeCount, where] of planned) {
    assert.deepEqual(asks(select), [nodeCount, where], select);
  }
  assert.deepEqual(asks('4:ncpus=1', { place: 'pack:excl' }), [1, {}]);
  assert.deepEqual(asks('1:ncpus=2+1:ncpus=1', { place: 'pack' }), [1, {}]);
  assert.deepEqual(asks('1:ncpus=2', { host: 'n2', walltime: '01:00:00', cput: 60 }), [
    ...[1, { only: ['n2'] }],
  ]);
  const held: readonly (readonly [select: string, words: RegExp, wants?: object])[] = [
    ['1:ncpus=1:ngpus=2', /^it asks for ngpus=2 \(-l\), which Weft does not plan; without/],
    ['1:big=False', /big=False \(-l\)/],
    ['1:ncpus=1', /license=3 \(-l\)/, { license: 3 }],
    ['1:ncpus=1:software="a:host=n1"', /software="a \(-l\)/],
    ['1:host=a b', /host=a b \(-l\)/],
    ['1:ncpus=1+1:ncpus=2', /chunks of several sizes/],
    ['1:mem=1gb+1:mem=2gb', /chunks of several sizes/],
    ['1:big=True+1:ncpus=1', /nodes of several kinds/],
    ['1:host=n1+2:ncpus=0', /some of its nodes, and others beside/],
    ['2:host=n1+1:host=n2', /some of its nodes, and others beside/],
    ['2:host=n1', /some of its nodes/, { place: 'scatter' }],
    ['1:host=n1:vnode=n2', /one node with several names/],
    ['1:host=n1+1:host=n2', /one node with several names/, { place: 'pack' }],
    ['2:ncpus=1', /\(-l place=group=rack\)/, { place: 'scatter:group=rack' }],
  ];
  for (const [select, words, wants] of held) assert.match(String(asks(select, wants)), words);
  const blind = read(waiting({}, { select: undefined }));
  assert.match(`${blind.state} ${blind.reason}`, /^held it asks for something .*no select/);
});

test('[G16] only a plan of ours needs to know where a job is to run', () => {
  const plain = read(
    waiting({ comment: 'Not Running: no gpus' }, { select: '1:ngpus=1' }),
    pbs(null),
  );
  assert.deepEqual(
    [plain.state, plain.reason, plain.where, plain.isHeldByUs],
    ['waiting', 'Not Running: no gpus', undefined, undefined],
  );
  const own = read(waiting({ job_state: 'H', comment: 'held by bob' }, { select: '1:ngpus=1' }));
  assert.deepEqual([own.state, own.reason, own.isHeldByUs], ['held', 'held by bob', undefined]);
  const runs = { job_state: 'R', exec_host: 'n1/0*2+n2/0*2' };
  const running = read(waiting(runs, { select: '4:ncpus=1:ngpus=1', place: 'pack' }));
  assert.deepEqual([running.state, running.nodeCount, running.where], ['running', 2, undefined]);
});

test('[G16] a job that is to begin later is held until then', () => {
  const later = jobs().get('15.head');
  assert.deepEqual(
    [later?.state, later?.reason],
    ['held', 'until Mon Nov 23 06:00:00 2026 (qsub -a)'],
  );
});

test('[G16] what is true of a node is a feature of it', () => {
  const of = (resources_available: object) => {
    const nodes = { n1: { state: 'free', resources_available } };
    const listed = adaptor.nodes.read({
      stderr: '',
      code: 0,
      stdout: JSON.stringify({ pbs_version: '23.06.06', nodes }),
    });
    return listed.ok && listed.value[0]?.features;
  };
  assert.deepEqual(of({ arch: 'linux', big: 'True', red: 'False', ncpus: 2 }), ['linux', 'big']);
  assert.deepEqual(of({ ncpus: 2 }), []);
});

test('[G20] what we say of a job to its user is its comment, where nobody else has written one', () => {
  const { notes } = adaptor.steering ?? {};
  const argvOf = (words: string | null) => notes?.write('7.head', words).map(({ argv }) => argv);
  assert.deepEqual(argvOf('it asks for a="b", c=d'), [
    ['qalter', '-W', `comment="weft: it asks for a='b', c=d"`, '7.head'],
  ]);
  assert.deepEqual(argvOf(null), [['qalter', '-W', 'comment=', '7.head']]);
  // The closing quote comes back as a blank.
  const listed = waiting({ comment: 'weft: no room on n1 ' }, {});
  assert.deepEqual(notes?.written?.read(listed), {
    ok: true,
    value: new Map([['7.head', 'no room on n1']]),
  });
  const withComment = (comment: string) => {
    const { note, reason } = read(waiting({ comment }, {}));
    return [note, reason];
  };
  assert.deepEqual(withComment('weft: no room on n1 '), [undefined, null]);
  const own = 'Not Running: Insufficient amount of resource: ncpus ';
  assert.deepEqual(withComment(own), [undefined, own]);
  assert.deepEqual(withComment('ask bob'), [null, 'ask bob']);
});

test('sizes are read in words and bytes', () => {
  assert.deepEqual(['2kb', '2kw', '3GB', '7', '', 'many'].map(bytesOf), [
    ...[2048, 16_384, 3 * 1024 ** 3, 7, null, null],
  ]);
});
