// Logins that wait: their codes, who is told what became of them, and how many there may be.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UserName } from '../../../../src/kernel/model/ids.ts';
import { whoAsks } from '../../../../src/wings/logins/cli/login.ts';
import { LOGIN_MS, WaitingLogins } from '../../../../src/wings/logins/core/waiting.ts';
import { placeOf } from '../../../../src/wings/logins/head/handlers.ts';
import { codeFrom, parseCode } from '../../../../src/wings/logins/model/code.ts';

const login = (code: string, more = {}) => ({
  code,
  label: 'ann@lab3',
  address: '10.0.0.3',
  network: '10.0.0.3',
  ticketHash: `hash of ${code}`,
  ...more,
});

const ANN = 'ann' as UserName;
const BY = { kind: 'user', name: ANN, role: 'user', uid: null } as const;
const GIVEN = { tokenId: '1', token: 'wt_1_2', user: 'ann', expiresAt: 9, by: BY };
const APPROVAL = { by: BY, user: ANN, known: [] };

test('[Y6] a token is told to who has the ticket alone, until it is kept', () => {
  const logins = new WaitingLogins();
  assert.ok(logins.begin(login('BBBB-CCCC'), 0).ok);
  assert.equal(logins.take('hash of BBBB-CCCC', 1), 'waiting');
  assert.equal(logins.take('BBBB-CCCC', 1), 'gone');
  assert.ok(logins.answer('BBBB-CCCC', APPROVAL, 2).ok);
  assert.ok(!logins.answer('BBBB-CCCC', APPROVAL, 2).ok, 'one answer');
  const made = { code: 'BBBB-CCCC', label: 'ann@lab3', ...APPROVAL };
  assert.deepEqual(logins.take('hash of BBBB-CCCC', 2), made);
  assert.equal(logins.take('hash of BBBB-CCCC', 2), 'waiting', 'one token is made');
  logins.gave('BBBB-CCCC', GIVEN);
  assert.deepEqual(logins.take('hash of BBBB-CCCC', 3), GIVEN);
  assert.deepEqual(logins.take('hash of BBBB-CCCC', 4), GIVEN, 'the answer was lost');
  assert.equal(logins.toKeep('BBBB-CCCC', 5), null);
  assert.deepEqual(logins.toKeep('hash of BBBB-CCCC', 5), GIVEN);
  assert.deepEqual(logins.toKeep('hash of BBBB-CCCC', 5), GIVEN, 'it was not said to be kept');
  assert.ok(logins.keep('hash of BBBB-CCCC'));
  assert.equal(logins.toKeep('hash of BBBB-CCCC', 5), 'kept', 'that answer was lost');
  assert.equal(logins.take('hash of BBBB-CCCC', 6), 'gone');
  assert.deepEqual(logins.lapsed(LOGIN_MS), []);
});

test('[Y16] a token that nobody has said to have is told of when its login is over', () => {
  const logins = new WaitingLogins();
  logins.begin(login('BBBB-CCCC'), 0);
  logins.answer('BBBB-CCCC', APPROVAL, LOGIN_MS - 1);
  logins.take('hash of BBBB-CCCC', LOGIN_MS);
  logins.gave('BBBB-CCCC', GIVEN);
  assert.deepEqual(logins.lapsed(LOGIN_MS), [], 'there is a minute to come for it');
  assert.equal(logins.take('hash of BBBB-CCCC', 2 * LOGIN_MS), 'gone');
  assert.equal(logins.toKeep('hash of BBBB-CCCC', 2 * LOGIN_MS), null);
  assert.deepEqual(logins.lapsed(2 * LOGIN_MS), ['1']);
  assert.deepEqual(logins.lapsed(2 * LOGIN_MS), []);
  assert.ok(!logins.keep('hash of BBBB-CCCC'), 'it is being revoked');
});

test('[Y6] logins whose token is kept are in nobody’s way', () => {
  const logins = new WaitingLogins();
  for (let at = 0; at < 600; at++) {
    assert.ok(logins.begin(login(`${at}`), 0).ok);
    logins.answer(`${at}`, APPROVAL, 0);
    logins.take(`hash of ${at}`, 0);
    logins.gave(`${at}`, GIVEN);
    assert.ok(logins.keep(`hash of ${at}`));
  }
  assert.equal(logins.toKeep('hash of 599', 0), 'kept');
  assert.equal(logins.toKeep('hash of 0', 0), null, 'how many are remembered is bounded');
});

test('[Y6] a login that nobody answers is over after ten minutes, a refused one at once', () => {
  const logins = new WaitingLogins();
  logins.begin(login('BBBB-CCCC'), 0);
  logins.begin(login('DDDD-FFFF'), 0);
  assert.ok(logins.find('BBBB-CCCC', LOGIN_MS - 1).ok);
  logins.answer('DDDD-FFFF', 'refused', 1);
  assert.ok(!logins.find('DDDD-FFFF', 1).ok);
  assert.equal(logins.take('hash of DDDD-FFFF', 1), 'refused');
  assert.equal(logins.take('hash of BBBB-CCCC', LOGIN_MS), 'gone');
  logins.begin(login('GGGG-HHHH'), 5000);
  assert.equal(logins.take('hash of GGGG-HHHH', 0), 'gone', 'the clock was set back');
});

test('[Y6] where no token could be made whoever asks may come again', () => {
  const logins = new WaitingLogins();
  logins.begin(login('BBBB-CCCC'), 0);
  logins.answer('BBBB-CCCC', APPROVAL, 1);
  logins.take('hash of BBBB-CCCC', 1);
  logins.gave('BBBB-CCCC', null);
  assert.equal(typeof logins.take('hash of BBBB-CCCC', 1), 'object');
});

test('[Y6] how many wait is bounded, of one address and altogether', () => {
  const logins = new WaitingLogins();
  const begin = (at: number, network: string) => logins.begin(login(`${at}`, { network }), 0).ok;
  for (let at = 0; at < 16; at++) assert.ok(begin(at, 'a'));
  const refused = logins.begin(login('16', { network: 'a' }), 0);
  assert.equal(refused.ok ? null : refused.error.code, 'login.too_many');
  for (let at = 16; at < 256; at++) assert.ok(begin(at, `address ${at}`));
  assert.ok(!begin(256, 'b'));
});

test('[Y6] addresses of one network of IPv6 are one', () => {
  const logins = new WaitingLogins();
  const begin = (at: number, address: string) =>
    logins.begin(login(`${at}`, placeOf(address)), 0).ok;
  for (let at = 0; at < 16; at++) assert.ok(begin(at, `2001:db8:1:2::${at}`));
  assert.ok(!begin(16, '2001:db8:1:2:ffff::1'));
  assert.ok(begin(17, '2001:db8:1:3::1'));
});

test('whoever approves reads the address first, and a label that cannot end its quotes', () => {
  const of = { label: 'ann@lab3", from 10.0.0.1', address: '10.0.0.66', since: '12:00' };
  const said = 'From 10.0.0.66, since 12:00: it calls itself "ann@lab3\\", from 10.0.0.1"';
  assert.equal(whoAsks(of), said);
});

test('a code has letters that spell nothing, and is read however it is typed', () => {
  assert.equal(codeFrom(Uint8Array.of(250, 0, 1, 2, 3, 20, 21, 239, 19)), 'BCDF-BCZZ');
  assert.equal(codeFrom(new Uint8Array(8).fill(255)), null);
  assert.equal(parseCode(' bcdf bczz'), 'BCDF-BCZZ');
  for (const text of ['', 'BCDF-BCZ', 'BCDF-BCZA', "BCDF-BCZZ'"])
    assert.equal(parseCode(text), null);
});
