// Tokens of logins whose answer never arrived.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command } from '../../../../src/kernel/machine/declared.ts';
import type { UserName } from '../../../../src/kernel/model/ids.ts';
import { LOGIN_MS, WaitingLogins } from '../../../../src/wings/logins/core/waiting.ts';
import { Revoking } from '../../../../src/wings/logins/head/part.ts';

const ANN = 'ann' as UserName;
const QUIET = { info: () => undefined, warn: () => undefined };

test('[Y16] the head revokes what nobody has, again where that failed', async () => {
  const logins = new WaitingLogins();
  const asked = { code: 'BBBB-CCCC', label: 'x', address: 'a', network: 'a', ticketHash: 'h' };
  logins.begin(asked, 0);
  const by = { kind: 'user', name: ANN, role: 'user', uid: null } as const;
  logins.answer(asked.code, { by, user: ANN, known: [] }, 1);
  logins.take('h', 2);
  logins.gave(asked.code, { tokenId: '7', token: 'wt_7_x', user: ANN, expiresAt: 9, by });

  let now = 3;
  const revoked: Command[] = [];
  const execute = async (command: Command) => {
    revoked.push(command);
    if (revoked.length === 1) throw new Error('the disk is full');
    return { ok: true, value: { kind: 'done' } } as const;
  };
  const work = new Revoking(logins, { engine: { now: () => now, execute }, log: QUIET });
  work.tick();
  assert.equal(revoked.length, 0);
  now = LOGIN_MS;
  for (let tick = 0; tick < 3; tick++) {
    work.tick();
    await new Promise(setImmediate);
  }
  assert.deepEqual(revoked, Array(2).fill({ kind: 'revoke_token', tokenId: '7' }));
});
