// A node vouches for a user: what its agent asks, and when it does not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import { Vouching } from '../../../../src/wings/logins/agent/part.ts';
import type { Vouched } from '../../../../src/wings/logins/core/vouch.ts';
import { FakeWorld } from '../../kernel/agent/fake-world.ts';

const ANN = { name: 'ann', uid: 1001 };
const WISH = { code: 'BCDF-GHJK', fingerprint: 'AB:CD' };

function agent(fingerprint: string | null = 'abcd', hears = true) {
  const { clock } = new FakeWorld();
  const said: Vouched[] = [];
  let drawn = 0;
  const chance = {
    bytes: (count: number) => new Uint8Array(count).fill(++drawn),
    fraction: () => 0,
  };
  const vouching = new Vouching(
    {
      ports: { clock, chance },
      settings: { node: 'n1' as NodeName },
      say(wing, body) {
        assert.equal(wing, 'logins');
        if (hears) said.push(body as Vouched);
        return hears;
      },
    },
    fingerprint,
  );
  return { vouching, said, clock };
}

async function whyNot(asked: ReturnType<Vouching['ask']>): Promise<string> {
  const heard = await asked;
  assert.ok(!heard.ok);
  assert.equal(heard.error.code, 'login.not_vouched');
  return String(heard.error.details['why']);
}

test('[Y19] an agent tells the head who is at its socket, and the answer to whoever asked', async () => {
  const { vouching, said } = agent();
  const [first, second] = [vouching.ask(ANN, WISH), vouching.ask({ name: 'bob', uid: 1002 }, WISH)];
  assert.deepEqual(
    said.map(({ user, uid, code }) => [user, uid, code]),
    [
      ['ann', 1001, 'BCDF-GHJK'],
      ['bob', 1002, 'BCDF-GHJK'],
    ],
  );
  vouching.heard({ ask: said[1]?.ask, why: 'no admin has trusted it' });
  vouching.heard({ ask: 'of an earlier life', why: null });
  vouching.heard(null);
  vouching.heard({ ask: said[0]?.ask, why: null });
  assert.deepEqual(await first, { ok: true, value: { node: 'n1' } });
  assert.equal(await whyNot(second), 'no admin has trusted it');
});

test('[Y19] nobody is vouched for at another head, and root at none', async () => {
  const { vouching, said } = agent();
  const other = { ...WISH, fingerprint: 'abce' };
  assert.equal(await whyNot(vouching.ask(ANN, other)), 'it is a node of another head');
  assert.match(await whyNot(vouching.ask({ name: 'toor', uid: 0 }, WISH)), /root/);
  assert.match(await whyNot(agent(null).vouching.ask(ANN, WISH)), /fingerprint/);
  for (const body of [
    {},
    { code: 'BCDF-GHJK' },
    { ...WISH, code: 'x' },
    { ...WISH, fingerprint: 7 },
  ]) {
    const heard = await vouching.ask(ANN, body);
    assert.equal(heard.ok ? '' : heard.error.code, 'request.malformed');
  }
  assert.equal(said.length, 0);
});

test('[Y19] an agent without its head says so, and none waits for ever', async () => {
  assert.match(await whyNot(agent('abcd', false).vouching.ask(ANN, WISH)), /no connection/);
  const { vouching, clock } = agent();
  const gone = vouching.ask(ANN, WISH);
  vouching.parted();
  assert.match(await whyNot(gone), /went away/);
  const late = vouching.ask(ANN, WISH);
  await clock.advance(15_000);
  assert.match(await whyNot(late), /not answered/);
  const many = Array.from({ length: 32 }, () => vouching.ask(ANN, WISH));
  assert.match(await whyNot(vouching.ask(ANN, WISH)), /too many/);
  vouching.parted();
  for (const one of many) await whyNot(one);
});
