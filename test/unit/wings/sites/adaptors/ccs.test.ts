// The program for CCS, over commands that say what it may meet: it says what it knows, and nothing
// of what it does not.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { script } from '../../../../../src/wings/sites/adaptors/script/script.ts';
import { answerOf, type Commands } from '../../../../support/site-program.ts';

const CCS = join(import.meta.dirname, '../../../../../examples/adaptor/ccs');
const top = mkdtempSync(join(tmpdir(), 'weft-ccs-'));
after(() => rmSync(top, { recursive: true }));
writeFileSync(join(top, 'nodes'), 'n1 2\nn2 4\n');
const answer = (operation: string, commands: Commands, asked = {}) =>
  answerOf([CCS, join(top, 'nodes')], operation, commands, asked);

const adaptor = script([CCS, join(top, 'nodes')], { steers: false });
const SUBMISSION = {
  SITE_NAME: 'weft-c1-1',
  SITE_SCRIPT_FILE: "/s/it's",
  SITE_STDOUT: '/s/out',
  SITE_STDERR: '/s/err',
  SITE_WALLTIME_MS: '61000',
  SITE_MEMORY_BYTES: '1048577',
  SITE_CPU_COUNT: '2',
  SITE_ACCOUNT: 'wing',
  SITE_OPTIONS: '--first\nsecond=a b',
};
const submit = adaptor.submit({
  name: '',
  script: '',
  scriptFile: '',
  queue: null,
  account: null,
  walltimeMs: null,
  nodeCount: 1,
  cpuCount: 1,
  memoryBytes: null,
  directory: '',
  stdout: '',
  stderr: '',
  options: [],
});

test('requests are read with their names and states, and a state that is not known is none', () => {
  const listing =
    'printf "12 PLANNED a \\"b\\" \\\\\\\\ | c\\n 13 ALLOCATED x\\n14 STOPPED y\\n15 ALLOCATING z\\n"';
  const jobs = adaptor.jobs.read(answer('jobs', { ccsinfo: listing }));
  assert.ok(jobs.ok, jobs.ok ? '' : jobs.error.text);
  assert.deepEqual(
    jobs.value.map(({ id, name, state }) => [id, name, state]),
    [
      ['12', 'a "b" \\ | c', 'waiting'],
      ['13', 'x', 'running'],
      ['14', 'y', 'ended'],
      ['15', 'z', 'unknown'],
    ],
  );
  assert.deepEqual([jobs.value[2]?.exit, jobs.value[2]?.owner], [null, userInfo().username]);
});

test('a listing that fails, or says what nobody expects, is no listing', () => {
  for (const ccsinfo of ['exit 1', 'echo "12 PLANNED"; echo "no connection"', 'echo "<html>"']) {
    for (const operation of ['jobs', 'named', 'known']) {
      const { stdout } = answer(operation, { ccsinfo }, { SITE_NAME: 'a', SITE_JOB: '12' });
      assert.match(stdout, /"kind":"away"/, `${operation} ${ccsinfo}`);
    }
  }
  assert.deepEqual(adaptor.jobs.read(answer('jobs', { ccsinfo: ':' })), { ok: true, value: [] });
});

test('a submission has its options, and its answer is the number of the request', () => {
  const words = join(top, 'words');
  const ccsalloc = `printf '%s\\n' "$@" >${words}; echo "PM:Request (31/x): taken"`;
  assert.deepEqual(submit.read(answer('submit', { ccsalloc }, SUBMISSION)), {
    ok: true,
    value: '31',
  });
  const { stdout } = spawnSync('cat', [words], { encoding: 'utf8' });
  assert.deepEqual(stdout.trimEnd().split('\n'), [
    ...['--name=weft-c1-1', '--stdout=/s/out', '--stderr=/s/err', '--res=rset=1:ncpus=2:mem=2m'],
    ...['-t', '2m', '--group=wing', '--first', 'second=a b', 'sh', "/s/it's"],
  ]);
});

test('a submission is refused when CCS answers and has no such request, and otherwise in doubt', () => {
  const ccsalloc = 'echo "no such group"; exit 1';
  const refused = submit.read(answer('submit', { ccsalloc, ccsinfo: ':' }, SUBMISSION));
  assert.ok(!refused.ok && refused.error.kind === 'refused');
  assert.match(refused.error.text, /no such group/);
  const doubt = submit.read(answer('submit', { ccsalloc, ccsinfo: 'exit 1' }, SUBMISSION));
  assert.ok(!doubt.ok && doubt.error.kind === 'away');
  const ccsinfo = 'echo "32 PLANNED weft-c1-1"';
  const taken = submit.read(answer('submit', { ccsalloc, ccsinfo }, SUBMISSION));
  assert.deepEqual(taken, { ok: true, value: '32' });
  const strange = answer('submit', { ccsalloc: 'echo hello', ccsinfo: ':' }, SUBMISSION);
  const unread = submit.read(strange);
  assert.ok(!unread.ok && unread.error.kind === 'away');
});

test('a request that is not listed is not said to be over, and has no record of an end', () => {
  const { read } = adaptor.known?.('9') ?? assert.fail('it cannot be asked');
  const here = { ccsinfo: 'echo "12 PLANNED a"' };
  assert.deepEqual(read(answer('known', here, { SITE_JOB: '12' })), { ok: true, value: true });
  assert.match(answer('known', here, { SITE_JOB: '1' }).stdout, /"known":null/);
  const end = adaptor.end?.('12').read(answer('end', here, { SITE_JOB: '12' }));
  assert.deepEqual(end, { ok: true, value: null });
  assert.match(answer('cancel', here, { SITE_JOB: '1; true' }).stdout, /no_such_job/);
});

test('cancelling believes ccskill, and a request that has stopped is none', () => {
  const { read } = adaptor.cancel('12');
  assert.ok(read(answer('cancel', { ccskill: ':' }, { SITE_JOB: '12' })).ok);
  const failing = { ccskill: 'echo no; exit 1', ccsinfo: 'echo "12 STOPPED a"' };
  const over = read(answer('cancel', failing, { SITE_JOB: '12' }));
  assert.ok(!over.ok && over.error.kind === 'no_such_job');
  const other = read(answer('cancel', { ...failing, ccsinfo: ':' }, { SITE_JOB: '12' }));
  assert.ok(!other.ok && other.error.kind === 'refused');
});

test('nodes are those of its file', () => {
  const nodes = adaptor.nodes.read(answer('nodes', {}));
  assert.ok(nodes.ok);
  assert.deepEqual(
    nodes.value.map(({ name, cpuCount, state }) => [name, cpuCount, state]),
    [
      ['n1', 2, 'unknown'],
      ['n2', 4, 'unknown'],
    ],
  );
});
