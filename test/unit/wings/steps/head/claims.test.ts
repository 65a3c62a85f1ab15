// What a head asks nodes about cpus, and what it makes of their answers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EpochId, NodeName } from '../../../../../src/kernel/model/ids.ts';
import { CLAIM_MS } from '../../../../../src/wings/steps/core/limits.ts';
import type { ClaimWish } from '../../../../../src/wings/steps/core/told.ts';
import { Claims } from '../../../../../src/wings/steps/head/claims.ts';
import { VirtualClock } from '../../../kernel/agent/fake-world.ts';

const [n1, n2] = ['n1', 'n2'] as [NodeName, NodeName];
const WISH = { epochId: '42#1' as EpochId, to: 'core' } as const;

function makeClaims(away: NodeName | null = null) {
  const clock = new VirtualClock();
  const asked: ClaimWish[] = [];
  const tellWing = (node: NodeName, _wing: string, body: unknown): boolean =>
    node !== away && asked.push(body as ClaimWish) > 0;
  return { clock, asked, claims: new Claims({ tellWing }, clock) };
}

test('[Z12] each process has the cpus that its own node has said', async () => {
  const { claims, asked } = makeClaims();
  const answer = claims.ask([n1, n1, n2], WISH);
  assert.deepEqual(
    asked.map(({ of }) => of),
    [2, 1],
  );
  const [first = 0, second = 0] = asked.map(({ claim }) => claim);
  // Those of another node, or too few, are no answer.
  claims.hear(n2, { claimed: first, cpus: ['7', '8'] });
  claims.hear(n1, { claimed: first, cpus: ['7'] });
  claims.hear(n2, { claimed: second, cpus: ['0'] });
  claims.hear(n1, { claimed: first, cpus: ['0-1', '2'] });
  assert.deepEqual(await answer, { ok: true, value: ['0-1', '2', '0'] });
});

test('[Z12] one node that cannot bind, says nothing or is away is said by name', async () => {
  const refused = makeClaims();
  const answer = refused.claims.ask([n1, n2], WISH);
  refused.claims.hear(n1, { claimed: refused.asked[0]?.claim ?? -1, cpus: ['0'] });
  refused.claims.hear(n2, { claimed: refused.asked[1]?.claim ?? -1, why: 'it has none' });
  assert.deepEqual(await answer, { ok: false, error: 'on node n2 it has none' });
  const silent = makeClaims();
  const late = silent.claims.ask([n1], WISH);
  await silent.clock.advance(CLAIM_MS);
  assert.deepEqual(await late, {
    ok: false,
    error: 'on node n1 there is no answer about cpus',
  });
  const away = makeClaims(n1);
  assert.deepEqual(await away.claims.ask([n1], WISH), {
    ok: false,
    error: 'on node n1 its agent is away',
  });
});
