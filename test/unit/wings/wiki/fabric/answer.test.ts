// One request of the wiki protocol answered: records that changed since, ids, room in a reply, and
// what is wrong with requests.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { err, ok } from '../../../../../src/kernel/base/result.ts';
import { WikiAnswers } from '../../../../../src/wings/wiki/fabric/answer.ts';
import type { WikiAction, WikiCluster } from '../../../../../src/wings/wiki/fabric/cluster.ts';
import { wikiProblem } from '../../../../../src/wings/wiki/fabric/codes.ts';
import { WIKI_PACKET_BYTES_MAX } from '../../../../../src/wings/wiki/fabric/packet.ts';
import { WikiReader } from '../../../../../src/wings/wiki/fabric/reader.ts';
import type { WikiRecord } from '../../../../../src/wings/wiki/fabric/reply.ts';

interface Bench {
  readonly answers: WikiAnswers;
  readonly acts: { action: WikiAction; user: string | null }[];
  nodes: WikiRecord[];
  jobs: Iterable<WikiRecord>;
  atS: number;
  ask(data: string): Promise<string>;
}

function bench(key: number | null = null): Bench {
  const acts: Bench['acts'] = [];
  const cluster: WikiCluster = {
    nodes: () => made.nodes,
    jobs: () => made.jobs,
    act(action, user) {
      acts.push({ action, user });
      const isKnown = action.job === '7';
      return Promise.resolve(isKnown ? ok('job 7 starts') : err(wikiProblem('refused', 'no job')));
    },
  };
  const made: Bench = {
    answers: new WikiAnswers({ cluster, key, unsigned: true, now: () => made.atS * 1000 }),
    acts,
    nodes: [],
    jobs: [],
    atS: 1_000_000_000,
    ask: async (data) => textOf(await made.answers.answer(Buffer.from(data))),
  };
  return made;
}

/** What follows the header, which says how much that is. */
function textOf(packet: Uint8Array): string {
  const text = Buffer.from(packet).toString();
  assert.equal(Number(text.slice(0, 8)), packet.length - 9);
  return text.slice(9);
}

const idle = (id: string): WikiRecord => ({ id, state: 'Idle', fields: [['CPROC', 2]] });

test('records tell when they last changed, and can be asked for by that', async () => {
  const world = bench();
  world.nodes = [idle('n1'), idle('n2')];
  const first =
    'SC=0 ARG=2#n1:STATE=Idle;UPDATETIME=1000000000;CPROC=2;#n2:STATE=Idle;UPDATETIME=1000000000;CPROC=2;';
  assert.equal(await world.ask('CMD=GETNODES ARG=0:ALL'), first);
  world.atS += 10;
  assert.equal(await world.ask('CMD=GETNODES ARG=0:ALL'), first, 'nothing has changed');
  world.nodes = [idle('n1'), { ...idle('n2'), state: 'Down' }];
  world.atS += 10;
  const changed = 'SC=0 ARG=1#n2:STATE=Down;UPDATETIME=1000000020;CPROC=2;';
  assert.equal(await world.ask('CMD=GETNODES ARG=1000000001:ALL'), changed);
  assert.equal(await world.ask('CMD=GETNODES ARG=0:n2:n9'), changed, 'by its name');
  assert.equal(await world.ask('CMD=GETNODES ARG=1000000021:ALL'), 'SC=0 ARG=0#');
});

test('a reply has what it has room for, from the front', async () => {
  const world = bench();
  const long = 'x'.repeat(1000);
  const many = (count: number): WikiRecord[] =>
    Array.from({ length: count }, (_, at) => ({
      id: `${at}`,
      state: 'Idle',
      fields: [['IWD', long]],
    }));
  world.jobs = many(5000);
  const packet = await world.answers.answer(Buffer.from('CMD=GETJOBS ARG=0:ALL'));
  assert.ok(packet.length <= WIKI_PACKET_BYTES_MAX + 9, `${packet.length} bytes`);
  const text = textOf(packet);
  const [, count = ''] = /ARG=(\d+)#0:STATE/.exec(text) ?? [];
  assert.equal(text.split('#').length - 1, Number(count));
  assert.ok(Number(count) > 1900 && Number(count) < 2097, count);
});

test('actions go to the cluster with the name that signed them', async () => {
  const signed = bench(42);
  signed.atS = 1_000_000_000;
  const start = 'CK=28d8fd17782bf1aa TS=1000000000 AUTH=maui DT=CMD=STARTJOB ARG=7 TASKLIST=n1:n1';
  const reply = await signed.ask(start);
  assert.match(reply, /^CK=[0-9a-f]{16} TS=1000000000 AUTH=weft DT=SC=0 RESPONSE=job 7 starts$/);
  assert.deepEqual(signed.acts, [
    { action: { kind: 'start_job', job: '7', tasks: ['n1', 'n1'] }, user: 'maui' },
  ]);
  const unsigned = await signed.ask('CMD=SUSPENDJOB ARG=8');
  assert.equal(unsigned, 'SC=-700 RESPONSE=no job', 'answered as it was asked');
});

test('what nobody can read is refused with its code, and changes nothing', async () => {
  const world = bench(42);
  const cases = [
    ['CMD=JOBADDTASK ARG=7', -810],
    ['CMD=GETJOBS ARG=x:ALL', -300],
    ['CMD=STARTJOB ARG=7', -300],
    ['hello', -300],
    ['CK=0000000000000000 TS=1000000000 AUTH=maui DT=CMD=GETNODES ARG=0:ALL', -422],
    ['CMD=GET\0NODES', -246],
  ] as const;
  for (const [data, code] of cases) {
    assert.match(await world.ask(data), new RegExp(`SC=${code} RESPONSE=\\S`), data);
  }
  assert.deepEqual(world.acts, []);
});

test('a request comes in pieces, and what follows it is not read', () => {
  const reader = new WikiReader();
  for (const byte of Buffer.from('00000004\nCMD')) {
    assert.deepEqual(reader.push(Uint8Array.of(byte)), ok(null));
  }
  assert.equal(reader.progress, '3 of 4 bytes of the request');
  const whole = reader.push(Buffer.from('=GETNODES'));
  assert.ok(whole.ok && whole.value !== null);
  assert.equal(Buffer.from(whole.value).toString(), 'CMD=');
});

test('a header that is none, or promises too much, is refused at once', () => {
  for (const header of ['GET / HTT', '00000000 ', '02097153 ', '-0000001 ', '99999999 ']) {
    const read = new WikiReader().push(Buffer.from(header));
    assert.equal(read.ok ? 0 : read.error.code, -240, header);
  }
});
