// The folders of batches in the archive: plain trees by the names of batch and job, read by the
// numbers of their tasks, of the last start of each job.

import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Client } from '../../../../../../src/kernel/api/client.ts';
import { ArchivePlaces } from '../../../../../../src/kernel/head/archive/archive-places.ts';
import {
  discardJob,
  placeInBatch,
} from '../../../../../../src/kernel/head/archive/batch-folder.ts';
import { ShownFolders } from '../../../../../../src/kernel/head/archive/shown-folders.ts';
import type { LaunchOrder } from '../../../../../../src/kernel/model/orders.ts';
import { systemClock } from '../../../../../../src/kernel/os/clock.ts';
import {
  done,
  partsOf,
  partText,
  restarted,
  store,
} from '../../../../kernel/head/archive/support.ts';
import {
  eventually,
  type FakeAgent,
  startAgent,
  startWorld,
  type World,
} from '../../../../kernel/head/http/fixture.ts';
import { sha256 } from '../../../../kernel/head/http/node-call.ts';

const program = { kind: 'script' as const, text: '#!/bin/sh\n:\n', args: ['{name}'] };
const params = { namespace: 'lab', name: 'heat' };

function bodyOf(names: readonly string[], more: object = {}) {
  const submission = { program, each: names.map((name) => ({ name })) };
  const numbers = names.map((_, number) => number);
  return { ...params, parts: [{ submission, numbers, prints: [...names] }], ...more };
}

interface Run {
  readonly content: string;
  readonly exitCode?: number;
  /** Done before it ends. */
  readonly before?: (order: LaunchOrder) => Promise<void>;
}

async function prepare(t: TestContext, options: Parameters<typeof startWorld>[1] = {}) {
  const world = await startWorld(t, options);
  const agent = await startAgent(t, world, 'n1');
  return { world, agent, alice: await world.client('alice') };
}

const launches = new WeakMap<FakeAgent, number>();

/** The next task runs, leaves a file in its save folder and one beside it, and ends. */
async function leave(
  world: World,
  agent: FakeAgent,
  owner: Client,
  { content, exitCode = 0, before }: Run,
) {
  const at = (launches.get(agent) ?? 0) + 1;
  launches.set(agent, at);
  const order = await agent.launch(at);
  agent.started(order);
  const entries = [
    { path: 'distribute_save', kind: 'folder' as const },
    { path: 'distribute_save/out/result', content },
    { path: 'distribute_save/_weft/manifest.json', content: 'forged' },
  ];
  await store(world, agent, { order, owner, entries });
  await before?.(order);
  agent.ended(order, exitCode);
  return order;
}

async function jobIdsOf(client: Client, which = params): Promise<number[]> {
  const { jobIds } = await client.call('getBatch', { params: which });
  for (const jobId of jobIds) await done(client, String(jobId));
  return jobIds;
}

function tree(world: World, ...below: string[]): string[] {
  const root = path.join(world.directory, 'archive', 'batches', ...below);
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => path.relative(root, path.join(parentPath, name)))
    .sort();
}

const META = ['manifest.json', 'stderr', 'stdout'].map((name) => `_weft/${name}`);
const FILES = [...META, 'out/result'];
const of = (job: string): string[] => FILES.map((file) => `${job}/${file}`);

test('[B3] what a job of a batch left lies under the names of batch and job, and is read by its number', async (t) => {
  const { world, agent, alice } = await prepare(t);
  await alice.call('submitBatch', { body: bodyOf(['a', 'b']) });
  await leave(world, agent, alice, { content: 'one' });
  await leave(world, agent, alice, { content: 'two!', exitCode: 3 });
  const [jobId = 0] = await jobIdsOf(alice);
  await world.archive.settled(jobId);
  assert.deepEqual(tree(world, 'lab', 'heat'), ['_batch.json', ...of('a'), ...of('b')]);
  const home = path.join(world.directory, 'archive', 'batches', 'lab', 'heat');
  assert.equal(readFileSync(path.join(home, 'b/out/result'), 'utf8'), 'two!');
  const record = JSON.parse(readFileSync(path.join(home, '_batch.json'), 'utf8'));
  assert.deepEqual([record.owner, record.name, record.jobs], ['alice', 'heat', ['a', 'b']]);
  const id = String(jobId);
  const { tasks } = await alice.call('listOutputs', { params: { id }, query: {} });
  assert.deepEqual(
    tasks.map(({ index, files, isPartial, leftOut }) => [index, files, isPartial, leftOut]),
    [
      [0, 1, false, 1],
      [1, 1, true, 1],
    ],
  );
  const manifest = await alice.call('getOutputs', { params: { id, index: '1' } });
  assert.deepEqual([manifest.batch, manifest.job, manifest.exitCode], ['lab/heat', 'b', 3]);
  assert.deepEqual(
    manifest.entries.map((entry) => [entry.path, entry.sha256]),
    [['out/result', sha256('two!')]],
  );
  assert.match(manifest.missing[0]?.why ?? '', /for what the archive itself says/);
  const kept = { tasks: 2, files: 2, bytes: 7, leftOut: 2, more: false };
  assert.deepEqual((await alice.call('getBatch', { params })).outputs, kept);
  const bob = await world.client('bob');
  assert.equal((await bob.call('getBatch', { params })).outputs, null);
  await assert.rejects(bob.call('getOutputs', { params: { id, index: '1' } }), {
    code: 'auth.not_owner',
  });
});

test('[B4] a job that runs again takes the place of its earlier start, and nothing of that counts', async (t) => {
  const { world, agent, alice } = await prepare(t);
  await alice.call('submitBatch', { body: bodyOf(['a', 'b']) });
  await leave(world, agent, alice, { content: 'good' });
  await leave(world, agent, alice, { content: 'bad', exitCode: 3 });
  const [first = 0] = await jobIdsOf(alice);
  await world.archive.settled(first);
  await alice.call('retryBatch', { params });
  await leave(world, agent, alice, { content: 'mended' });
  const [, second = 0] = await jobIdsOf(alice);
  await world.archive.settled(second);
  assert.deepEqual(tree(world, 'lab', 'heat'), ['_batch.json', ...of('a'), ...of('b')]);
  const list = async (jobId: number) =>
    (await world.archive.list(jobId, { from: 0, limit: 10 })).map(({ index, bytes }) => [
      index,
      bytes,
    ]);
  assert.deepEqual([await list(first), await list(second)], [[[0, 4]], [[1, 6]]]);
  assert.equal(world.archive.bytes, 10);
  // As of a head that was killed before it took the old way there.
  const way = path.join(world.directory, 'archive', 'jobs', String(first), '1');
  symlinkSync('../../batches/lab/heat/b', way);
  assert.deepEqual(await list(first), [[0, 4]]);
  assert.equal(await world.archive.manifest({ jobId: first, index: 1, isArray: true }), null);
});

test('[B4] an earlier start that comes to its end last does not take the place of a later one', async (t) => {
  const { world, agent, alice } = await prepare(t);
  await alice.call('submitBatch', { body: bodyOf(['a']) });
  const parts = path.join(world.directory, 'archive', 'parts');
  const at = 1;
  const order = await agent.launch(at);
  launches.set(agent, at);
  agent.started(order);
  const entries = [{ path: 'distribute_save/old', content: 'old' }];
  await store(world, agent, { order, owner: alice, entries });
  const part = partText(world, order);
  agent.ended(order, 3);
  await jobIdsOf(alice);
  await alice.call('retryBatch', { params });
  await leave(world, agent, alice, { content: 'new' });
  const [first = 0, second = 0] = await jobIdsOf(alice);
  await world.archive.settled(second);
  writeFileSync(path.join(parts, `${order.epochId}.0`), part);
  const archive = await restarted(t, world);
  await archive.settled(first);
  assert.deepEqual(tree(world, 'lab', 'heat'), ['_batch.json', ...of('a')]);
  assert.deepEqual([partsOf(world), archive.bytes], [[], 3]);
});

test('killed before a job had its way by number: the next head makes it', async (t) => {
  const { world, agent, alice } = await prepare(t);
  await alice.call('submitBatch', { body: bodyOf(['a']) });
  const order = await agent.launch(1);
  agent.started(order);
  await store(world, agent, {
    order,
    owner: alice,
    entries: [{ path: 'distribute_save/x', content: 'one' }],
  });
  const file = path.join(world.directory, 'archive', 'parts', `${order.epochId}.0`);
  const part = partText(world, order);
  agent.ended(order, 0);
  const [jobId = 0] = await jobIdsOf(alice);
  await world.archive.settled(jobId);
  const way = path.join(world.directory, 'archive', 'jobs', String(jobId), '0');
  assert.ok(lstatSync(way).isSymbolicLink());
  rmSync(way);
  writeFileSync(file, part);
  const archive = await restarted(t, world);
  await archive.settled(jobId);
  assert.equal((await archive.list(jobId, { from: 0, limit: 10 })).length, 1);
  assert.equal(archive.bytes, 3);
});

test('[B3] a batch is removed with its files, or leaves them; another of its name is never mixed with them', async (t) => {
  const { world, agent, alice } = await prepare(t);
  const [bob, batches] = [await world.client('bob'), path.join(world.directory, 'archive/batches')];
  const run = async (owner: Client, content: string): Promise<number> => {
    await owner.call('submitBatch', { body: bodyOf(['a']) });
    await leave(world, agent, owner, { content });
    const [jobId = 0] = await jobIdsOf(owner);
    await world.archive.settled(jobId);
    return jobId;
  };
  const first = await run(alice, 'one');
  const gone = await alice.call('removeBatch', { params, query: {} });
  assert.deepEqual(gone.removed, { tasks: 1, files: 1, bytes: 3 });
  assert.deepEqual([readdirSync(batches), world.archive.bytes], [[], 0]);
  assert.ok(!existsSync(path.join(world.directory, 'archive/jobs', String(first))));
  const second = await run(alice, 'two');
  const left = await alice.call('removeBatch', { params, query: { keep: true } });
  assert.deepEqual(left.removed, { tasks: 0, files: 0, bytes: 0 });
  assert.deepEqual(tree(world, 'lab', 'heat'), ['_batch.json', ...of('a')]);
  assert.equal((await world.archive.list(second, { from: 0, limit: 1 })).length, 1);
  const third = await run(bob, "bob's");
  const [own, other = ''] = readdirSync(path.join(batches, 'lab')).sort();
  assert.equal(own, 'heat');
  assert.match(other, /^heat@begun-\d+$/);
  const read = (folder: string) =>
    readFileSync(path.join(batches, 'lab', folder, 'a/out/result'), 'utf8');
  assert.deepEqual([read('heat'), read(other)], ["bob's", 'two']);
  assert.equal((await world.archive.list(third, { from: 0, limit: 1 })).length, 1);
  // The way of the earlier one leads to what is not hers.
  const shelf = { jobId: second, index: 0, isArray: true };
  assert.equal(await world.archive.manifest(shelf), null);
  assert.deepEqual(await world.archive.list(second, { from: 0, limit: 1 }), []);
});

test('[F8] files of batches go with age, their ways and the last empty folders too', async (t) => {
  let now = Date.now();
  const { world, agent, alice } = await prepare(t, { archiveClock: { now: () => now } });
  await alice.call('submitBatch', { body: bodyOf(['a', 'b']) });
  await leave(world, agent, alice, { content: 'old' });
  await leave(world, agent, alice, { content: 'older' });
  const [jobId = 0] = await jobIdsOf(alice);
  await world.archive.settled(jobId);
  now += 86_400_000 - 1000;
  await world.archive.expire();
  assert.equal(world.archive.next?.jobId, jobId);
  assert.equal(tree(world).length, 9);
  now += 2000;
  await world.archive.expire();
  const root = path.join(world.directory, 'archive');
  assert.deepEqual(readdirSync(path.join(root, 'batches')), []);
  assert.deepEqual(readdirSync(path.join(root, 'jobs')), []);
  assert.equal(world.archive.bytes, 0);
});

const print = (world: World, order: LaunchOrder, stream: 'stdout' | 'stderr', text: string) =>
  world.logs.append(
    { epochId: order.epochId, nodeRank: 0, rank: 0, stream },
    { offset: 0, bytes: Buffer.from(text), end: true, dropped: 0 },
  );

test('[B3] what a job has printed lies beside its files, also what comes after its end', async (t) => {
  const { world, agent, alice } = await prepare(t);
  await alice.call('submitBatch', { body: bodyOf(['a']) });
  const order = await leave(world, agent, alice, { content: 'one' });
  const [jobId = 0] = await jobIdsOf(alice);
  await world.archive.settled(jobId);
  const meta = path.join(world.directory, 'archive/batches/lab/heat/a/_weft');
  assert.equal(readFileSync(path.join(meta, 'stdout'), 'utf8'), '');
  await print(world, order, 'stdout', 'late words\n');
  await print(world, order, 'stderr', 'warning\n');
  assert.equal(readFileSync(path.join(meta, 'stdout'), 'utf8'), 'late words\n');
  assert.equal(readFileSync(path.join(meta, 'stderr'), 'utf8'), 'warning\n');
});

test('[B3] what has printed nothing shares one empty file with all of its kind', async (t) => {
  const { world, agent, alice } = await prepare(t);
  await alice.call('submitBatch', { body: bodyOf(['a', 'b']) });
  for (const content of ['one', 'two']) {
    await leave(world, agent, alice, {
      content,
      before: async (order) => {
        for (const stream of ['stdout', 'stderr'] as const) await print(world, order, stream, '');
      },
    });
  }
  const [jobId = 0] = await jobIdsOf(alice);
  await world.archive.settled(jobId);
  const root = path.join(world.directory, 'archive');
  const { ino } = statSync(path.join(root, 'empty'));
  for (const name of ['a/_weft/stdout', 'a/_weft/stderr', 'b/_weft/stdout', 'b/_weft/stderr']) {
    const file = path.join(root, 'batches/lab/heat', name);
    assert.deepEqual([statSync(file).size, statSync(file).ino], [0, ino]);
  }
});

test('[B3] a job of a distribute file has one file more, with both streams under their headings', async (t) => {
  const { world, agent, alice } = await prepare(t);
  await alice.call('submitBatch', { body: bodyOf(['a'], { origin: 'distribute' }) });
  const order = await leave(world, agent, alice, { content: 'one' });
  const [jobId = 0] = await jobIdsOf(alice);
  assert.ok(!existsSync(path.join(world.directory, 'archive/batches/lab')), 'it waits for output');
  await print(world, order, 'stdout', 'said\n');
  await print(world, order, 'stderr', 'warned\n');
  await world.archive.settled(jobId);
  const text = 'STDOUT:\nsaid\n\nSTDERR:\nwarned\n';
  const file = path.join(world.directory, 'archive/batches/lab/heat/a/a_output.txt');
  assert.equal(readFileSync(file, 'utf8'), text);
  const manifest = await alice.call('getOutputs', { params: { id: `${jobId}`, index: '0' } });
  assert.deepEqual(
    manifest.entries.map((entry) => [entry.path, entry.size]),
    [
      ['out/result', 3],
      ['a_output.txt', text.length],
    ],
  );
  const read = await alice.stream('readBlob', { params: { hash: sha256(text) } });
  assert.equal(Buffer.concat(await read.toArray()).toString(), text);
});

/** A clock whose time passes when the test says so. */
function clockByHand() {
  const timers = new Set<{ readonly at: number; readonly then: () => void }>();
  let now = 0;
  return {
    after: (ms: number, then: () => void) => {
      const timer = { at: now + ms, then };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    pass: (ms: number) => {
      now += ms;
      for (const timer of [...timers]) {
        if (timer.at <= now && timers.delete(timer)) timer.then();
      }
    },
    /** Whether something began to wait now, for so long. */
    waits: (ms: number) => [...timers].some(({ at }) => at === now + ms),
  };
}

test('[B3] output is waited for as long as it comes, however long that is', async (t) => {
  const clock = clockByHand();
  const { world, agent, alice } = await prepare(t, { archiveClock: { after: clock.after } });
  await alice.call('submitBatch', { body: bodyOf(['a'], { origin: 'distribute' }) });
  const order = await leave(world, agent, alice, { content: 'one' });
  const [jobId = 0] = await jobIdsOf(alice);
  const file = path.join(world.directory, 'archive/batches/lab/heat/a/a_output.txt');
  const log = { epochId: order.epochId, nodeRank: 0, rank: 0, stream: 'stdout' as const };
  for (const offset of [0, 1, 2]) {
    await eventually(() => clock.waits(60_000));
    clock.pass(50_000);
    await world.logs.append(log, { offset, bytes: Buffer.from('x'), end: false, dropped: 0 });
  }
  await eventually(() => clock.waits(60_000));
  assert.equal(existsSync(file), false, 'after 150 s');
  await world.logs.append(log, { offset: 3, bytes: Buffer.from('y'), end: true, dropped: 0 });
  await print(world, order, 'stderr', '');
  await world.archive.settled(jobId);
  assert.equal(readFileSync(file, 'utf8'), 'STDOUT:\nxxxy\nSTDERR:\n');
});

test('[B3] output that does not come any more is waited for a while, and the file says what lacks', async (t) => {
  const after = (_: number, then: () => void) => systemClock.after(1, then);
  const { world, agent, alice } = await prepare(t, { archiveClock: { after } });
  await alice.call('submitBatch', { body: bodyOf(['a'], { origin: 'distribute' }) });
  const before = async ({ epochId }: LaunchOrder) => {
    const log = { epochId, nodeRank: 0, rank: 0, stream: 'stdout' as const };
    await world.logs.append(log, { offset: 0, bytes: Buffer.from('x'), end: false, dropped: 0 });
  };
  await leave(world, agent, alice, { content: 'one', before });
  const [jobId = 0] = await jobIdsOf(alice);
  await world.archive.settled(jobId);
  const file = path.join(world.directory, 'archive/batches/lab/heat/a/a_output.txt');
  const lacks = [
    'The end of standard output has not come from its node.',
    'Nothing has come of standard error, nor word that there is none.',
  ];
  const text = `STDOUT:\nx\nSTDERR:\n\nWEFT:\n${lacks.join('\n')}\n`;
  assert.equal(readFileSync(file, 'utf8'), text);
});

test('[B7] output of a build is kept by node, also of a start that does not count', async (t) => {
  const { world, agent, alice } = await prepare(t);
  await alice.call('submitBatch', { body: bodyOf(['a']) });
  const order = await agent.launch(1);
  agent.started(order);
  await store(world, agent, {
    order,
    owner: alice,
    entries: [{ path: '.weft_build.log', content: 'no compiler\n' }],
  });
  await alice.call('requeueJob', { params: { id: String(order.place.jobId) }, body: {} });
  agent.ended(order, 1);
  const again = await agent.launch(2);
  const log = path.join(world.directory, 'archive/batches/lab/heat/_build/n1.log');
  await eventually(() => existsSync(log) && partsOf(world).length === 0);
  assert.equal(readFileSync(log, 'utf8'), 'no compiler\n');
  agent.started(again);
  await store(world, agent, {
    order: again,
    owner: alice,
    entries: [{ path: '.weft_build.log', content: 'compiled\n' }],
  });
  agent.ended(again, 0);
  const [jobId = 0] = await jobIdsOf(alice);
  await world.archive.settled(jobId);
  assert.equal(readFileSync(log, 'utf8'), 'compiled\n');
  const job = META.map((name) => `a/${name}`);
  assert.deepEqual(tree(world, 'lab', 'heat'), ['_batch.json', '_build/n1.log', ...job]);
  const { logs } = await alice.call('listBuildLogs', { params });
  assert.deepEqual(
    logs.map(({ node, size, sha256: hash }) => [node, size, hash]),
    [['n1', 'compiled\n'.length, sha256('compiled\n')]],
  );
  const read = await alice.stream('readBlob', { params: { hash: logs[0]?.sha256 ?? '' } });
  assert.equal(await new Response(read).text(), 'compiled\n', 'its owner may read the content');
  const bob = await world.client('bob');
  await assert.rejects(bob.call('listBuildLogs', { params }), { code: 'batch.not_owner' });
  await alice.call('removeBatch', { params, query: {} });
  assert.deepEqual(tree(world), []);
});

test('[F8] output of builds goes with age too, when no job has left anything', async (t) => {
  let now = Date.now();
  const { world, agent, alice } = await prepare(t, { archiveClock: { now: () => now } });
  await alice.call('submitBatch', { body: bodyOf(['a']) });
  const order = await agent.launch(1);
  agent.started(order);
  const entries = [{ path: '.weft_build.log', content: 'no compiler\n' }];
  await store(world, agent, { order, owner: alice, entries });
  await alice.call('requeueJob', { params: { id: String(order.place.jobId) }, body: {} });
  agent.ended(order, 1);
  await eventually(() => tree(world).length === 2);
  await world.archive.expire();
  assert.deepEqual(tree(world, 'lab', 'heat'), ['_batch.json', '_build/n1.log']);
  now += 86_400_000 + 60_000;
  await world.archive.expire();
  assert.deepEqual(readdirSync(path.join(world.directory, 'archive/batches')), []);
});

test('the first job of a batch says which folders above have a new name, others none', (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'weft-batches-'));
  t.after(() => rmSync(root, { recursive: true }));
  const places = new ArchivePlaces(root);
  for (const folder of [places.asides, places.trash]) mkdirSync(folder);
  const place = (job: string, index: number) => {
    const aside = places.aside();
    mkdirSync(aside);
    const batch = { ...params, version: 1, job, origin: 'weft' as const, begunAt: 5 };
    const shelf = { jobId: 1, index, isArray: true, batch };
    return placeInBatch(places, { aside, shelf, owner: 'alice', epoch: 1, jobNames: () => [] });
  };
  const { batches } = places;
  assert.deepEqual(place('a', 0).above, [path.join(batches, 'lab'), batches]);
  assert.deepEqual(place('b', 1).above, []);
});

test('[B3] namespaces are shown in another folder as long as they are there, over nothing else', (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'weft-batches-'));
  t.after(() => rmSync(root, { recursive: true }));
  const archive = path.join(root, 'head', 'archive');
  const said: string[] = [];
  const quiet = () => undefined;
  const warn = (_: object, message: string) => void said.push(message);
  const log = { debug: quiet, info: quiet, warn, error: quiet };
  const where = { folder: root, taken: ['nodes'] };
  const shown = new ShownFolders(where, path.join(archive, 'batches'), log);
  const places = new ArchivePlaces(archive, shown);
  for (const folder of [places.asides, places.trash]) mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(root, 'mine'), 'precious');
  const place = (namespace: string, jobId: number) => {
    const aside = places.aside();
    mkdirSync(aside);
    writeFileSync(path.join(aside, 'out'), namespace);
    const of = { namespace, name: 'heat', version: 1, job: 'a' };
    const shelf = {
      jobId,
      index: 0,
      isArray: true,
      batch: { ...of, origin: 'distribute' as const, begunAt: 5 },
    };
    placeInBatch(places, { aside, shelf, owner: 'alice', epoch: 1, jobNames: () => [] });
    return () => discardJob(places, places.home(shelf), shelf);
  };
  const [discard] = ['lab', 'mine', 'nodes', 'head'].map(place);
  assert.equal(readFileSync(path.join(root, 'lab/heat/a/out'), 'utf8'), 'lab');
  assert.equal(readlinkSync(path.join(root, 'lab')), 'head/archive/batches/lab');
  assert.equal(readFileSync(path.join(root, 'mine'), 'utf8'), 'precious');
  assert.equal(existsSync(path.join(root, 'nodes')), false, 'an agent there will have that name');
  assert.equal(lstatSync(path.join(root, 'head')).isDirectory(), true);
  const words = 'something else has its name';
  assert.deepEqual(said, [words, words, words]);
  shown.show('lab');
  discard?.();
  assert.deepEqual(readdirSync(root).sort(), ['head', 'mine']);
  rmSync(root, { recursive: true });
  shown.show('lab');
  assert.equal(said.at(-1), 'results cannot be shown here');
  mkdirSync(root);
});
