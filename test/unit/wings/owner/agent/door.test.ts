// The agent's own listener: who may pause a node of this machine, and what it answers. Real sockets
// and real proofs, with an agent whose world is made up.

import assert from 'node:assert/strict';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { after, afterEach, test } from 'node:test';
import type { AtSocket } from '../../../../../src/kernel/agent/part.ts';
import { ok } from '../../../../../src/kernel/base/result.ts';
import { Accounts } from '../../../../../src/kernel/head/auth/accounts.ts';
import { LocalLogin } from '../../../../../src/kernel/head/auth/local-login.ts';
import { AGENT_PATHS, type PauseReply } from '../../../../../src/kernel/model/agent-socket.ts';
import { Failure } from '../../../../../src/kernel/model/failure.ts';
import { systemChance } from '../../../../../src/kernel/os/chance.ts';
import { systemClock } from '../../../../../src/kernel/os/clock.ts';
import type { Proofs } from '../../../../../src/kernel/ports/proofs.ts';
import {
  openPauseListener,
  type PauseListener,
  type PauseListenerWorld,
} from '../../../../../src/wings/owner/agent/listener/pause-listener.ts';
import type { PauseRights } from '../../../../../src/wings/owner/agent/listener/rights.ts';
import { YieldWatch } from '../../../../../src/wings/owner/agent/yield-watch.ts';
import { askNode, statusOfNode } from '../../../../../src/wings/owner/cli/agent-sockets.ts';
import { consoleNames, isSeatOf } from '../../../../../src/wings/owner/os/console-users.ts';
import { FakeWorld } from '../../../kernel/agent/fake-world.ts';

const HOUR_MS = 3_600_000;
const NOBODY: PauseRights = { owners: [], uid: 12_345, isAtConsole: async () => false };
const OWN: Partial<PauseRights> = { uid: process.getuid?.() ?? 0 };
const LOG = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const folder = mkdtempSync(path.join(tmpdir(), 'weft-door-'));
const proofs = path.join(folder, 'proofs');
/** Longer than the address of a socket. */
const socket = path.join(folder, 'a'.repeat(120), 'agents', 'n1.sock');
const NODE = { name: 'n1', socket };
const WISH = { durationMs: HOUR_MS, requeue: false };

let world = new FakeWorld();
let door: PauseListener | null = null;

afterEach(async () => {
  await door?.close();
  door = null;
  await world.kill();
});
after(() => rmSync(folder, { recursive: true }));

function realProofs(): Proofs {
  const accounts = new Accounts();
  return new LocalLogin({ directory: proofs, chance: systemChance, accounts, whose: 'agent' });
}

/** Proofs as if this user had made the directory. */
function provenAs(name: string): Proofs {
  const real = realProofs();
  return {
    begin: (now) => real.begin(now),
    finish: () => Promise.resolve(ok({ name, uid: 1000 })),
    listensOn: (at) => real.listensOn(at),
  };
}

async function open(
  rights: Partial<PauseRights>,
  by: Proofs = realProofs(),
  more: Pick<PauseListenerWorld, 'atSocket' | 'uidsOf'> = {},
): Promise<void> {
  world = new FakeWorld();
  const { state, pausing } = await world.start();
  const looking = {
    clock: world.clock,
    log: LOG,
    settings: () => null,
    isUnknown: () => false,
    mayChange: false,
    gpus: () => null,
    onChange: () => undefined,
  };
  const watch = new YieldWatch({ ...looking, pausing });
  const own = {
    node: 'n1',
    state,
    pausing,
    watch,
    link: { isConnected: true },
    pauseMaxMs: 4 * HOUR_MS,
    clock: systemClock,
    log: LOG,
    ...more,
  };
  door = await openPauseListener(socket, { ...own, proofs: by, rights: { ...NOBODY, ...rights } });
}

/** The agent's time goes on meanwhile: its journal is written in it. */
async function ask<T>(url: string, body: object = {}): Promise<T> {
  const state = { isOver: false };
  const answer = askNode<T>(NODE, url, body).finally(() => {
    state.isOver = true;
  });
  answer.catch(() => undefined);
  while (!state.isOver) await world.clock.advance(10);
  return answer;
}

/** Real time goes on meanwhile: the young are not ended for others. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => void setTimeout(resolve, 20));
}

async function codeOf(asked: Promise<unknown>): Promise<string> {
  const error = await asked.then(
    () => null,
    (why: unknown) => why,
  );
  assert.ok(error instanceof Failure, String(error));
  return error.code;
}

function raw(url: string, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const held = path.join(folder, 'short.sock');
    const sent = request({ socketPath: held, path: url, method: 'POST' }, (answer) => {
      let text = '';
      answer.on('data', (piece) => {
        text += piece;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.on('error', reject).end(body);
  });
}

test('[O5] the user of the agent pauses and unpauses over its socket, however long its path', async () => {
  await open(OWN);
  const { node, pause } = await ask<PauseReply>(AGENT_PATHS.pause, WISH);
  assert.equal(node, 'n1');
  assert.equal(pause.by, userInfo().username);
  assert.equal(pause.until - pause.since, HOUR_MS);
  assert.equal(world.agent?.pausing.now?.kind, 'owner');
  await ask(AGENT_PATHS.unpause);
  assert.equal(world.agent?.pausing.now, null);
  assert.equal(await codeOf(ask(AGENT_PATHS.unpause)), 'node.not_paused');
});

test('[O5] owners of the node and who is at its console may, nobody else', async () => {
  const cases: [Partial<PauseRights>, string | null][] = [
    [{}, 'node.not_owner'],
    [{ owners: ['bob'] }, 'node.not_owner'],
    [{ owners: ['bob', 'alice'] }, null],
    [{ isAtConsole: async ({ name }) => name === 'alice' }, null],
  ];
  for (const [rights, refused] of cases) {
    await open(rights, provenAs('alice'));
    const answer = ask(AGENT_PATHS.pause, WISH);
    if (refused === null) await answer;
    else assert.equal(await codeOf(answer), refused);
    assert.equal(world.agent?.pausing.now === null, refused !== null);
    await door?.close();
    await world.kill();
  }
});

test('[O5] what cannot be is refused with one clear error', async () => {
  await open(OWN);
  const wish = (durationMs: number) => ({ ...WISH, durationMs });
  assert.equal(await codeOf(ask(AGENT_PATHS.pause, wish(5 * HOUR_MS))), 'pause.too_long');
  assert.equal(await codeOf(ask(AGENT_PATHS.pause, wish(10))), 'argument.invalid');
  assert.equal(await codeOf(ask(AGENT_PATHS.pause, wish(1.5))), 'request.malformed');
  assert.equal(await codeOf(ask('/v1/nowhere')), 'route.unknown');
  await door?.close();
  door = null;
  assert.equal(await codeOf(ask(AGENT_PATHS.pause, WISH)), 'agent.unreachable');
});

test('[D6] however many hold the socket open, an owner is answered', async () => {
  await open(OWN);
  // The address of a socket has no room for its path.
  const held = openSync(path.dirname(socket), 'r');
  const silent = Array.from({ length: 300 }, () => {
    const one = connect(`/proc/self/fd/${held}/n1.sock`);
    return one.on('error', () => one.destroy()).resume();
  });
  try {
    await until(() => silent.filter(({ destroyed }) => destroyed).length >= 40);
    await until(async () => (await statusOfNode(NODE).catch(() => null)) !== null);
    assert.equal((await ask<PauseReply>(AGENT_PATHS.pause, WISH)).node, 'n1');
    // Not because those that were silent gave up.
    assert.ok(silent.filter(({ destroyed }) => !destroyed).length >= 200);
    await ask(AGENT_PATHS.unpause);
  } finally {
    for (const one of silent) one.destroy();
    closeSync(held);
  }
});

test('[O7] who uses the machine is told to everybody; only owners report of their display', async () => {
  const report = { display: ':0', idleMs: 1000 };
  await open({}, provenAs('alice'));
  assert.equal(await codeOf(ask(AGENT_PATHS.session, report)), 'node.not_owner');
  await door?.close();
  await world.kill();
  await open(OWN);
  assert.equal((await statusOfNode(NODE)).presence, null);
  assert.deepEqual(await ask(AGENT_PATHS.session, report), { node: 'n1', wanted: false });
  for (const wrong of [
    {},
    { display: 'x', idleMs: 1 },
    { display: ':0' },
    { ...report, idleMs: -1 },
  ]) {
    assert.equal(await codeOf(ask(AGENT_PATHS.session, wrong)), 'request.malformed');
  }
});

test('[O5] no proof, an old one and another socket get nothing', async () => {
  await open(OWN);
  // By another name for the same socket, which a request of its own can be sent to.
  const { linkSync } = await import('node:fs');
  linkSync(socket, path.join(folder, 'short.sock'));
  for (const body of ['', '{}', '{"challenge":"x"}', '{"challenge":7}']) {
    const { status, text } = await raw(AGENT_PATHS.pause, body);
    assert.deepEqual([status, JSON.parse(text).error.code], [401, 'auth.required'], body);
  }
  const { status } = await raw(AGENT_PATHS.pause, 'not json');
  assert.equal(status, 400);
  assert.equal((await raw(AGENT_PATHS.pause, 'x'.repeat(100_000))).status, 400);
  const begun = JSON.parse((await raw(AGENT_PATHS.proof, '')).text) as {
    challenge: string;
    path: string;
  };
  // Made, but not named after the socket: as by a relay.
  mkdirSync(begun.path, { mode: 0o700 });
  const relayed = await raw(AGENT_PATHS.pause, JSON.stringify({ ...begun, ...WISH }));
  assert.equal(JSON.parse(relayed.text).error.code, 'auth.required');
  assert.equal(world.agent?.pausing.now, null);
});

test('[O5] a socket that a dead agent left is replaced, and gone after a stop', async () => {
  writeFileSync(path.join(mkdirs(path.dirname(socket)), 'n1.sock'), '');
  await open(OWN);
  await ask(AGENT_PATHS.pause, WISH);
  await door?.close();
  door = null;
  assert.equal(existsSync(socket), false);
});

test('[O5] at the console is who has a seat, or a terminal of the machine itself', () => {
  const seat = ['UID=1000', 'USER=alice', 'STATE=active', 'REMOTE=0', 'SEAT=seat0'].join('\n');
  assert.equal(isSeatOf(seat, 1000), true);
  assert.equal(isSeatOf(seat, 1001), false);
  assert.equal(isSeatOf(seat.replace('SEAT=seat0', ''), 1000), false, 'logged in by ssh');
  assert.equal(isSeatOf(seat.replace('REMOTE=0', 'REMOTE=1'), 1000), false);
  assert.equal(isSeatOf(seat.replace('active', 'closing'), 1000), false);
  const who = [
    'alice    tty1         2026-01-01 10:00',
    'bob      pts/0        2026-01-01 10:00 (192.0.2.1)',
    'carol    :0           2026-01-01 10:00 (:0)',
    'dave     ttyp0        2026-01-01 10:00 (192.0.2.1)',
    'erin     ttyS0        2026-01-01 10:00',
  ].join('\n');
  assert.deepEqual([...consoleNames(who)], ['alice', 'carol', 'erin']);
});

function mkdirs(directory: string): string {
  mkdirSync(directory, { recursive: true });
  return directory;
}

test('[Y20] what wings answer there they answer to who is proven, by both proofs alike', async () => {
  const told: string[] = [];
  const answer: AtSocket = async ({ name }) => {
    told.push(name);
    return ok({ node: 'n1' });
  };
  const atSocket = new Map([[AGENT_PATHS.login, answer]]);
  const own = process.getuid?.() ?? 0;
  const uidsOf = (uid: number | null) => async (sockets: readonly Socket[]) =>
    sockets.map(() => uid);
  await open({}, realProofs(), { atSocket, uidsOf: uidsOf(own) });
  assert.deepEqual(await ask(AGENT_PATHS.login), { node: 'n1' });
  await door?.close();
  await world.kill();
  await open({}, realProofs(), { atSocket, uidsOf: uidsOf(own + 1) });
  assert.equal(await codeOf(ask(AGENT_PATHS.login)), 'auth.required', 'a relay of another user');
  await door?.close();
  await world.kill();
  await open({}, realProofs(), { atSocket, uidsOf: uidsOf(null) });
  await ask(AGENT_PATHS.login);
  assert.deepEqual(told, [userInfo().username, userInfo().username]);
});
