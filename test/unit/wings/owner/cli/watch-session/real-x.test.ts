// A real X server, typed on by a real program: what the helper in a session sees, and what an
// agent's listener is told of it.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { cookieFor } from '../../../../../../src/wings/owner/cli/watch-session/displays.ts';
import { connectX } from '../../../../../../src/wings/owner/cli/watch-session/x-server.ts';
import { NO_X, type RealX, startX } from '../../../../../support/x-server.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'weft-x-'));
let x: RealX | null = null;

before(async () => {
  if (NO_X === false) x = await startX(folder);
});
after(async () => {
  await x?.stop();
  rmSync(folder, { recursive: true });
});

function number(): number {
  return Number(x?.display.slice(1));
}

test('[O6] a real X server says when somebody typed or moved the mouse', {
  skip: NO_X,
}, async () => {
  const server = await connectX(number(), cookieFor(number(), x!.environment));
  const past = async (ms: number): Promise<void> => {
    while ((await server.idleMs()) < ms) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await past(300);
  for (const act of [x!.press, x!.moveMouse]) {
    const before = await server.idleMs();
    const from = performance.now();
    act();
    const idleMs = await server.idleMs();
    assert.ok(idleMs <= performance.now() - from + 1, `${idleMs} ms, before ${before}`);
    await past(300);
  }
  server.close();
});

test('[O7] a server that refuses this user, and one that is not there, are told', {
  skip: NO_X,
}, async () => {
  const wrong = { name: 'MIT-MAGIC-COOKIE-1', data: Buffer.alloc(16, 7) };
  await assert.rejects(connectX(number(), wrong), /^Error: the X server refuses this user: /);
  await assert.rejects(connectX(59_999, null), /no X server answers for :59999 \(E[A-Z]+\)/);
});

test('[O7] a server that ends is noticed', { skip: NO_X }, async () => {
  const other = await startX(mkdtempSync(path.join(folder, 'x')));
  const display = Number(other.display.slice(1));
  const server = await connectX(display, cookieFor(display, other.environment));
  await server.idleMs();
  await other.stop();
  await assert.rejects(server.idleMs(), /closed the connection/);
  server.close();
});
