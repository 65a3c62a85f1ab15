// The agent's shell against a fake head, a fake launcher and virtual time.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { readFrames } from '../../../../src/kernel/agent/journal.ts';
import type { UserName } from '../../../../src/kernel/model/ids.ts';
import { FakeWorld } from './fake-world.ts';
import { idOf, launch, share, shell } from './orders.ts';

const ID = idOf(1);
let world = new FakeWorld();

/** A world with a connected agent. */
async function begin(options: ConstructorParameters<typeof FakeWorld>[0] = {}): Promise<FakeWorld> {
  world = new FakeWorld(options);
  await world.start();
  return world;
}

afterEach(async () => {
  await world.kill();
});

test('an order is run, its output shipped, its end reported, and nothing is left', async () => {
  await begin();
  world.head.order(launch(1, shell('echo hi')));
  await world.clock.settle();
  const [request] = world.launcher.started;
  assert.deepEqual(request?.argv, ['/bin/sh', '-c', 'echo hi']);
  assert.equal(request?.stdout, '/state/spool/1000/s1.0.out');
  assert.deepEqual(request?.credentials, { uid: 1000, gid: 1000, groups: [1000] });
  world.files.files.set('/state/spool/1000/s1.0.out', Buffer.from('hi\n'));
  world.launcher.exit(1, { code: 0 });
  await world.clock.settle();
  assert.deepEqual(world.head.kindsOf(ID), ['task_started', 'task_ended']);
  assert.equal(world.head.endOf(ID)?.cause, 'exited');
  assert.equal(world.head.logs.get('1#1/0/stdout')?.toString(), 'hi\n');
  assert.deepEqual([...world.head.ended], ['1#1/0/stdout', '1#1/0/stderr']);
  assert.equal(world.agent?.state.epochs.size, 0);
  assert.equal(world.launcher.table.size, 0);
  assert.equal(world.files.files.get('/state/spool/1000/s1.0.out')?.length, 0);
});

test('an agent without files, accounts and limits runs what it is ordered, and reports its end', async () => {
  world = new FakeWorld();
  world.isBare = true;
  world.settings = { ...world.settings, switchUser: false };
  await world.start();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  assert.equal(world.launcher.started[0]?.credentials, null);
  world.launcher.exit(1, { code: 0 });
  await world.clock.advance(10_000);
  assert.deepEqual(world.head.kindsOf(ID), ['task_started', 'task_ended']);
  assert.equal(world.agent?.state.epochs.size, 0);
});

test('the same order sent many times starts one process', async () => {
  await begin();
  for (let time = 0; time < 3; time += 1) world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  assert.equal(world.launcher.started.length, 1);
});

test('[S3] the journal knows a start before the launcher does', async () => {
  await begin();
  const start = world.launcher.start.bind(world.launcher);
  const journaled: boolean[] = [];
  world.launcher.start = (request) => {
    const { frames } = readFrames(world.journal.bytes);
    const kinds = frames.flatMap(({ events }) => events.map(({ kind }) => kind));
    journaled.push(kinds.includes('epoch_launching'));
    start(request);
  };
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  assert.deepEqual(journaled, [true]);
});

test('[S3] with a full disk nothing is started until the journal can be written', async () => {
  await begin();
  world.journal.isFull = true;
  // The agent learns of it only by writing.
  world.journal.hasRoom = () => true;
  world.head.order(launch(1, shell('x')));
  await world.clock.advance(5000);
  assert.equal(world.launcher.started.length, 0);
  world.journal.isFull = false;
  await world.clock.advance(1000);
  assert.equal(world.launcher.started.length, 1);
});

test('a killed agent starts again, adopts everything and reports each end once', async () => {
  await begin();
  for (const job of [1, 2, 3]) world.head.order(launch(job, shell('x')));
  await world.clock.settle();
  await world.kill();
  world.launcher.exit(2, { code: 7 });
  await world.start();
  assert.deepEqual(
    world.head.hellos[1]?.held.map(({ epochId }) => epochId),
    ['1#1', '2#1', '3#1'],
  );
  world.launcher.exit(1, { code: 0 });
  await world.clock.settle();
  assert.equal(world.launcher.started.length, 3);
  assert.equal(world.head.kindsOf(idOf(2)).filter((kind) => kind === 'task_ended').length, 1);
  assert.deepEqual(world.head.endOf(idOf(2))?.processes, [{ rank: 0, exit: { code: 7 } }]);
  assert.deepEqual(world.head.kindsOf(idOf(3)), ['task_started']);
  assert.deepEqual(world.head.kindsOf(idOf(1)), ['task_started', 'task_ended']);
});

test('what the launcher never heard of counts as lost and is not started again', async () => {
  await begin();
  world.launcher.start = () => undefined;
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  await world.kill();
  await world.start();
  assert.equal(world.head.endOf(ID)?.cause, 'lost');
  assert.equal(world.head.endOf(ID)?.nodeFault, true);
});

test('walltime goes on over a restart of the agent', async () => {
  await begin();
  world.head.order(launch(1, shell('x'), { walltimeMs: 10_000 }));
  await world.clock.advance(6000);
  await world.kill();
  await world.clock.advance(3000);
  await world.start();
  await world.clock.advance(900);
  assert.equal(world.head.endOf(ID), undefined);
  await world.clock.advance(200);
  assert.equal(world.head.endOf(ID)?.cause, 'timeout');
});

test('[J25] the signal before the time limit is sent once, also by an agent that starts late', async () => {
  await begin();
  const warning = { signal: 12, leadMs: 4000 };
  world.head.order(launch(1, shell('x'), { walltimeMs: 10_000, warning }));
  await world.clock.settle();
  await world.clock.advance(5999);
  assert.deepEqual(world.launcher.signals, []);
  await world.kill();
  await world.clock.advance(1000);
  await world.start();
  await world.clock.advance(10);
  assert.deepEqual(world.launcher.signals, [{ launchId: 1, signal: 12, isAsked: true }]);
  await world.kill();
  await world.start();
  await world.clock.advance(1000);
  assert.equal(world.launcher.signals.length, 1, 'the journal knows that it was sent');
  await world.clock.advance(3000);
  assert.deepEqual(world.launcher.signals[1], { launchId: 1, signal: 15 });
});

test('a lost launcher: its processes are ended by their mark, the next one is used', async () => {
  await begin();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  world.launcher.die();
  await world.clock.settle();
  assert.deepEqual(world.killedMarks, ['inst:1']);
  assert.equal(world.head.endOf(ID)?.cause, 'lost');
  world.head.order(launch(2, shell('x')));
  await world.clock.settle();
  assert.deepEqual(world.head.kindsOf(idOf(2)), ['task_started']);
});

test('[S3] an end that only the launcher knew when it was killed is the end of the task', async () => {
  await begin();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  world.launcher.tellsEnds = false;
  world.launcher.exit(1, { code: 3 });
  world.launcher.dieLeavingEnds();
  await world.clock.settle();
  const end = world.head.endOf(ID);
  assert.equal(end?.cause, 'exited');
  assert.deepEqual(end?.processes, [{ rank: 0, exit: { code: 3 } }]);
  // The next launcher sees nothing of what the process left behind: its mark does.
  assert.deepEqual(world.killedMarks, ['inst:1']);
});

test('what is in an exec may be left of a lost task, which has not ended before that shows', async () => {
  await begin();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  world.inExec = 1;
  world.launcher.die();
  await world.clock.advance(10_000);
  assert.equal(world.head.endOf(ID), undefined);
  world.inExec = 0;
  await world.clock.advance(2_000);
  assert.equal(world.head.endOf(ID)?.cause, 'lost');
});

test('starts that are decided while there is no launcher wait for one', async () => {
  await begin();
  world.launcher.isUp = false;
  world.launcher.die();
  world.head.order(launch(1, shell('x')));
  await world.clock.advance(2000);
  assert.equal(world.launcher.started.length, 0);
  world.launcher.isUp = true;
  await world.clock.advance(1000);
  assert.deepEqual(world.head.kindsOf(ID), ['task_started']);
});

test('processes of a life that no journal knows are ended and forgotten', async () => {
  await begin();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  await world.kill();
  world.journal.replace(new Uint8Array(0));
  await world.start();
  assert.deepEqual(world.launcher.signals.at(0), { launchId: 1, signal: 9 });
  world.head.order(launch(2, shell('x')));
  await world.clock.settle();
  assert.equal(world.launcher.started.at(-1)?.launchId, 2);
});

test('reports are sent again in a new session until they are acknowledged', async () => {
  await begin();
  world.head.acknowledges = false;
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  world.head.cut();
  await world.clock.advance(6000);
  assert.deepEqual(world.head.kindsOf(ID), ['task_started', 'task_started']);
  world.head.acknowledges = true;
  world.head.cut();
  await world.clock.advance(6000);
  world.head.cut();
  await world.clock.advance(6000);
  assert.equal(world.head.kindsOf(ID).length, 3);
});

test('heartbeats go out every heartbeatMs', async () => {
  await begin({ heartbeatMs: 1000 });
  const beats = (): number => world.head.received.filter(({ kind }) => kind === 'heartbeat').length;
  const before = beats();
  await world.clock.advance(10_000);
  assert.equal(beats() - before, 10);
});

test('a head that no longer answers is dialled again', async () => {
  await begin({ heartbeatMs: 1000, nodeTimeoutMs: 5000 });
  world.head.acknowledges = false;
  await world.clock.advance(7000);
  assert.ok(world.head.hellos.length >= 2);
});

test('dials come further apart, up to five seconds, until the head is there', async () => {
  world = new FakeWorld();
  world.head.reachable = false;
  await world.start();
  await world.clock.advance(60_000);
  const dials = world.complaints.length;
  assert.ok(dials > 12 && dials < 30, `${dials} dials in a minute`);
  assert.deepEqual(world.agent?.status, { state: 'connecting', words: 'no head here' });
  world.head.reachable = true;
  await world.clock.advance(5000);
  assert.equal(world.agent?.status.state, 'connected');
});

test('a refusal is shown with its words', async () => {
  world = new FakeWorld();
  const message = 'The peer speaks protocol 1, this side speaks 2.';
  world.head.refusal = { kind: 'refused', code: 'protocol.version', message, details: {} };
  await world.start();
  const words = `${message} (protocol.version)`;
  assert.deepEqual(world.agent?.status, { state: 'refused', words });
});

test('an epoch with a lease ends when the head has been away for longer', async () => {
  await begin({ heartbeatMs: 1000 });
  world.head.order(launch(1, shell('x'), { onNodeLoss: { kind: 'lease', leaseMs: 5000 } }));
  world.head.order(launch(2, shell('x')));
  await world.clock.advance(10_000);
  assert.equal(world.launcher.signals.length, 0);
  world.head.reachable = false;
  world.head.cut();
  await world.clock.advance(5100);
  assert.deepEqual(world.launcher.signals[0], { launchId: 1, signal: 15 });
  world.head.reachable = true;
  await world.clock.advance(6000);
  assert.equal(world.head.endOf(ID)?.cause, 'lease_expired');
  assert.equal(world.head.endOf(idOf(2)), undefined);
});

test('the launcher hears what the head allows, also after a restart of the agent', async () => {
  await begin({ heartbeatMs: 1000, killGraceMs: 3000 });
  world.head.order(launch(1, shell('x'), { onNodeLoss: { kind: 'lease', leaseMs: 5000 } }));
  world.head.order(launch(2, shell('x')));
  await world.clock.advance(3000);
  const asked = world.launcher.started.map(({ launchId, leaseMs }) => [launchId, leaseMs]);
  assert.deepEqual(asked, [
    [1, 8000],
    [2, null],
  ]);
  const last = world.launcher.heard.at(-1) ?? 0;
  assert.ok(world.clock.monotonic() - last <= 1000);
  world.head.reachable = false;
  world.head.cut();
  await world.clock.advance(2000);
  assert.equal(world.launcher.heard.at(-1), last, 'nothing is renewed without an answer');
  await world.kill();
  await world.start();
  assert.equal(world.launcher.heard.at(-1), last);
});

test('TERM, then KILL after the grace', async () => {
  await begin();
  world.launcher.trapsTerm.add(1);
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  world.head.order({ kind: 'end', epochId: ID, graceMs: 3000, why: 'cancelled' });
  await world.clock.advance(2900);
  assert.equal(world.head.endOf(ID), undefined);
  await world.clock.advance(200);
  assert.equal(world.head.endOf(ID)?.cause, 'ended');
  assert.deepEqual(world.head.endOf(ID)?.processes, [{ rank: 0, exit: { signal: 9 } }]);
});

test('memory over the limit ends a task where no group keeps it', async () => {
  await begin();
  world.head.order(launch(1, shell('x'), { share: share(1, 1000) }));
  await world.clock.settle();
  world.memory.set('inst:1', 1000);
  await world.clock.advance(600);
  assert.equal(world.head.endOf(ID), undefined);
  world.memory.set('inst:1', 1001);
  await world.clock.advance(600);
  assert.equal(world.head.endOf(ID)?.cause, 'out_of_memory');
});

for (const [name, account, wanted] of [
  ['a missing user', { user: 'bob', uid: null }, 'user bob does not exist on node n1'],
  [
    'another uid',
    { user: 'alice', uid: 4711 },
    'user alice has uid 4711 where the job was submitted, but 1000 on n1',
  ],
  ['root', { user: 'root', uid: null }, 'jobs as root are refused'],
] as const) {
  test(`${name} is a failed launch in words, without blame for the node`, async () => {
    await begin();
    world.accounts.set('root', { ...world.accounts.get('alice')!, name: 'root', uid: 0, gid: 0 });
    const asUser = { user: account.user as UserName, uid: account.uid };
    world.head.order(launch(1, shell('x'), { account: asUser }));
    await world.clock.settle();
    const { cause, detail, nodeFault } = world.head.endOf(ID) ?? {};
    assert.deepEqual([cause, detail, nodeFault], ['launch_failed', wanted, false]);
    assert.equal(world.launcher.started.length, 0);
  });
}

test('an account that was made or changed just now is not refused by what was known before', async () => {
  await begin();
  const alice = world.accounts.get('alice')!;
  const account = (uid: number) => ({ user: 'alice' as UserName, uid });
  for (const [index, before] of [null, { ...alice, uid: 4711 }].entries()) {
    world.remembered.set('alice', before);
    world.head.order(launch(index + 1, shell('x'), { account: account(alice.uid) }));
    await world.clock.settle();
    assert.equal(world.launcher.started.length, index + 1);
  }
});

test('a private directory is made for the epoch and removed after it', async () => {
  await begin();
  world.head.order(launch(1, shell('x'), { directory: { kind: 'private' } }));
  await world.clock.settle();
  assert.deepEqual(world.files.directories.get('/state/work/1-1'), { uid: 1000, gid: 1000 });
  assert.equal(world.launcher.started[0]?.cwd, '/state/work/1-1');
  assert.ok(world.launcher.started[0]?.environment.includes('TMPDIR=/state/work/1-1.tmp'));
  world.launcher.exit(1, { code: 0 });
  await world.clock.settle();
  assert.deepEqual(world.files.list('/state/work'), []);
});

test('a script runs from a file of its own, by its first line or by the shell', async () => {
  await begin();
  world.head.order(launch(1, { kind: 'script', text: '#!/bin/bash\nls', args: ['a'] }));
  world.head.order(launch(2, { kind: 'script', text: 'ls', args: [] }));
  await world.clock.settle();
  assert.deepEqual(world.launcher.started[0]?.argv, ['/state/scripts/1-1', 'a']);
  assert.deepEqual(world.launcher.started[1]?.argv, ['/bin/sh', '/state/scripts/2-1']);
  world.launcher.exit(1, { code: 0 });
  await world.clock.settle();
  assert.equal(world.files.files.has('/state/scripts/1-1'), false);
});

test("a script of a batch's job is an argument of the shell, unless it is long or another's", async () => {
  await begin();
  const batch = { namespace: 'lab', name: 'heat', version: 1, job: 'a' } as never;
  const text = '#!/bin/sh\nls';
  const others = ['#!/bin/bash\nls', `#!/bin/sh\n${'#'.repeat(20_000)}`];
  for (const [at, one] of [text, ...others].entries()) {
    world.head.order(launch(at + 1, { kind: 'script', text: one, args: ['a'] }, { batch }));
  }
  await world.clock.settle();
  assert.deepEqual(
    world.launcher.started.map(({ argv }) => argv),
    [
      ['/bin/sh', '-c', text, 'script', 'a'],
      ['/state/scripts/2-1', 'a'],
      ['/state/scripts/3-1', 'a'],
    ],
  );
  assert.deepEqual(world.files.list('/state/scripts').sort(), ['2-1', '3-1']);
  for (const id of [1, 2, 3]) world.launcher.exit(id, { code: 0 });
  await world.clock.settle();
  assert.deepEqual(world.files.list('/state/scripts'), []);
});

test('shutting down ends the processes, and the next agent reports them as lost', async () => {
  await begin();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  await world.agent?.shutDown();
  assert.equal(world.launcher.ended, true);
  world.agent = null;
  await world.start();
  await world.clock.advance(6000);
  assert.equal(world.head.endOf(ID)?.cause, 'lost');
});

test('files of epochs that no journal knows are removed at the start', async () => {
  world = new FakeWorld();
  const { files, directories } = world.files;
  directories.set('/state/work/8-1', null);
  files.set('/state/scripts/8-1', Buffer.from('x'));
  files.set('/state/spool/1000/8.3-1.0.0.err', Buffer.from('x'));
  await world.start();
  await world.clock.settle();
  assert.deepEqual([...files.keys()], []);
  assert.equal(directories.has('/state/work/8-1'), false);
});

test('what a user puts in place of a file of ours ends neither his epoch nor the agent', async () => {
  world = new FakeWorld();
  world.files.files.set('/state/spool/1000/stray', Buffer.from(''));
  world.files.removeFile = () => {
    throw new Error('EISDIR');
  };
  world.files.empty = () => false;
  await world.start();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  world.launcher.exit(1, { code: 0 });
  await world.clock.settle();
  assert.equal(world.agent?.state.epochs.size, 0);
  const lines = world.complaints.filter((line) => line === 'a file could not be removed');
  assert.equal(lines.length, 3);
});

test('an effect that fails is tried again and keeps nobody else waiting', async () => {
  await begin();
  for (const job of [1, 2]) world.head.order(launch(job, shell('x')));
  await world.clock.settle();
  const { signal } = world.launcher;
  world.launcher.signal = (launchId, number) => {
    if (launchId === 1) throw new Error('broken');
    signal.call(world.launcher, launchId, number);
  };
  for (const job of [1, 2]) {
    world.head.order({ kind: 'end', epochId: idOf(job), graceMs: 60_000, why: 'cancelled' });
  }
  await world.clock.settle();
  assert.equal(world.head.endOf(idOf(2))?.cause, 'ended');
  assert.equal(world.head.endOf(ID), undefined);
  world.launcher.signal = signal;
  await world.clock.advance(5000);
  assert.equal(world.head.endOf(ID)?.cause, 'ended');
});

test('on a busy node ends that are some milliseconds apart go out together, the first one at once', async () => {
  await begin();
  for (let id = 1; id <= 100; id += 1) world.head.order(launch(id, shell('x')));
  // Between two heartbeats, whose answers are written too.
  await world.clock.advance(1500);
  const reports = () => world.head.received.filter(({ kind }) => kind === 'reports').length;
  const before = reports();
  for (let id = 1; id <= 4; id += 1) {
    world.launcher.exit(id, { code: 0 });
    await world.clock.advance(1);
    assert.equal(reports(), before + 1, `after ${id}`);
  }
  await world.clock.advance(4);
  assert.equal(reports(), before + 2);
  assert.ok([1, 2, 3, 4].every((id) => world.head.endOf(idOf(id))?.cause === 'exited'));
});

test('where little runs nothing waits', async () => {
  await begin();
  for (let id = 1; id <= 3; id += 1) world.head.order(launch(id, shell('x')));
  await world.clock.advance(1000);
  for (let id = 1; id <= 3; id += 1) {
    world.launcher.exit(id, { code: 0 });
    await world.clock.settle();
    assert.equal(world.head.endOf(idOf(id))?.cause, 'exited');
  }
});

test('many reports go out in messages of at most 200', async () => {
  await begin();
  const orders = Array.from({ length: 450 }, (_, index) => launch(index + 1, shell('x')));
  world.head.order(...orders);
  await world.clock.settle();
  const sizes = world.head.received.flatMap((message) =>
    message.kind === 'reports' ? [message.reports.length] : [],
  );
  assert.ok(Math.max(...sizes) <= 200, `${sizes}`);
  assert.equal(world.head.reports.length, 450);
});
