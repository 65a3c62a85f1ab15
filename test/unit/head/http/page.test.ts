// The web page's doors: its files, logins by link and token, the cookie with its key, and what
// other sites, other tokens and a head that starts again can do with them.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { PageSessions } from '../../../../src/head/auth/page-sessions.ts';
import { systemChance } from '../../../../src/os/chance.ts';
import { startAgent, startWorld, TRUE, type World } from './fixture.ts';

const HOUR_MS = 3_600_000;

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
  // With several users and a port of its own there is no door without TLS.
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
  const next = new PageSessions(systemChance, world.directory);
  await next.load(Date.now());
  assert.equal(next.port, link.loopbackPort);
  assert.equal(next.find(value, browser.key, Date.now())?.kind, 'local');
});

test('sessions end after half a day without use, a week, or with their token; links soon', async (t) => {
  const { world } = await open(t);
  const sessions = new PageSessions(systemChance, world.directory);
  await sessions.load(0);
  const user = { kind: 'token', tokenId: 'x' } as const;
  const idle = await sessions.open(user, 0, null);
  assert.ok(sessions.find(idle.cookie, idle.key, 11 * HOUR_MS));
  assert.ok(sessions.find(idle.cookie, idle.key, 22 * HOUR_MS));
  assert.equal(sessions.find(idle.cookie, idle.key, 34 * HOUR_MS), null);
  const used = await sessions.open(user, 0, null);
  for (let hours = 1; hours < 7 * 24; hours += 1) {
    assert.ok(sessions.find(used.cookie, used.key, hours * HOUR_MS));
  }
  assert.equal(sessions.find(used.cookie, used.key, 7 * 24 * HOUR_MS), null);
  const short = await sessions.open(user, 0, HOUR_MS);
  assert.equal(short.expiresAt, HOUR_MS);
  assert.equal(sessions.find(short.cookie, short.key, HOUR_MS), null);
  assert.equal(sessions.takeLink(sessions.makeLink(user, 0).secret, 120_000), null);
});
