// Pages of the documents over HTTP.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { believed } from '../../../../../src/kernel/base/believed.ts';
import { manualRoutes } from '../../../../../src/wings/manual/api/manual.ts';
import { handlersOf } from '../../../../../src/wings/manual/head/handlers.ts';

const site = mkdtempSync(path.join(tmpdir(), 'weft-manual-'));
const { manual, manualFile, manualFileIn } = handlersOf(site);

/** What a router does, for these routes alone. */
async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, , one, two] = (incoming.url ?? '').split('/');
  // A call and services have more, which these handlers do not look at.
  const call = <C>(params: object): C => believed<C>({ incoming, response, params });
  const none = believed<Parameters<typeof manual>[0]>({});
  const done = await (two !== undefined
    ? manualFileIn(none, call({ folder: one, file: two }))
    : one !== undefined
      ? manualFile(none, call({ file: one }))
      : manual(none, call({})));
  if (!done.ok) response.writeHead(404).end(JSON.stringify(done.error));
}

const server = createServer((incoming, response) => void answer(incoming, response));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
after(() => {
  server.close();
  rmSync(site, { recursive: true });
});

const get = (url: string) => fetch(`${base}${url}`, { redirect: 'manual' });

test('before they are built the first page says how they are', async () => {
  const refused = await get('/docs/index.html');
  assert.equal(refused.status, 404);
  assert.match(await refused.text(), /tools\/site\.ts/);
});

test('the first page is where links are relative to; others are in folders', async () => {
  mkdirSync(path.join(site, 'commands'));
  writeFileSync(path.join(site, 'index.html'), 'first');
  writeFileSync(path.join(site, 'commands', 'run.html'), 'run');
  writeFileSync(path.join(site, 'commands', 'index.html'), 'all');
  writeFileSync(path.join(site, 'style-0a1b2c3d.css'), 'body {}');
  for (const url of ['/docs', '/docs/']) {
    const { status, headers } = await get(url);
    assert.deepEqual([status, headers.get('location')], [302, '/docs/index.html']);
  }
  assert.equal(await (await get('/docs/index.html')).text(), 'first');
  assert.equal(await (await get('/docs/commands/run.html')).text(), 'run');
  assert.equal(await (await get('/docs/commands/')).text(), 'all');
  const page = await get('/docs/commands/run.html');
  assert.equal(page.headers.get('cache-control'), 'no-cache');
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  const style = await get('/docs/style-0a1b2c3d.css');
  assert.match(style.headers.get('cache-control') ?? '', /immutable/);
  assert.equal((await get('/docs/nothing.html')).status, 404);
});

test('only names of pages are taken: no way up, nothing hidden', () => {
  const { params } = manualRoutes.manualFileIn;
  const isTaken = (folder: string, file: string) => params.safeParse({ folder, file }).success;
  assert.equal(isTaken('commands', 'run.html'), true);
  for (const [folder, file] of [
    ['..', 'run.html'],
    ['commands', '../x.html'],
    ['commands', '.secret.html'],
    ['commands', 'sources.sha256'],
    ['commands', 'run.html.br'],
  ] as const)
    assert.equal(isTaken(folder, file), false, `${folder}/${file}`);
});
