// What is evidence of an end at another Weft, and what is only a word of its head.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { weft } from '../../../../../src/wings/sites/adaptors/weft/weft.ts';

const adaptor = weft(['weft', '--dir', '/b']);
const end = adaptor.end?.('7') ?? assert.fail('no accounting');

/** A job that is done, or as it is said here. */
function jobWith(change: object) {
  const job = {
    id: 7,
    name: 'a',
    owner: 'ann',
    state: 'done',
    array: null,
    endedAt: 1_795_381_180_593,
    outcome: { kind: 'completed', detail: null },
    exit: { code: 0 },
    ...change,
  };
  return { stdout: JSON.stringify(job), stderr: '', code: 0 };
}

function exitOf(change: object) {
  const read = end.read(jobWith(change));
  return read.ok ? (read.value?.exit ?? null) : read.error.text;
}

test('an exit that a process decided is evidence, and no other', () => {
  assert.deepEqual(exitOf({}), { code: 0 });
  assert.deepEqual(exitOf({ outcome: { kind: 'failed' }, exit: { code: 3 } }), { code: 3 });
  assert.deepEqual(exitOf({ outcome: { kind: 'timeout' }, exit: { signal: 15 } }), { signal: 15 });
  assert.equal(exitOf({ outcome: { kind: 'node_fail' }, exit: null }), null);
  assert.equal(exitOf({ outcome: { kind: 'node_fail' }, exit: { code: 0 } }), null);
  // It ended by itself while it was being cancelled.
  assert.equal(exitOf({ outcome: { kind: 'cancelled' }, exit: { code: 0 } }), null);
  assert.equal(exitOf({ array: '0-3' }), null);
  assert.equal(exitOf({ state: 'running', outcome: null, exit: null, endedAt: null }), null);
});

test('the environment of the gateway does not say which cluster it is', () => {
  const { argv } = adaptor.jobs.command;
  assert.equal(argv[0], 'env');
  for (const name of ['WEFT_HEAD', 'WEFT_SOCKET', 'WEFT_TOKEN']) {
    assert.equal(argv[argv.indexOf(name) - 1], '-u');
  }
  assert.deepEqual(argv.slice(argv.indexOf('weft'), argv.indexOf('weft') + 4), [
    ...['weft', '--dir', '/b', 'jobs'],
  ]);
});

test('a submission is the same job however often it is sent, and never starts twice', () => {
  const { argv } = adaptor.submit({
    name: 'weft-1',
    script: 'secret',
    scriptFile: '/s/1/script',
    queue: 'p',
    account: null,
    walltimeMs: 60_000,
    nodeCount: 1,
    cpuCount: 2,
    memoryBytes: 1,
    directory: '/s/1',
    stdout: '/s/1/out',
    stderr: '/s/1/err',
    options: ['--qos=low'],
  }).command;
  assert.deepEqual(argv.slice(argv.indexOf('run')), [
    ...['run', '--key=weft-1', '--name=weft-1', '--no-requeue', '--clean-env'],
    ...['--nodes=1', '--cpus=2', '--chdir=/s/1', '--output=/s/1/out', '--error=/s/1/err'],
    ...['--partition=p', '--time=60000ms', '--memory=1M', '--qos=low'],
    ...['--', '/bin/sh', '/s/1/script'],
  ]);
});
