// What is HTCondor's own: its submit description, its removals, its slots. What it has in common
// with all is in test/contract/adaptors.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { htcondor } from '../../../../../src/wings/sites/adaptors/htcondor/htcondor.ts';
import { documented } from './recorded.ts';

const adaptor = htcondor(null);
const output = (name: string) => documented(`htcondor/${name}.txt`);

const SUBMISSION = {
  name: 'weft-c1-1',
  script: 'true\n',
  queue: null,
  account: 'wing',
  walltimeMs: 90_500,
  scriptFile: `/scratch/it's "$HOME"/script`,
  nodeCount: 1,
  cpuCount: 2,
  memoryBytes: 1_048_577,
  directory: '/scratch/$(X)',
  stdout: '/scratch/o',
  stderr: '/scratch/e',
  options: [],
};

test('a description has each value on its line, with its dollars and quotes kept', () => {
  const { argv, input = '' } = adaptor.submit(SUBMISSION).command;
  assert.deepEqual(argv, ['condor_submit', '-terse', '-batch-name', 'weft-c1-1', '-']);
  const lines = input.split('\n');
  assert.ok(lines.includes(`arguments = "'/scratch/it''s ""$(DOLLAR)HOME""/script'"`));
  assert.ok(lines.includes('initialdir = /scratch/$(DOLLAR)(X)'));
  assert.ok(lines.includes('request_memory = 2'));
  assert.ok(lines.includes('accounting_group = wing'));
  const evil = adaptor.submit({ ...SUBMISSION, account: 'wing\nqueue 100' }).command.input ?? '';
  assert.equal(evil.split('\n').filter((line) => /^queue/.test(line)).length, 1);
});

test('a job that has begun is never begun again, and is removed after its limit', () => {
  const input = adaptor.submit(SUBMISSION).command.input ?? '';
  assert.match(input, /^requirements = .*NumShadowStarts == 0$/m);
  assert.match(input, /^periodic_remove = .*JobStatus == 1 && .*NumShadowStarts > 0\) \|\| /m);
  assert.match(input, /time\(\) - JobCurrentStartDate > 91\)$/m);
});

test('a cluster of several processes is known by its number', () => {
  const { read } = adaptor.submit(SUBMISSION);
  assert.deepEqual(read(output('submit.cluster')), { ok: true, value: '32' });
  assert.equal(adaptor.element('32', 3), '32.3');
});

test('a job that was removed after it began was killed, and one removed before has no end', () => {
  const of = (name: string) => adaptor.end?.('1').read(output(name));
  assert.deepEqual(of('end.cancelled'), {
    ok: true,
    value: {
      startedAt: 1_795_370_709_000,
      endedAt: 1_795_371_629_000,
      exit: { signal: 9 },
      reason: 'via condor_rm (by user alice)',
    },
  });
  assert.deepEqual(of('end.cancelled-waiting'), { ok: true, value: null });
});

test('an expression is no value', () => {
  const read = adaptor.jobs.read(output('jobs'));
  assert.ok(read.ok);
  const of = (id: string) => read.value.find((job) => job.id === id);
  assert.equal(of('12.0')?.memoryBytes, null);
  assert.deepEqual([of('11.0')?.memoryBytes, of('11.0')?.walltimeMs], [1_048_576_000, 3_600_000]);
});

test('a job that is being removed is cancelled already', () => {
  assert.deepEqual(adaptor.cancel('18.0').read(output('cancel.again')), { ok: true, value: null });
});

test('a pool without machines says nothing of them, and a schedd elsewhere is named', () => {
  const none = adaptor.nodes.read(output('empty'));
  assert.ok(!none.ok && none.error.kind === 'unreadable');
  const far = htcondor('second@head');
  for (const { argv } of [far.jobs.command, far.cancel('1.0').command]) {
    assert.equal(argv[argv.indexOf('-name') + 1], 'second@head');
  }
});

test('a machine goes off without ending what runs on it', () => {
  assert.deepEqual(adaptor.setNode({ node: 'n3', kind: 'stop', reason: 'disk' }), [
    { argv: ['condor_off', '-peaceful', '-daemon', 'startd', '-name', 'n3'] },
  ]);
});
