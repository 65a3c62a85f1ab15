// What a head knows of accounts, and that a session has no more than its account has now.

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { Accounts, findAccount } from '../../../../../src/kernel/head/auth/accounts.ts';
import { Authenticator } from '../../../../../src/kernel/head/auth/authenticate.ts';
import { Sessions } from '../../../../../src/kernel/head/auth/sessions.ts';
import type { UserName } from '../../../../../src/kernel/model/ids.ts';
import { systemChance } from '../../../../../src/kernel/os/chance.ts';

/** A uid that no machine has. */
const UID = 1_987_654_321;
const ANN = { name: 'ann' as UserName, uid: UID, groups: ['chem'] };
const KNOWN = `echo 'ann:x:${UID}:7777::/srv/ann:/bin/sh'`;

/** Puts programs of this test in place of the machine's. */
function replaceTools(t: TestContext, tools: Readonly<Record<'getent' | 'id', string>>): void {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-tools-'));
  const { PATH } = process.env;
  for (const [name, line] of Object.entries(tools)) {
    writeFileSync(path.join(folder, name), `#!/bin/sh\n${line}\n`);
    chmodSync(path.join(folder, name), 0o755);
  }
  process.env['PATH'] = `${folder}:${PATH}`;
  t.after(() => {
    process.env['PATH'] = PATH;
    rmSync(folder, { recursive: true });
  });
}

test('a group without a name takes an account none of its others', async (t) => {
  replaceTools(t, { getent: KNOWN, id: "printf '7777\\0lab\\0'; exit 1" });
  assert.deepEqual(await new Accounts().groupsOf('ann', 0), ['7777', 'lab']);
});

test('a group whose name has a blank is one, where id(1) can say so', async (t) => {
  const groups = () => new Accounts().groupsOf('ann', 0);
  replaceTools(t, { getent: KNOWN, id: "printf 'lab\\0gpu users\\0'" });
  assert.deepEqual(await groups(), ['lab', 'gpu users']);
  replaceTools(t, { getent: KNOWN, id: '[ "$1" = -Gn ] || exit 1; echo lab chem' });
  assert.deepEqual(await groups(), ['lab', 'chem']);
});

test('a directory that gave no answer is not asked again by each request', async (t) => {
  const accounts = new Accounts();
  replaceTools(t, { getent: KNOWN, id: 'exit 3' });
  assert.deepEqual(await accounts.asItIs(ANN, 0), ANN);
  replaceTools(t, { getent: KNOWN, id: "printf 'lab\\0'" });
  assert.deepEqual(await accounts.asItIs(ANN, 29_000), ANN, 'as it was');
  assert.deepEqual((await accounts.asItIs(ANN, 31_000))?.groups, ['lab']);
});

test('whether there is an account is not known while its directory cannot be asked', async (t) => {
  replaceTools(t, { getent: KNOWN, id: 'exit 1' });
  assert.equal(await findAccount('ann'), true);
  replaceTools(t, { getent: 'exit 2', id: 'exit 1' });
  assert.equal(await findAccount('ann'), false);
  replaceTools(t, { getent: 'exit 3', id: 'exit 1' });
  assert.equal(await findAccount('ann'), undefined);
});

test('an account is as it is now, and as it was while its directory cannot be asked', async (t) => {
  const look = () => new Accounts().asItIs(ANN, 0);
  replaceTools(t, { getent: KNOWN, id: "printf 'lab\\0'" });
  assert.deepEqual(await look(), { ...ANN, groups: ['lab'] });
  replaceTools(t, { getent: KNOWN, id: 'exit 1' });
  assert.deepEqual(await look(), ANN);
  replaceTools(t, { getent: 'exit 3', id: 'exit 1' });
  assert.deepEqual(await look(), ANN);
  replaceTools(t, { getent: 'exit 2', id: 'exit 1' });
  assert.equal(await look(), null);
  replaceTools(t, { getent: KNOWN.replace('ann', 'eve'), id: "printf 'lab\\0'" });
  assert.equal(await look(), null);
});

test('a session on the unix socket has the groups that its account has now', async () => {
  const sessions = new Sessions(systemChance);
  const { token } = sessions.open(ANN, 0);
  let now: typeof ANN | null = ANN;
  const authenticator = new Authenticator({
    state: () => ({ users: new Map(), tokens: new Map() }) as never,
    sessions,
    pageSessions: null as never,
    accounts: { asItIs: async () => now },
    now: () => 1,
    headUid: 5000,
    multiUser: true,
    findWorkers: [],
  });
  const groups = async (local = true, scheme = 'Bearer') => {
    const found = await authenticator.authenticate(`${scheme} ${token}`, local);
    return found.ok && found.value.kind === 'user' ? found.value.actor.groups : null;
  };
  assert.deepEqual(await groups(), ['chem']);
  now = { ...ANN, groups: ['physics'] };
  assert.deepEqual(await groups(), ['physics']);
  // RFC 9110: the scheme may be in any letters.
  assert.deepEqual(await groups(true, 'bearer'), ['physics']);
  assert.equal(await groups(true, 'Basic'), null);
  assert.equal(await groups(false), null);
  now = null;
  assert.equal(await groups(), null);
});
