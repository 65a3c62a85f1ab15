// Who gives way when connections that have proven nobody are too many, whatever the listener.

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { networkOf } from '../../../../src/kernel/listeners/network.ts';
import { type Bounds, Newcomers } from '../../../../src/kernel/listeners/newcomers.ts';
import { PeerOwners } from '../../../../src/kernel/listeners/peer-owners.ts';
import { isOwnAddress, PeerTable, PeerUids } from '../../../../src/kernel/listeners/peer-uid.ts';
import { ownerOf, readSubUids } from '../../../../src/kernel/listeners/sub-uids.ts';

class FakeSocket extends EventEmitter {
  readonly remoteAddress: string;
  readonly remotePort: number;
  destroyed = false;

  constructor(remoteAddress: string, remotePort: number) {
    super();
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

const asSocket = (fake: FakeSocket): Socket => fake as unknown as Socket;

/** Nobody is of this machine, and nobody waits for those who come in the same moment. */
const AT_ONCE = { table: () => new PeerTable(''), defer: (judge: () => void) => judge() };

test('[D6] the longest silent one makes room, but none that has just come', () => {
  let now = 0;
  const bounds = { perAddress: 2, total: 3, local: 2, graceMs: 2000 };
  const newcomers = new Newcomers(() => now, bounds, AT_ONCE);
  const made: FakeSocket[] = [];
  const add = (address: string): FakeSocket => {
    const fake = new FakeSocket(address, made.length);
    made.push(fake);
    newcomers.add(asSocket(fake), false);
    return fake;
  };
  const [first, second, third] = [add('10.0.0.1'), add('10.0.0.1'), add('10.0.0.1')];
  assert.deepEqual([first.destroyed, second.destroyed, third.destroyed], [false, false, true]);
  now = 2000;
  const fourth = add('10.0.0.1');
  assert.deepEqual([first.destroyed, fourth.destroyed], [true, false]);
  newcomers.proven(asSocket(second));
  const fifth = add('10.0.0.1');
  assert.deepEqual([second.destroyed, fifth.destroyed], [false, false]);
  add('10.0.0.2');
  now = 4000;
  const other = add('10.0.0.3');
  assert.deepEqual([fourth.destroyed, other.destroyed], [true, false]);
});

test('an IPv6 network counts as one address', () => {
  assert.equal(networkOf('2001:db8:1:2:3:4:5:6'), networkOf('2001:db8:1:2::9'));
  assert.notEqual(networkOf('2001:db8:1:2::9'), networkOf('2001:db8:1:3::9'));
  assert.equal(networkOf('::ffff:10.0.0.1'), '::ffff:10.0.0.1');
});

test('[D6] all addresses by which a machine reaches itself count as one', () => {
  for (const one of ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.3']) {
    assert.equal(networkOf(one), networkOf('127.0.0.2'), one);
  }
  assert.notEqual(networkOf('128.0.0.1'), networkOf('127.0.0.1'));
});

/** Clients of this machine by their ports, each with its uid. */
function tableOf(uids: ReadonlyMap<number, number>): PeerTable {
  const end = (port: number) => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = [...uids].map(
    ([port, uid]) => `0: ${end(port)} ${end(9)} 01 0:0 0:0 0 ${uid} 0 1 1`,
  );
  return new PeerTable(lines.join('\n'));
}

test('[D6] a user of this machine who holds more than a share makes room for another at once', () => {
  const uids = new Map<number, number>();
  const bounds: Bounds = { perAddress: 8, total: 64, local: 8, graceMs: 1e9 };
  const table = () => tableOf(uids);
  let now = 0;
  const defer = (judge: () => void, afterMs: number): void => {
    now += afterMs;
    judge();
  };
  const newcomers = new Newcomers(() => now, bounds, { table, defer });
  const add = (port: number, uid: number): FakeSocket => {
    const ends = { localAddress: '127.0.0.1', localPort: 9 };
    const fake = Object.assign(new FakeSocket('127.0.0.1', port), ends);
    uids.set(port, uid);
    newcomers.add(asSocket(fake), false);
    return fake;
  };
  const many = Array.from({ length: 8 }, (_, at) => add(100 + at, 1001));
  const more = add(200, 1001);
  assert.equal(more.destroyed, true, 'no room for the same user');
  const owner = add(201, 1002);
  assert.deepEqual([owner.destroyed, many[0]?.destroyed], [false, true]);
  // Not below a share: then nobody is greedy, and who has just come waits.
  const third = [add(202, 1003), add(203, 1004), add(204, 1005), add(205, 1006), add(206, 1007)];
  assert.deepEqual(
    third.map(({ destroyed }) => destroyed),
    [false, false, false, false, false],
  );
  assert.equal(add(207, 1008).destroyed, true);
  assert.equal(owner.destroyed, false);
});

test('[D6] a user of this machine makes room for others when all have too many', () => {
  const uids = new Map<number, number>();
  const bounds: Bounds = { perAddress: 8, total: 8, local: 8, graceMs: 1e9 };
  const surroundings = { table: () => tableOf(uids), defer: (judge: () => void) => judge() };
  const newcomers = new Newcomers(() => 0, bounds, surroundings);
  const add = (address: string, port: number): FakeSocket => {
    const ends = { localAddress: '127.0.0.1', localPort: 9 };
    const fake = Object.assign(new FakeSocket(address, port), ends);
    newcomers.add(asSocket(fake), false);
    return fake;
  };
  const mine = Array.from({ length: 8 }, (_, at) => {
    uids.set(100 + at, 1001);
    return add('127.0.0.1', 100 + at);
  });
  const other = add('192.0.2.1', 7);
  assert.deepEqual([other.destroyed, mine[0]?.destroyed], [false, true]);
});

test('[D6] the table of connections is read seldom, and never for other machines alone', () => {
  let now = 0;
  let reads = 0;
  const due: (() => void)[] = [];
  const table = (): PeerTable => {
    reads += 1;
    return new PeerTable('');
  };
  const bounds: Bounds = { perAddress: 1, total: 64, local: 8, graceMs: 1e9 };
  const defer = (judge: () => void): void => void due.push(judge);
  const newcomers = new Newcomers(() => now, bounds, { table, defer });
  let port = 0;
  const add = (address: string): FakeSocket => {
    port += 1;
    const fake = new FakeSocket(address, port);
    newcomers.add(asSocket(fake), false);
    return fake;
  };
  const judge = (): void => {
    for (const one of due.splice(0)) one();
  };
  add('192.0.2.1');
  add('192.0.2.1');
  judge();
  assert.equal(reads, 0);
  for (let at = 0; at < 3; at += 1) {
    add('127.0.0.1');
    judge();
  }
  assert.equal(reads, 1);
  const late = add('127.0.0.1');
  assert.equal(late.destroyed, false, 'it waits for the next look');
  now = 1000;
  judge();
  assert.deepEqual([reads, late.destroyed], [2, true]);
});

const HAS_IPV6 = networkInterfaces()['lo']?.some(({ address }) => address === '::1') ?? false;

for (const host of ['127.0.0.1', ...(HAS_IPV6 ? ['::1', '::ffff:127.0.0.1'] : [])]) {
  test(`[D5] the kernel tells whose connection to ${host} it is`, async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    const { port } = server.address() as { port: number };
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
    const client = connect({ host, port });
    const socket = await accepted;
    try {
      assert.equal(await new PeerUids().of(socket), process.getuid?.());
      assert.equal(isOwnAddress(socket.remoteAddress ?? ''), true);
    } finally {
      client.destroy();
      socket.destroy();
      server.close();
    }
  });
}

test('[D5] an address of another machine is not this machine', () => {
  assert.equal(isOwnAddress('192.0.2.1'), false);
  assert.equal(isOwnAddress('2001:db8::1'), false);
});

/** Newcomers through a unix socket whose owners are said by a table, when `judged` has come. */
function localWorld(bounds: Bounds) {
  const owners = new Map<unknown, string>();
  const of = async (socket: Socket): Promise<string | null> => owners.get(socket) ?? null;
  const newcomers = new Newcomers(() => 0, bounds, { owners: { of } });
  let port = 0;
  const add = (owner: string | null): FakeSocket => {
    port += 1;
    const fake = new FakeSocket('', port);
    if (owner !== null) owners.set(fake, owner);
    newcomers.add(asSocket(fake), true);
    return fake;
  };
  const judged = () => new Promise((resolve) => setImmediate(resolve));
  return { newcomers, add, judged };
}

const OF_SOCKET: Bounds = { perAddress: 0, total: 0, local: 8, graceMs: 1e9 };

test('[D6] through a unix socket, too, who holds more than a share makes room for another', async () => {
  const { add, judged } = localWorld(OF_SOCKET);
  const many = Array.from({ length: 8 }, () => add('1001'));
  const [more, again, other] = [add('1001'), add('1001'), add('1002')];
  assert.deepEqual([more.destroyed, other.destroyed], [false, false], 'not judged yet');
  await judged();
  assert.deepEqual(
    [more, again, other].map(({ destroyed }) => destroyed),
    [true, true, false],
  );
  assert.deepEqual(many.map(({ destroyed }) => destroyed).indexOf(false), 1, 'the oldest is gone');
  const others = ['1003', '1004', '1005', '1006', '1007', '1008'].map((owner) => add(owner));
  await judged();
  // Below a share nobody is greedy, and who has just come waits.
  assert.deepEqual(
    others.map(({ destroyed }) => destroyed),
    [false, false, false, false, false, true],
  );
  assert.equal(other.destroyed, false);
});

test('[D6] one that is gone before it is judged takes no room, and who is nobody gets none', async () => {
  const { add, judged } = localWorld(OF_SOCKET);
  const many = Array.from({ length: 8 }, () => add(null));
  const [gone, late] = [add('1001'), add('1002')];
  gone.destroy();
  await judged();
  assert.equal(late.destroyed, true, 'of those that are there nobody knows whose they are');
  assert.deepEqual(
    many.every(({ destroyed }) => !destroyed),
    true,
  );
});

test('[D6] all uids that one user can have count as one user', () => {
  const ranges = readSubUids('# made by useradd\nalice:100000:65536\n\n1002:200000:10\nbad:line\n');
  assert.equal(ownerOf(1000, ranges), '1000');
  assert.equal(ownerOf(100_000, ranges), ownerOf(165_535, ranges));
  assert.notEqual(ownerOf(165_536, ranges), ownerOf(165_535, ranges));
  assert.equal(ownerOf(200_009, ranges), 'uids of 1002');
});

test('[D6] those that come in the same moments are asked for together, each once', async () => {
  const asked: number[] = [];
  const owners = new PeerOwners(async (sockets) => {
    asked.push(sockets.length);
    return sockets.map((_, at) => (at === 0 ? null : 1000));
  });
  const sockets = [1, 2, 3].map((port) => asSocket(new FakeSocket('', port)));
  const told = await Promise.all([...sockets, ...sockets].map((socket) => owners.of(socket)));
  assert.deepEqual(told, [null, '1000', '1000', null, '1000', '1000']);
  assert.deepEqual(asked, [3]);
  const failing = new PeerOwners(() => Promise.reject(new Error('no program')));
  assert.equal(await failing.of(asSocket(new FakeSocket('', 4))), null);
});
