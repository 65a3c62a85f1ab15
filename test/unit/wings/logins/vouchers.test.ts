// The head hears that a node vouches for a user: for whom it gives a token, and for whom never.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HearWing } from '../../../../src/kernel/head/agents.ts';
import type { NodeName, UserName } from '../../../../src/kernel/model/ids.ts';
import type { VouchAnswer } from '../../../../src/wings/logins/core/vouch.ts';
import { WaitingLogins } from '../../../../src/wings/logins/core/waiting.ts';
import { Vouchers } from '../../../../src/wings/logins/head/vouchers.ts';
import { TestHead } from '../../../support/controller.ts';
import { KeptLog } from '../../kernel/head/http/fixture.ts';

const N1 = 'n1' as NodeName;
const CODE = 'BCDF-GHJK';

function world({ hasAccount = async (name: string) => ['ann', 'toor'].includes(name) } = {}) {
  const head = new TestHead();
  head.connect('n1', { switchesUser: true, machine: { id: 'm1' } });
  const logins = new WaitingLogins();
  const begin = (code: string) =>
    logins.begin({ code, label: 'x', address: 'a', network: 'a', ticketHash: code }, head.at);
  begin(CODE);
  const audit = new KeptLog();
  let hear: HearWing | undefined;
  const waiting: ((answer: VouchAnswer) => void)[] = [];
  new Vouchers({
    agents: {
      hearWing: (_, heard) => {
        hear = heard;
      },
      tellWing(node, _, body) {
        assert.equal(node, 'n1');
        waiting.shift()?.(body as VouchAnswer);
        return true;
      },
    },
    engine: {
      get state() {
        return head.state;
      },
      // As the head's: good as a method alone.
      now() {
        assert.ok('state' in this);
        return head.at;
      },
    },
    logins,
    log: new KeptLog(),
    audit,
    hasAccount,
  });
  const vouch = (user: string, { uid = 1001, code = CODE } = {}): Promise<string | null> =>
    new Promise((resolve) => {
      waiting.push(({ ask, why }) => {
        assert.equal(ask, '0123456789abcdef');
        resolve(why);
      });
      hear?.(N1, { ask: '0123456789abcdef', code, user, uid });
    });
  return { head, logins, begin, vouch, audit, hear: (body: unknown) => hear?.(N1, body) };
}

const TRUST = { kind: 'trust_node', node: N1 } as const;

test('[Y18] the word of a trusted node approves the login of its user, and of no other node', async () => {
  const { head, logins, vouch, audit } = world();
  assert.match(
    (await vouch('ann')) ?? '',
    /^no admin has trusted it; an admin types: weft node trust n1$/,
  );
  assert.equal(logins.take(CODE, head.at), 'waiting');
  head.command(TRUST);
  assert.equal(await vouch('ann', { uid: 77 }), null, 'the name counts, whatever its uid is there');
  const taken = logins.take(CODE, head.at);
  assert.ok(typeof taken === 'object' && 'user' in taken && 'known' in taken);
  assert.deepEqual(
    [taken.user, taken.by.name, taken.by.role, taken.by.through],
    ['ann', 'ann', 'user', 'n1'],
  );
  assert.match((await vouch('ann')) ?? '', /No login waits/);
  const results = audit.lines.map(({ fields }) => fields['result'] === 'ok');
  assert.deepEqual(results, [false, true, false]);
});

test('[Y19] no node vouches for root, for whoever has a role, or for whom the head does not know', async () => {
  const { head, logins, vouch, hear } = world();
  head.command(TRUST);
  const give = (user: string, role: 'user' | 'operator' | 'admin') =>
    head.command({ kind: 'set_user', user: user as UserName, role, mode: 'either' });
  give('olga', 'operator');
  give('ada', 'admin');
  give('cleo', 'user');
  assert.match((await vouch('root', { uid: 1001 })) ?? '', /root/);
  assert.match((await vouch('toor', { uid: 0 })) ?? '', /root/);
  assert.match((await vouch('olga')) ?? '', /operator/);
  assert.match((await vouch('ada')) ?? '', /admin/);
  assert.match((await vouch('eve')) ?? '', /knows nobody/);
  for (const body of [null, {}, { ask: 'x', code: CODE, user: 'ann', uid: 1 }]) hear(body);
  assert.equal(logins.take(CODE, head.at), 'waiting');
  assert.equal(await vouch('cleo'), null, 'an admin has made this user');
});

test('[Y18] no node vouches for users whose jobs would run as somebody else on another node', async () => {
  const { head, vouch } = world();
  head.command(TRUST);
  head.connect('n2', { switchesUser: false, machine: { id: 'm2' } });
  assert.match((await vouch('ann')) ?? '', /Jobs of ann run as .* on n2/);
});

test('[Y18] refusals are written once a minute, of a trusted node for each user, with how many there were', async () => {
  const { head, vouch, audit } = world();
  const written = () =>
    audit.lines.splice(0).map(({ fields }) => [fields['user'], fields['times'] ?? 1]);
  for (const user of ['ann', 'eve', 'ann', 'ann', 'ann']) await vouch(user);
  assert.deepEqual(written(), [['ann', 1]]);
  head.at += 60_000;
  await vouch('ann');
  assert.deepEqual(written(), [['ann and others', 5]]);
  head.command(TRUST);
  for (const user of ['root', 'eve', 'root', 'eve', 'eve']) await vouch(user);
  assert.deepEqual(written(), [
    ['root', 1],
    ['eve', 1],
  ]);
  for (let count = 0; count < 100; count++) await vouch(`u${count}`);
  // Of 64, root and eve have theirs, and the rest of the users shares one.
  assert.equal(written().length, 61);
  head.at += 60_000;
  await vouch('eve');
  assert.deepEqual(written(), [['eve', 3]]);
  assert.equal(await vouch('ann'), null);
  assert.deepEqual(written(), [['ann', 1]], 'what is granted is always written');
});

test('[Y18] users who were refused long ago make room, and what they were refused since is still told', async () => {
  const { head, vouch, audit } = world();
  const written = () =>
    audit.lines.splice(0).map(({ fields }) => [fields['user'], fields['times'] ?? 1]);
  head.command(TRUST);
  for (let count = 0; count < 64; count++) await vouch(`u${count}`);
  for (const user of ['u0', 'u1', 'u1']) await vouch(user);
  assert.equal(written().length, 64);
  for (const user of ['v1', 'v2', 'v3']) await vouch(user);
  assert.deepEqual(written(), [['v1', 1]], 'nobody is old enough: the others share a line');
  head.at += 60_000;
  for (const user of ['v2', 'v3', 'v3']) await vouch(user);
  assert.deepEqual(written(), [
    ['v2', 1],
    ['v3', 1],
  ]);
  for (let count = 0; count < 61; count++) await vouch(`w${count}`);
  assert.equal(written().length, 61);
  await vouch('x1');
  assert.deepEqual(written(), [['x1 and others', 6]], 'x1, two of v and three of u');
  head.at -= 3_600_000;
  await vouch('x2');
  assert.deepEqual(written(), [['x2', 1]], 'a clock that was set back keeps nobody');
});

test('[Y18] too many words at once are refused, and said to be tried again', async () => {
  const { head, vouch } = world({ hasAccount: () => new Promise(() => undefined) });
  head.command(TRUST);
  // The one answer that comes is of the last; whoever asked first hears it here.
  const first = vouch('ann');
  for (let count = 0; count < 16; count++) void vouch('ann');
  assert.equal(await first, 'too many nodes vouch at once; try again');
});
