// Jobs that ended before anybody saw them running: their nodes are those that are known for
// certain, or none.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ok, type Result } from '../../../../../../src/kernel/base/result.ts';
import type { SiteEnd, SiteJob } from '../../../../../../src/kernel/model/site.ts';
import type { SiteProblem } from '../../../../../../src/wings/sites/adaptors/adaptor.ts';
import { siteProblem } from '../../../../../../src/wings/sites/adaptors/read.ts';
import { slurm } from '../../../../../../src/wings/sites/adaptors/slurm/slurm.ts';
import { executionQueue } from '../../../../../../src/wings/sites/adaptors/slurm/steer.ts';
import { KnownArrays } from '../../../../../../src/wings/sites/fabric/site/known-arrays.ts';
import { Steerer } from '../../../../../../src/wings/sites/fabric/site/steerer.ts';
import { Vanished } from '../../../../../../src/wings/sites/fabric/site/vanished.ts';
import { PLAIN_SITE_JOB } from '../../../../../support/plain.ts';
import { KeptLog } from '../../../../kernel/head/http/fixture.ts';
import { FakeSlurm } from './fake-slurm.ts';

const JOB: SiteJob = {
  ...PLAIN_SITE_JOB,
  id: '7',
  name: 'wide',
  owner: 'ann',
  word: 'qw',
  submittedAt: null,
  walltimeMs: null,
  nodeCount: 2,
  cpuCount: 2,
};
const RECORD: SiteEnd = { startedAt: 1000, endedAt: 2000, exit: { code: 3 }, reason: null };

/** @param starts of the job by us, on these nodes */
async function nodesOf(record: SiteEnd, ...starts: readonly (readonly string[])[]) {
  const steering = executionQueue({ main: 'main', execution: 'steer' });
  const steerer = new Steerer({
    commands: new FakeSlurm(),
    log: new KeptLog(),
    steering,
    settings: { timeoutMs: 1000, before: [] },
  });
  for (const nodes of starts) await steerer.start({ id: '7', handle: null }, nodes);
  const query = { command: { argv: ['qacct'] }, read: () => ok(record) };
  const adaptor = { ...slurm(steering), end: () => query };
  const vanished = new Vanished(adaptor, (job) => steerer.startedOn(job));
  vanished.note(new Map([['7', JOB]]), new Map(), () => false);
  await vanished.ask(async ({ read }) => read({ stdout: '', stderr: '', code: 0 }), 0);
  const [job] = vanished.jobs;
  return `${job?.word}: ${job?.nodes}`;
}

test('[G3] nodes of a parallel job are those of its record, or of all our starts of it', async () => {
  const first = { ...RECORD, firstNode: 'n2' };
  const unknown = 'gone; the nodes beside n2 are not recorded: ';
  assert.equal(await nodesOf({ ...RECORD, nodes: ['n1'] }, ['n1']), 'gone: n1');
  assert.equal(await nodesOf(first, ['n1', 'n2']), 'gone: n1,n2');
  assert.equal(await nodesOf(first, ['n1', 'n2'], ['n1', 'n2']), 'gone: n1,n2');
  assert.equal(await nodesOf(first, ['n1', 'n2'], ['n2', 'n3']), unknown);
  assert.equal(await nodesOf(first, ['n1', 'n3']), unknown);
  assert.equal(await nodesOf(first), unknown);
  const named = (...nodes: string[]) => nodesOf({ ...first, namedNodes: ['n2', ...nodes] });
  assert.equal(await named('n5'), 'gone: n2,n5', 'as many as it had');
  assert.equal(await named(), unknown);
  assert.equal(await named('n5', 'n6'), unknown);
});

test('an array is not missed that is listed by its elements, all of which have started', () => {
  const vanished = new Vanished(slurm(null));
  const array = { ...JOB, elements: '0-1' };
  const listed = new Map(['7_0', '7_1'].map((id) => [id, { ...JOB, id }]));
  const before = new Map([array, { ...JOB, id: '8' }].map((job) => [job.id, job]));
  vanished.note(before, listed, () => false);
  assert.deepEqual(
    [...vanished.jobs].map(({ id, state }) => [id, state]),
    [['8', 'unknown']],
  );
});

test('jobs that a site still knows keep no other from being asked for', async () => {
  const steering = executionQueue({ main: 'main', execution: 'steer' });
  const asked = { argv: ['squeue'] };
  const adaptor = {
    ...slurm(steering),
    end: null,
    known: (id: string) => ({ command: asked, read: () => ok(id !== 'last') }),
  };
  const vanished = new Vanished(adaptor);
  const ids = [...Array.from({ length: 25 }, (_, at) => `a${at}`), 'last'];
  vanished.note(new Map(ids.map((id) => [id, { ...JOB, id }])), new Map(), () => false);
  for (let round = 0; round < 3; round += 1) {
    await vanished.ask(async ({ read }) => read({ stdout: '', stderr: '', code: 0 }), round);
  }
  const over = [...vanished.jobs].filter(({ state }) => state === 'ended');
  assert.deepEqual(
    over.map(({ id }) => id),
    ['last'],
  );
});

test('[G3] elements that their array has no more are asked for where there is an accounting', async () => {
  let accounting: (id: string) => Result<SiteEnd | null, SiteProblem> = () => ok(null);
  const command = { argv: ['qacct'] };
  const adaptor = {
    ...slurm(null),
    end: (id: string) => ({ command, read: () => accounting(id) }),
  };
  const array = (elements: string): ReadonlyMap<string, SiteJob> =>
    new Map([['7', { ...JOB, elements }]]);
  const made = new Vanished(adaptor);
  const seen = () => [...made.jobs].map(({ id, state, exit }) => [id, state, exit?.code]);
  const ask = (now: number) =>
    made.ask(async ({ read }) => read({ stdout: '', stderr: '', code: 0 }), now);
  made.note(array('0-5'), array('2,4-5'), () => false, 0);
  assert.deepEqual(seen(), [
    ['7_0', 'unknown', undefined],
    ['7_1', 'unknown', undefined],
    ['7_3', 'unknown', undefined],
  ]);
  // One is listed again; of one there is a record, and none of the other.
  made.note(array('2,4-5'), array('2-5'), () => false, 0);
  accounting = (id) => (id === '7_0' ? ok(RECORD) : ok(null));
  await ask(1000);
  assert.deepEqual(seen().sort(), [
    ['7_0', 'ended', 3],
    ['7_1', 'unknown', undefined],
  ]);
  accounting = () => siteProblem('away', 'qacct: no answer');
  await ask(60_000);
  assert.deepEqual(seen().at(-1), ['7_1', 'unknown', undefined], 'nobody knows');
  accounting = () => ok(null);
  await ask(60_000);
  assert.deepEqual(seen().at(-1), ['7_1', 'ended', undefined], 'it never began');
  const many = new Vanished(adaptor);
  many.note(array('0-499'), array('0-2'), () => false, 0);
  assert.deepEqual([...many.jobs], [], 'a range that was cancelled');
  const without = new Vanished({ ...adaptor, end: null });
  without.note(array('0-5'), array('2-5'), () => false, 0);
  assert.deepEqual([...without.jobs], [], 'its listing has all that is known');
});

test('[G3] an array that is gone is asked for after its elements', async () => {
  const asked: string[] = [];
  const command = { argv: ['qacct'] };
  const end = (id: string) => {
    asked.push(id);
    return { command, read: () => ok(RECORD) };
  };
  const made = new Vanished({ ...slurm(null), end });
  made.note(new Map([['7', { ...JOB, elements: '0-1' }]]), new Map(), () => false, 0);
  const ask = () => made.ask(async ({ read }) => read({ stdout: '', stderr: '', code: 0 }), 0);
  await ask();
  await ask();
  assert.deepEqual(asked, ['7_0', '7_1', '7']);
});

test('[G3] where one question is for a whole array, all elements that it lacks are asked for', async () => {
  const asked: string[] = [];
  const command = { argv: ['qacct'] };
  const one = (id: string) => {
    asked.push(id);
    return { command, read: () => ok(null) };
  };
  let answer: Result<ReadonlyMap<number, SiteEnd>, SiteProblem> = ok(new Map([[7, RECORD]]));
  const ends = (array: string) => {
    asked.push(array);
    return { command, read: () => answer };
  };
  const made = new Vanished({ ...slurm(null), end: one, ends });
  made.note(new Map([['7', { ...JOB, elements: '0-4999' }]]), new Map(), () => false, 0);
  const ask = (now: number) =>
    made.ask(async ({ read }) => read({ stdout: '', stderr: '', code: 0 }), now);
  const count = () => [...made.jobs].filter(({ state }) => state === 'ended').length;
  await ask(1000);
  assert.deepEqual([count(), asked], [1, ['7']], 'the accounting may have no record yet');
  answer = siteProblem('away', 'no answer');
  await ask(40_000);
  assert.equal(count(), 1, 'nobody knows');
  answer = ok(new Map([[8, { ...RECORD, exit: { code: 0 } }]]));
  await ask(50_000);
  const ended = new Map([...made.jobs].map(({ id, exit }) => [id, exit?.code]));
  assert.deepEqual(
    ['7_7', '7_8', '7_9'].map((id) => ended.get(id)),
    [3, 0, undefined],
  );
  assert.equal(count(), 5000);
  assert.deepEqual(asked, ['7', '7', '7', '7'], 'and then for the array itself');
  const without = new Vanished({ ...slurm(null), end: one, ends });
  answer = siteProblem('refused', 'no history is kept');
  without.note(new Map([['8', { ...JOB, id: '8', elements: '0-999' }]]), new Map(), () => false, 0);
  await without.ask(async ({ read }) => read({ stdout: '', stderr: '', code: 0 }), 0);
  assert.deepEqual(
    [...without.jobs].map(({ id }) => id),
    ['8'],
    'nobody will ever know',
  );
  asked.length = 0;
  answer = siteProblem('away', 'no answer');
  const many = new Vanished({ ...slurm(null), end: one, ends });
  const ids = Array.from({ length: 12 }, (_, at) => `${at + 20}`);
  const arrays = (elements: string) => new Map(ids.map((id) => [id, { ...JOB, id, elements }]));
  many.note(arrays('0-20'), arrays('20'), () => false, 0);
  for (let look = 0; look < 2; look += 1)
    await many.ask(async ({ read }) => read({ stdout: '', stderr: '', code: 0 }), 0);
  assert.equal(new Set(asked).size, 12, 'one that is not answered keeps none from being asked for');
});

test('[G3] elements that went while there was no gateway are asked for by the next one', () => {
  const disk = new Map<string, string>();
  const notes = {
    all: () => disk,
    write: (name: string, text: string) => void disk.set(name, text),
  };
  const array = { ...JOB, elements: '0-3' };
  new KnownArrays(notes, new KeptLog()).keep([array]);
  const next = new KnownArrays(notes, new KeptLog());
  const adaptor = {
    ...slurm(null),
    end: () => ({ command: { argv: ['x'] }, read: () => ok(null) }),
  };
  const made = new Vanished(adaptor);
  made.note(next.read(), new Map([['7', { ...array, elements: '2-3' }]]), () => false, 0);
  assert.deepEqual(
    [...made.jobs].map(({ id, state }) => [id, state]),
    [
      ['7_0', 'unknown'],
      ['7_1', 'unknown'],
    ],
  );
  disk.set('arrays', '{torn');
  assert.equal(next.read().size, 0);
  const log = new KeptLog();
  const full = () => {
    throw new Error('no room');
  };
  const failing = new KnownArrays({ ...notes, write: full }, log);
  for (const elements of ['0-3', '1-3']) failing.keep([{ ...array, elements }]);
  assert.equal(log.lines.length, 1, 'told once');
});
