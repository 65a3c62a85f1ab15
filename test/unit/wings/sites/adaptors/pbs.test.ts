// What is PBS's own: its ids, its statuses, its words. What it has in common with all is in
// test/contract/adaptors.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
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
    ...{ exit: { code: 3 }, reason: null },
  });
});

test('a job that only the history has is known no more, and a server without one is told', () => {
  assert.deepEqual(adaptor.known?.('21.head').read(output('finished.known')), {
    ...{ ok: true, value: false },
  });
  const finished = adaptor.cancel('21.head').read(output('cancel.finished'));
  assert.ok(!finished.ok && finished.error.kind === 'no_such_job');
  const none = adaptor.end?.('21.head').read(output('no-history'));
  assert.ok(none !== undefined && !none.ok && none.error.kind === 'refused');
  assert.match(none.error.text, /not configured to maintain job history/);
});

test('a submission asks for chunks, and a node is switched by pbsnodes', () => {
  const { argv } = adaptor.submit({
    ...{ name: 'weft-c1-1', script: 'true\n', scriptFile: '/s', queue: 'workq', account: 'wing' },
    ...{ walltimeMs: 90_500, nodeCount: 2, cpuCount: 2, memoryBytes: 1_048_577 },
    ...{ directory: '/d', stdout: '/d/out', stderr: '/d/err', options: ['-p', '5'] },
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

test('sizes are read in words and bytes', () => {
  assert.deepEqual(['2kb', '2kw', '3GB', '7', '', 'many'].map(bytesOf), [
    ...[2048, 16_384, 3 * 1024 ** 3, 7, null, null],
  ]);
});
