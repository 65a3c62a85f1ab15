// The web page's listeners: its files, logins by link and token, the cookie with its key, and what
// other sites, other tokens and a head that starts again can do with them.

import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { get } from 'node:http';
import { endianness, hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import type { RouteName } from '../../../../../src/kernel/api/paths.ts';
import { Authenticator } from '../../../../../src/kernel/head/auth/authenticate.ts';
import { refuseStale } from '../../../../../src/kernel/head/auth/authorize.ts';
import { PageSessions } from '../../../../../src/kernel/head/auth/page-sessions.ts';
import { PeerTable, type SocketEnds } from '../../../../../src/kernel/listeners/peer-uid.ts';
import type { UserName } from '../../../../../src/kernel/model/ids.ts';
import { systemChance } from '../../../../../src/kernel/os/chance.ts';
import { KeptLog, startAgent, startWorld, TRUE, type World } from './fixture.ts';

const HOUR_MS = 3_600_000;
const ALICE = 'alice' as UserName;

const uidIn = (table: string, ends: SocketEnds) => new PeerTable(table).uidOf(ends);

/** A browser without a page: sends what it is told, keeps cookie and key. */
class Browser {
  readonly url: string;
  cookie = '';
  key = '';

  constructor(url: string) {
    this.url = url;
  }

  async send(method: string, where: string, body?: unknown, headers: Record<string, string> = {}) {
    const credentials: Record<string, string> = {};
    if (this.cookie !== '') credentials['cookie'] = this.cookie;
    if (this.key !== '') credentials['weft-page'] = this.key;
    const response = await fetch(this.url + where, {
      method,
      headers: { ...credentials, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = text.startsWith('{') ? JSON.parse(text) : {};
    return { status: response.status, headers: response.headers, text, json };
  }

  async logIn(body: unknown) {
    const answer = await this.send('POST', '/v1/ui/login', body);
    const set = answer.headers.get('set-cookie') ?? '';
    if (answer.status === 200) {
      this.cookie = set.split(';')[0] ?? '';
      this.key = answer.json.key;
    }
    return { ...answer, set };
  }
}

async function open(t: TestContext, options: Parameters<typeof startWorld>[1] = {}) {
  const world = await startWorld(t, { multiUser: false, ...options });
  const link = await world.admin.call('createPageLink', { body: {} });
  return { world, link, browser: new Browser(`http://127.0.0.1:${link.loopbackPort}`) };
}

/** Sessions without a head, at the instant 0. */
async function openSessions(t: TestContext) {
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-page-'));
  const log = new KeptLog();
  const again = async (now: number) => {
    const sessions = new PageSessions(systemChance, directory, log);
    await sessions.load(now);
    return sessions;
  };
  const sessions = await again(0);
  t.after(async () => {
    await sessions.written();
    rmSync(directory, { recursive: true });
    assert.deepEqual(log.lines, []);
  });
  const user = { kind: 'token', tokenId: 'x' } as const;
  const login = { user, owner: ALICE, now: 0, until: null, peer: null, byLink: false };
  return { sessions, again, user, login, file: path.join(directory, 'page-sessions.json') };
}

function buildPage({ directory }: World): void {
  const folder = path.join(directory, 'page');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'index.html'), '<!doctype html>');
  writeFileSync(path.join(folder, 'app-AAAAAAAA.js'), 'let a = 1;');
  writeFileSync(path.join(folder, 'app-AAAAAAAA.js.br'), brotliCompressSync('let a = 1;'));
  writeFileSync(path.join(folder, 'sources.sha256'), 'x');
}

test('the page is served with a strict policy, its files for ever and compressed', async (t) => {
  const { world, browser } = await open(t);
  const missing = await browser.send('GET', '/');
  assert.deepEqual([missing.status, missing.json.error.code], [503, 'page.not_built']);
  buildPage(world);
  const index = await browser.send('GET', '/');
  assert.equal(index.status, 200);
  assert.equal(index.headers.get('cache-control'), 'no-cache');
  const policy = index.headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  const script = await browser.send('GET', '/ui/app-AAAAAAAA.js', undefined, {
    'accept-encoding': 'gzip, br',
  });
  assert.equal(script.text, 'let a = 1;');
  assert.equal(script.headers.get('content-encoding'), 'br');
  assert.match(script.headers.get('cache-control') ?? '', /immutable/);
  for (const file of ['app-BBBBBBBB.js', 'sources.sha256', '..%2Fpage-sessions.json', '']) {
    const { status } = await browser.send('GET', `/ui/${file}`);
    assert.ok(status === 404 || status === 400, `${file}: ${status}`);
  }
  // Built anew: the head need not restart.
  const file = path.join(world.directory, 'page', 'index.html');
  writeFileSync(file, '<!doctype html>new');
  utimesSync(file, 1, 1);
  assert.match((await browser.send('GET', '/')).text, /new/);
});

test('a link logs in once, as whoever made it', async (t) => {
  const { world, link, browser } = await open(t);
  const wrong = await browser.logIn({ link: `${link.secret.split('_')[0]}_x` });
  assert.deepEqual([wrong.status, wrong.json.error.code], [401, 'auth.token_invalid']);
  const { status, json, set } = await browser.logIn({ link: link.secret });
  assert.equal(status, 200);
  assert.equal(json.role, 'admin');
  assert.match(
    set,
    /^weft_[0-9a-f]{8}=\w+_[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/,
  );
  const { name } = await world.admin.call('whoami');
  const who = await browser.send('GET', '/v1/whoami');
  assert.deepEqual([who.status, who.json.name], [200, name]);
  const again = await new Browser(browser.url).logIn({ link: link.secret });
  assert.equal(again.status, 401);
});

test('over TLS the cookie is for TLS and this host only', async (t) => {
  const world = await startWorld(t);
  const link = await world.admin.call('createPageLink', { body: {} });
  // With several users and a port of its own there is no listener without TLS.
  assert.equal(link.loopbackPort, null);
  assert.ok(link.addresses[0]?.endsWith(`:${world.http.port}`));
  const { request } = await import('node:https');
  const set = await new Promise<string>((resolve, reject) => {
    const options = { method: 'POST', rejectUnauthorized: false };
    const outgoing = request(`${world.url}/v1/ui/login`, options, (incoming) => {
      incoming.resume();
      resolve(String(incoming.headers['set-cookie']));
    });
    outgoing.on('error', reject);
    outgoing.end(JSON.stringify({ link: link.secret }));
  });
  assert.match(set, /^__Host-weft_[0-9a-f]{8}=.*; HttpOnly; SameSite=Strict; .*; Secure$/);
});

test('cookie and key are worth nothing without each other', async (t) => {
  const { link, browser } = await open(t);
  await browser.logIn({ link: link.secret });
  const { cookie, key } = browser;
  const tries: [string, string, string][] = [
    [cookie, '', 'auth.required'],
    ['', key, 'auth.token_invalid'],
    [cookie, `${key}x`, 'auth.token_invalid'],
    [`${cookie}x`, key, 'auth.token_invalid'],
  ];
  for (const [someCookie, someKey, code] of tries) {
    browser.cookie = someCookie;
    browser.key = someKey;
    const { status, json } = await browser.send('POST', '/v1/jobs', TRUE);
    assert.deepEqual([status, json.error.code], [401, code]);
  }
});

test('another site can neither act in a session nor log anybody in', async (t) => {
  const { world, link, browser } = await open(t);
  const headers = [{ origin: 'http://evil.example' }, { origin: 'null' }];
  const cross = [...headers, { 'sec-fetch-site': 'same-site' }, { 'sec-fetch-site': 'cross-site' }];
  for (const header of cross) {
    const login = await browser.send('POST', '/v1/ui/login', { link: link.secret }, { ...header });
    assert.deepEqual([login.status, login.json.error.code], [403, 'auth.foreign_page']);
  }
  await browser.logIn({ link: link.secret });
  await startAgent(t, world, 'n1');
  for (const header of cross) {
    const { status, json } = await browser.send('POST', '/v1/jobs', TRUE, { ...header });
    assert.deepEqual([status, json.error.code], [403, 'auth.foreign_page']);
  }
  const own = { origin: browser.url, 'sec-fetch-site': 'same-origin' };
  assert.equal((await browser.send('POST', '/v1/jobs', TRUE, own)).status, 200);
});

/** Status and code of an answer, asked for under a name of one's own. */
async function askedAs(url: string, host: string, headers: Record<string, string> = {}) {
  const { request } = await import('node:http');
  return new Promise<readonly [number, string]>((resolve, reject) => {
    const outgoing = request(`${url}/v1/whoami`, { headers: { host, ...headers } }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (piece) => {
        text += piece;
      });
      incoming.on('end', () => {
        const json = JSON.parse(text);
        resolve([incoming.statusCode ?? 0, json.error?.code ?? json.name]);
      });
    });
    outgoing.on('error', reject).end();
  });
}

test('[D7] the page is there under the names of the head, and under no other that leads to it', async (t) => {
  const { world, link, browser } = await open(t);
  await browser.logIn({ link: link.secret });
  const shown = { cookie: browser.cookie, 'weft-page': browser.key };
  const { name } = await world.admin.call('whoami');
  const { port } = new URL(browser.url);
  const own = [`127.0.0.1:${port}`, 'localhost:9000', '[::1]:80', '192.0.2.1', 'LOCALHOST.'];
  for (const host of [...own, hostname()]) {
    assert.deepEqual(await askedAs(browser.url, host, shown), [200, name], host);
  }
  for (const host of [
    `rebound.example:${port}`,
    'localhost.evil.example',
    '127.0.0.1.nip.example',
  ]) {
    const answer = await askedAs(browser.url, host, shown);
    assert.deepEqual(answer, [403, 'auth.foreign_host'], host);
  }
});

test('[D7] over TLS a name is asked of browsers, and not of programs that know the certificate', async (t) => {
  const world = await startWorld(t);
  const { request } = await import('node:https');
  const status = (where: string, headers: Record<string, string>): Promise<number> =>
    new Promise((resolve, reject) => {
      const options = { rejectUnauthorized: false, headers };
      const outgoing = request(`${world.url}${where}`, options, (incoming) => {
        incoming.resume();
        resolve(incoming.statusCode ?? 0);
      });
      outgoing.on('error', reject).end();
    });
  const host = 'tunnel.example';
  const authorization = `Bearer ${await world.token('alice')}`;
  assert.equal(await status('/v1/whoami', { host, authorization }), 200);
  assert.equal(await status('/', { host }), 403);
  assert.equal(await status('/v1/whoami', { host, 'weft-page': 'x' }), 403);
  // No page was built here: it is looked for.
  assert.equal(await status('/', {}), 503);
});

test('[D8] what outlasts a session needs a login by a link, and soon after it', async (t) => {
  const { world, link, browser } = await open(t);
  await browser.logIn({ link: link.secret });
  for (const where of ['/v1/tokens', '/v1/join-tokens']) {
    assert.equal((await browser.send('POST', where, {})).status, 200, where);
  }
  const typed = new Browser(browser.url);
  await typed.logIn({ token: await world.token('alice') });
  const { status, json } = await typed.send('POST', '/v1/tokens', {});
  assert.deepEqual([status, json.error.code], [403, 'auth.fresh_login_needed']);
  assert.match(json.error.message, /at most 10m old/);
  assert.equal((await typed.send('GET', '/v1/tokens')).status, 200, 'all else goes on');

  const actor = { kind: 'user', name: ALICE, uid: null, role: 'admin' } as const;
  const codeAt = (name: RouteName, linkedAt: number | null): string | null =>
    refuseStale({ name }, { kind: 'user', actor, linkedAt }, HOUR_MS)?.code ?? null;
  for (const name of ['createToken', 'createJoinToken', 'createUser', 'modifyUser'] as const) {
    assert.equal(codeAt(name, HOUR_MS - 600_000), null, name);
    assert.equal(codeAt(name, HOUR_MS - 600_001), 'auth.fresh_login_needed', name);
    assert.equal(codeAt(name, null), 'auth.fresh_login_needed', name);
    assert.equal(refuseStale({ name }, { kind: 'user', actor }, HOUR_MS), null, 'no page');
  }
  assert.equal(codeAt('submitJob', 0), null);
});

test('a session has the rights of its token, and ends with it or by logging out', async (t) => {
  const { world, browser } = await open(t);
  await startAgent(t, world, 'n1');
  const token = await world.token('alice');
  const { json } = await browser.logIn({ token });
  assert.deepEqual([json.user, json.role], ['alice', 'user']);
  const { jobId } = await world.admin.call('submitJob', { body: { ...TRUE, held: true } });
  const cancel = await browser.send('POST', `/v1/jobs/${jobId}/cancel`, {});
  assert.deepEqual([cancel.status, cancel.json.error.code], [403, 'auth.not_owner']);
  const link = await browser.send('POST', '/v1/ui/links', {});
  assert.deepEqual([link.status, link.json.error.code], [401, 'auth.required']);
  const second = new Browser(browser.url);
  await second.logIn({ token });
  assert.equal((await second.send('POST', '/v1/ui/logout', {})).json.count, 1);
  assert.equal((await second.send('GET', '/v1/whoami')).status, 401);
  assert.equal((await browser.send('GET', '/v1/whoami')).status, 200);
  await world.admin.call('revokeToken', { params: { id: token.split('_')[1] ?? '' } });
  assert.equal((await browser.send('GET', '/v1/whoami')).status, 401);
});

test('a join token, a session of the socket or nonsense log nobody in', async (t) => {
  const { world, browser } = await open(t);
  const join = await world.admin.call('createJoinToken', { body: {} });
  for (const token of [join.token, 'ws_1_2', 'x']) {
    assert.equal((await browser.logIn({ token })).status, 401);
  }
  assert.equal((await browser.logIn({ token: '' })).status, 400);
});

test('a head that starts again knows its sessions; its file has no secret', async (t) => {
  const { world, link, browser } = await open(t);
  await browser.logIn({ link: link.secret });
  const file = path.join(world.directory, 'page-sessions.json');
  const text = readFileSync(file, 'utf8');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const [, value = ''] = browser.cookie.split('=');
  assert.ok(!text.includes(browser.key) && !text.includes(value.split('_')[1] as string));
  const next = new PageSessions(systemChance, world.directory, world.log);
  await next.load(Date.now());
  assert.equal(next.port, link.loopbackPort);
  const peer = { uid: process.getuid?.() ?? null };
  const shown = { cookie: value, key: browser.key };
  assert.equal(next.find(shown, Date.now(), peer)?.user.kind, 'local');
});

test('sessions end after half a day without use, a week, or with their token; links soon', async (t) => {
  const { sessions, login, user } = await openSessions(t);
  const idle = await sessions.open(login);
  assert.ok(sessions.find(idle, 11 * HOUR_MS, null));
  assert.ok(sessions.find(idle, 22 * HOUR_MS, null));
  assert.equal(sessions.find(idle, 34 * HOUR_MS, null), null);
  const used = await sessions.open(login);
  for (let hours = 1; hours < 7 * 24; hours += 1) {
    assert.ok(sessions.find(used, hours * HOUR_MS, null));
  }
  assert.equal(sessions.find(used, 7 * 24 * HOUR_MS, null), null);
  const short = await sessions.open({ ...login, until: HOUR_MS });
  assert.equal(short.expiresAt, HOUR_MS);
  assert.equal(sessions.find(short, HOUR_MS, null), null);
  const { secret } = sessions.makeLink(user, { owner: ALICE, now: 0 });
  assert.equal(sessions.takeLink(secret, 120_000), null);
});

test("logins and links of one user end that user's oldest, and nobody else's", async (t) => {
  const { sessions, login, user } = await openSessions(t);
  const bob = await sessions.open({ ...login, owner: 'bob' as UserName });
  const bobs = sessions.makeLink(user, { owner: 'bob' as UserName, now: 0 });
  const opened = [];
  const links = [];
  for (let count = 0; count < 21; count += 1) {
    opened.push(await sessions.open(login));
    links.push(sessions.makeLink(user, { owner: ALICE, now: 0 }));
  }
  assert.ok(sessions.find(bob, 1, null));
  assert.ok(sessions.takeLink(bobs.secret, 1));
  const alive = opened.map((one) => sessions.find(one, 1, null) !== null);
  assert.deepEqual(alive, [false, ...Array(20).fill(true)]);
  const good = links.map(({ secret }) => sessions.takeLink(secret, 1) !== null);
  assert.deepEqual(good, [...Array(11).fill(false), ...Array(10).fill(true)]);
});

test('what is over does not count towards the limit of a user', async (t) => {
  const { sessions, login } = await openSessions(t);
  const first = await sessions.open(login);
  for (let count = 0; count < 19; count += 1) await sessions.open({ ...login, until: 5 });
  await sessions.open({ ...login, now: 5 });
  assert.ok(sessions.find(first, 6, null));
});

test('logins that wait while the file is written share one write', async (t) => {
  const { sessions, login, file } = await openSessions(t);
  const first = sessions.open(login);
  await new Promise(setImmediate);
  const others = Array.from({ length: 19 }, () => sessions.open(login));
  let isLastDone = false;
  const last = others.at(-1)?.then(() => {
    isLastDone = true;
  });
  await Promise.all([first, others[0]]);
  // A write of its own would take much longer than one turn of the loop.
  await new Promise(setImmediate);
  assert.ok(isLastDone);
  await last;
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).sessions.length, 20);
});

test('a session that ended by idling stays ended after a restart, and use is kept', async (t) => {
  const { sessions, login, again } = await openSessions(t);
  const idle = await sessions.open(login);
  const used = await sessions.open(login);
  assert.ok(sessions.find(used, 11 * HOUR_MS, null));
  await sessions.written();
  const unasked = await again(13 * HOUR_MS);
  assert.equal(unasked.find(idle, 13 * HOUR_MS, null), null);
  assert.ok(unasked.find(used, 13 * HOUR_MS, null));
  await unasked.written();
  assert.equal(sessions.find(idle, 13 * HOUR_MS, null), null);
  await sessions.written();
  assert.equal((await again(0)).find(idle, 1, null), null);
});

test('only the whole cookie ends a session', async (t) => {
  const { sessions, login } = await openSessions(t);
  const { cookie, key } = await sessions.open(login);
  assert.equal(await sessions.end(`${cookie.split('_')[0]}_x`), 0);
  assert.ok(sessions.find({ cookie, key }, 1, null));
  assert.equal(await sessions.end(cookie), 1);
  assert.equal(sessions.find({ cookie, key }, 1, null), null);
});

test('a session of the loopback listener counts there only, for the uid that opened it', async (t) => {
  const { sessions, login, again } = await openSessions(t);
  const mine = await sessions.open({ ...login, peer: { uid: 1000 } });
  const unknown = await sessions.open({ ...login, peer: { uid: null } });
  for (const known of [sessions, await again(1)]) {
    const counts = (one: typeof mine, peer: { uid: number | null } | null) =>
      known.find(one, 1, peer) !== null;
    assert.ok(counts(mine, { uid: 1000 }));
    for (const peer of [{ uid: 1001 }, { uid: null }, null]) assert.ok(!counts(mine, peer));
    assert.ok(counts(unknown, { uid: 1001 }) && counts(unknown, { uid: null }));
    assert.ok(!counts(unknown, null));
  }
});

test('what a false head saw on the loopback is refused on the other doors', async (t) => {
  const { world, link, browser } = await open(t);
  await browser.logIn({ link: link.secret });
  const kept = JSON.parse(readFileSync(path.join(world.directory, 'page-sessions.json'), 'utf8'));
  const [[, session]] = kept.sessions;
  assert.deepEqual([session.loopback, session.uid], [true, process.getuid?.()]);
  const headers = { cookie: browser.cookie, 'weft-page': browser.key };
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const where = { socketPath: world.socketPath, path: '/v1/whoami', headers, agent: false };
    get(where, (incoming) => {
      incoming.resume();
      resolve(incoming.statusCode);
    }).on('error', reject);
  });
  assert.equal(status, 401);
  assert.equal((await browser.send('GET', '/v1/whoami')).status, 200);
});

test('the uid of a connection comes from the line of the client, while it is connected', () => {
  const word = endianness() === 'LE' ? '0100007F' : '7F000001';
  const mapped = endianness() === 'LE' ? `FFFF0000${word}` : `0000FFFF${word}`;
  const line = (local: string, remote: string, state: string, uid: number) =>
    `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000 ${uid} 0 1 1\n`;
  const ends = { remoteAddress: '127.0.0.1', remotePort: 258, localAddress: '127.0.0.1' };
  const socket = { ...ends, localPort: 8080 };
  const [client, head] = [`${word}:0102`, `${word}:1F90`];
  const own = line(head, client, '01', 5);
  assert.equal(uidIn(`  sl  local_address\n${own}${line(client, head, '01', 7)}`, socket), 7);
  const wide = (end: string) => `${'0'.repeat(16)}${mapped}:${end.split(':')[1]}`;
  assert.equal(uidIn(line(wide(client), wide(head), '01', 8), socket), 8);
  assert.equal(uidIn(own + line(client, head, '06', 0), socket), null);
  assert.equal(uidIn(line(`${word}:0103`, head, '01', 7), socket), null);
});

test('a login ends the session that was there, is in the audit log and at the rate of strangers', async (t) => {
  const { world, link, browser } = await open(t);
  await browser.logIn({ link: link.secret });
  const before = { cookie: browser.cookie, key: browser.key };
  const token = await world.token('alice');
  assert.equal((await browser.logIn({ token })).status, 200);
  assert.equal((await browser.send('GET', '/v1/whoami')).json.name, 'alice');
  const old = Object.assign(new Browser(browser.url), before);
  assert.equal((await old.send('GET', '/v1/whoami')).status, 401);
  // A page whose session is over logs in with its key still there.
  assert.equal((await old.logIn({ token })).status, 200);
  const logins = world.audit.lines.filter(({ fields }) => fields['what'] === 'loginPage');
  const { name } = await world.admin.call('whoami');
  assert.deepEqual(
    logins.map(({ fields }) => fields['who']),
    [name, 'alice', 'alice'],
  );
  const authorization = `Bearer ${token}`;
  let status = 0;
  for (let count = 0; count < 2000 && status !== 429; count += 1) {
    const answer = await browser.send('POST', '/v1/ui/login', { token: 'x' }, { authorization });
    status = answer.status;
  }
  assert.equal(status, 429);
});

test('a session of a local user has the rights that its account has now', async (t) => {
  const { sessions, login } = await openSessions(t);
  const user = { kind: 'local', user: { name: ALICE, uid: 5001, groups: ['wheel'] } } as const;
  const shown = await sessions.open({ ...login, user });
  let name: string | null = 'alice';
  let groups = ['wheel'];
  const authenticator = (multiUser: boolean) =>
    new Authenticator({
      state: () => ({ users: new Map(), tokens: new Map() }) as never,
      sessions: null as never,
      pageSessions: sessions,
      accounts: { asItIs: async (user) => (name === user.name ? { ...user, groups } : null) },
      now: () => 1,
      headUid: 5000,
      multiUser,
      findWorkers: [],
    });
  const actor = async (multiUser: boolean) => {
    const found = await authenticator(multiUser).authenticatePage(shown, null);
    return found.ok && found.value.kind === 'user' ? found.value.actor : null;
  };
  assert.deepEqual((await actor(true))?.groups, ['wheel']);
  groups = ['users'];
  assert.deepEqual((await actor(true))?.groups, ['users']);
  // The cluster became one of a single user.
  assert.equal(await actor(false), null);
  for (name of [null, 'bob']) assert.equal(await actor(true), null);
});

test('removing a user ends the sessions and links of that user', async (t) => {
  const { sessions, login, user, again } = await openSessions(t);
  const [mine, bobs] = [login, { ...login, owner: 'bob' as UserName }];
  const [first, other] = [await sessions.open(mine), await sessions.open(bobs)];
  const link = sessions.makeLink(user, { owner: ALICE, now: 0 });
  await sessions.endAllOf(ALICE);
  assert.equal(sessions.takeLink(link.secret, 1), null);
  for (const known of [sessions, await again(1)]) {
    assert.equal(known.find(first, 1, null), null);
    assert.ok(known.find(other, 1, null));
  }
});

test('the route that removes a user ends the session of that user', async (t) => {
  const { world, browser } = await open(t);
  await world.admin.call('createUser', { params: { name: 'alice' }, body: { role: 'user' } });
  await browser.logIn({ token: await world.token('alice') });
  const file = path.join(world.directory, 'page-sessions.json');
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).sessions.length, 1);
  await world.admin.call('removeUser', { params: { name: 'alice' } });
  assert.equal((await browser.send('GET', '/v1/whoami')).status, 401);
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).sessions.length, 0);
});
