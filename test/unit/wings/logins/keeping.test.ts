// The last step of a login: its token counts once the head has committed that it is kept, and only
// while the node whose word it stands on is trusted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashSecret } from '../../../../src/kernel/head/auth/secrets.ts';
import type { Call } from '../../../../src/kernel/head/http/call.ts';
import type { Services } from '../../../../src/kernel/head/http/services.ts';
import type { Command } from '../../../../src/kernel/machine/declared.ts';
import type { Actor, UserActor } from '../../../../src/kernel/model/actor.ts';
import { refuse } from '../../../../src/kernel/model/errors.ts';
import { Failure, failure } from '../../../../src/kernel/model/failure.ts';
import type { NodeName, UserName } from '../../../../src/kernel/model/ids.ts';
import { systemChance } from '../../../../src/kernel/os/chance.ts';
import { tellKept } from '../../../../src/wings/logins/cli/login.ts';
import { LOGIN_MS, WaitingLogins } from '../../../../src/wings/logins/core/waiting.ts';
import { takeLogin } from '../../../../src/wings/logins/head/handlers.ts';
import { TestHead } from '../../../support/controller.ts';

const CODE = 'BCDF-GHJK';
const ANN = 'ann' as UserName;
const N1 = 'n1' as NodeName;
const BY: UserActor = { kind: 'user', name: ANN, uid: null, role: 'user', through: N1 };

/** A head with a trusted node that has vouched for ann. */
function vouchedWorld({ multiUser = true } = {}) {
  const head = new TestHead();
  head.connect('n1', { switchesUser: true, machine: { id: 'm1' } });
  head.command({ kind: 'trust_node', node: N1 });
  const logins = new WaitingLogins();
  const begun = { code: CODE, label: 'x', address: 'a', network: 'a' };
  logins.begin({ ...begun, ticketHash: hashSecret('ticket') }, head.at);
  logins.answer(CODE, { by: BY, user: ANN, known: [undefined, undefined] }, head.at);
  const disk = { isFull: false };
  const engine = {
    get state() {
      return head.state;
    },
    now: () => head.at,
    async execute(command: Command, actor: Actor) {
      if (disk.isFull) throw new Error('the disk is full');
      return { ok: true, value: head.command(command, actor) };
    },
  };
  const services = { engine, logins, chance: systemChance, facts: { multiUser } };
  const ask = async (kept?: true): Promise<string> => {
    const body = kept === undefined ? { ticket: 'ticket' } : { ticket: 'ticket', kept };
    const call = { body } as unknown as Call<'takeLogin'>;
    const answer = await takeLogin(services as unknown as Services, call);
    assert.ok(answer.ok);
    return (answer.value as { readonly state: string }).state;
  };
  const distrust = () => head.command({ kind: 'distrust_node', node: N1 });
  return { head, logins, disk, ask, distrust };
}

test('[Y16] a login is kept only once the head has committed that, however often it is said', async () => {
  const { head, logins, disk, ask } = vouchedWorld();
  assert.equal(await ask(), 'approved');
  disk.isFull = true;
  await assert.rejects(ask(true), /disk is full/);
  disk.isFull = false;
  assert.equal(await ask(true), 'kept', 'the second try finds the login');
  assert.equal(await ask(true), 'kept', 'the answer was lost');
  const [token] = [...head.state.tokens.values()];
  assert.ok((token?.expiresAt ?? 0) > head.at + LOGIN_MS);
  assert.deepEqual([token?.through, token?.label], [N1, 'login x (by node n1)']);
  assert.deepEqual(logins.lapsed(head.at + LOGIN_MS), []);
  head.finish();
});

test('[Y18] the end of trust stops a login that is approved, given, or not yet kept', async () => {
  const approved = vouchedWorld();
  approved.distrust();
  assert.equal(await approved.ask(), 'refused');
  assert.equal(approved.head.state.tokens.size, 0);

  for (const kept of [undefined, true] as const) {
    const { head, logins, ask, distrust } = vouchedWorld();
    assert.equal(await ask(), 'approved');
    distrust();
    assert.equal(await ask(kept), kept ? 'gone' : 'refused');
    assert.deepEqual(logins.lapsed(head.at), [...head.state.tokens.keys()], 'it is revoked next');
    assert.equal(await ask(true), 'gone');
  }
});

test('[Y18] in a cluster of one user no word of a node gives a token', async () => {
  const { ask } = vouchedWorld({ multiUser: false });
  assert.equal(await ask(), 'refused');
});

test('[Y16] weft login takes nothing but kept for kept, also after a try that failed', async () => {
  const away = failure(refuse('head.unreachable', { address: 'a', cause: 'b' }));
  const saying = (...states: (string | Error)[]) => {
    const call = async () => {
      const state = states.shift();
      if (state instanceof Error) throw state;
      return { state, token: null, user: null, expiresAt: null };
    };
    return { call } as unknown as Parameters<typeof tellKept>[0];
  };
  const of = { ticket: 't', everyMs: 0, end: performance.now() + 60_000 };
  assert.ok(away instanceof Failure && away.kind === 'unavailable');
  await tellKept(saying(away, 'kept'), of);
  await assert.rejects(tellKept(saying(away, 'gone'), of), /over before its token was kept/);
  await assert.rejects(tellKept(saying('gone'), of), /over before its token was kept/);
});
