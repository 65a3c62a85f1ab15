// Requests to slurmrestd: nothing of them stands in a command line, and what it cannot do it says.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slurmrestd } from '../../../../../src/wings/sites/adaptors/slurmrestd/slurmrestd.ts';
import { recorded } from './recorded.ts';

const adaptor = slurmrestd(['curl', '--config', '/etc/weft/slurm.curl'], 'http://h:6820/v');

test('a request comes to curl by its standard input, quoted as its files have it', () => {
  const { argv, input = '' } = adaptor.submit({
    name: 'weft-1',
    script: 'secret',
    scriptFile: "/it's/script",
    queue: 'long',
    account: 'wing',
    walltimeMs: 61_000,
    nodeCount: 1,
    cpuCount: 2,
    memoryBytes: 1,
    directory: '/d',
    stdout: '/d/out',
    stderr: '/d/"err"',
    options: ['qos=low', 'nice=5'],
  }).command;
  assert.deepEqual(argv, ['curl', '--config', '/etc/weft/slurm.curl', '--config', '-']);
  const line = /^data-raw = "(.*)"$/m.exec(input)?.[1] ?? assert.fail(input);
  const body = JSON.parse(line.replaceAll(/\\(["\\])/g, '$1')) as {
    script: string;
    job: Record<string, unknown>;
  };
  assert.equal(body.script, "#!/bin/sh\nexec /bin/sh '/it'\\''s/script'\n");
  assert.deepEqual(body.job, {
    name: 'weft-1',
    current_working_directory: '/d',
    requeue: false,
    standard_output: '/d/out',
    standard_error: '/d/"err"',
    nodes: '1-1',
    cpus_per_task: 2,
    partition: 'long',
    account: 'wing',
    time_limit: 2,
    memory_per_node: 1,
    environment: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    qos: 'low',
    nice: 5,
  });
  assert.ok(!input.includes('secret'));
});

test('an answer is believed by its own list of errors and its status', () => {
  const read = (stdout: string) => {
    const answer = adaptor.cancel('1').read({ stdout, stderr: '', code: 0 });
    return answer.ok ? 'done' : `${answer.error.kind}: ${answer.error.text}`;
  };
  assert.equal(read('{"errors":[]}\n200\n'), 'done');
  assert.equal(read('{"errors":[]}\n500\n'), 'unreadable: slurmrestd: status 500 and no error');
  assert.equal(read('{}\n200\n'), "unreadable: slurmrestd: its answer has no list 'errors'");
  assert.equal(read('{"errors":[]}'), 'unreadable: slurmrestd: its answer has no status');
  assert.match(read('Authentication failure\n401\n'), /^away: slurmrestd: status 401: Auth/);
  assert.match(read('{"errors":[{"error_number":1007,"error":"x"}]}\n500\n'), /^away: /);
  const zeroBytes =
    '{"errors":[{"error_number":5005,"error":"Zero Bytes were transmitted"}]}\n500\n';
  assert.match(read(zeroBytes), /^away: /, 'as Slurm answers a wrong token');
  assert.match(read('{"errors":[{"error_number":6000,"error":"x"}]}\n500\n'), /^away: /);
  assert.match(read('{"errors":[{"error_number":7001,"error":"x"}]}\n500\n'), /^refused: /);
  assert.match(read('{"errors":[{}]}\n500\n'), /^away: slurmrestd: an error without words$/);
});

test('a version that cannot change nodes says so', () => {
  const read = adaptor.cancel('1').read(recorded('slurmrestd/node-drain.txt'));
  assert.ok(!read.ok);
  assert.match(read.error.text, /status 405: Requested REST method is not defined/);
});
