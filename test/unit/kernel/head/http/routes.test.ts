// Every route of the table with the wrong credentials, and with the right ones.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import path from 'node:path';
import { test } from 'node:test';
import { failureReply } from '../../../../../src/kernel/api/failure.ts';
import { fillPath } from '../../../../../src/kernel/api/paths.ts';
import type { Route } from '../../../../../src/kernel/api/route-list.ts';
import type { Body } from '../../../../../src/kernel/api/routes.ts';
import type { JobId } from '../../../../../src/kernel/model/ids.ts';
import { ROUTE_LIST } from '../../../../support/wings.ts';
import { eventually, startAgent, startWorld, TRUE, type World } from './fixture.ts';

interface Answer {
  readonly status: number;
  readonly code: string;
  readonly body: string;
}

const EACH = { program: TRUE.program, each: [{ name: 'a' }] };
const PART = { submission: EACH, numbers: [0], prints: ['x'] };

const BODIES: Partial<Record<string, unknown>> = {
  submitJob: TRUE,
  startStep: { argv: ['true'] },
  claimCpus: { nodes: ['n1'], bind: 'core' },
  noteStep: { title: 'true', nodes: ['n1'] },
  endStep: { exits: [{ code: 0 }] },
  signalStep: { signal: 10 },
  submitJobs: { jobs: [{ submission: TRUE }] },
  startPool: { max: 1 },
  scalePool: { max: 2 },
  submitBatch: { namespace: 'lab', name: 'n1', parts: [PART] },
  lookAtNodes: {},
  nodeOn: { nodes: ['n1'] },
  startJob: { nodes: ['n1'] },
  signalJob: { signal: 15 },
  changeJob: { nice: 1 },
  feedJob: { run: 0, offset: 0, data: '', end: false },
  createNode: { name: 'n9' },
  drainNode: { reason: 'test' },
  labelNode: { add: ['x'] },
  modifyNode: { cpuCount: 2 },
  join: { name: 'n8' },
  createUser: { role: 'user' },
  modifyUser: { role: 'user' },
  changePartition: { tier: 1 },
  createToken: {},
  createJoinToken: {},
  lackingBlobs: { hashes: [] },
  readBlobs: { hashes: [] },
  blobFiles: { hashes: [] },
  storeOutputs: { entries: [], leftOut: [] },
  finishLocalLogin: { challenge: '0'.repeat(40) },
  loginPage: { link: 'x' },
};

/** What a route cannot do without. */
const QUERIES: Partial<Record<string, string>> = { searchLogs: '?text=x' };

/** Sends the route with a valid body, over TLS unless `local`. */
function send(
  world: World,
  route: Route,
  options: { authorization?: string; local?: boolean; id: string; code?: string },
): Promise<Answer> {
  const kinds = { maintenance: 'm1', pools: '2' };
  const [, id = options.id] =
    Object.entries(kinds).find(([kind]) => route.path.includes(kind)) ?? [];
  const names = { users: 'carol', partitions: 'default' };
  const [, name = route.path.includes('/sites/') ? 'hpc' : 'n1'] =
    Object.entries(names).find(([kind]) => route.path.includes(kind)) ?? [];
  const { code = 'BBBB-CCCC' } = options;
  const params = {
    id,
    name,
    code,
    namespace: 'lab',
    hash: 'a'.repeat(64),
    epochId: '1#1',
    index: '0',
  };
  const body = BODIES[route.name];
  const headers = options.authorization ? { authorization: options.authorization } : {};
  const asked = fillPath(route.path, params) + (QUERIES[route.name] ?? '');
  const common = { method: route.method, path: asked, headers };
  const make = options.local ? request : secureRequest;
  const target = options.local
    ? { socketPath: world.socketPath }
    : { host: '127.0.0.1', port: world.http.port, rejectUnauthorized: false };
  return new Promise((resolve, reject) => {
    const outgoing = make({ ...common, ...target, agent: false }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8');
      // A stream that has begun was allowed; its end is not waited for.
      if (incoming.headers['content-type'] === 'text/event-stream') {
        incoming.destroy();
        resolve({ status: 200, code: '', body: '' });
        return;
      }
      incoming.on('data', (piece: string) => {
        text += piece;
      });
      incoming.on('end', () => {
        const status = incoming.statusCode ?? 0;
        const isHead = route.method === 'HEAD';
        const refused = (): string =>
          isHead
            ? String(incoming.headers['weft-refusal'])
            : failureReply.parse(JSON.parse(text)).error.code;
        const code = status === 200 ? '' : refused();
        resolve({ status, code, body: text });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** A cluster with a node, a job of alice's, and every kind of credential. */
const MAINTENANCE: Body<'planMaintenance'> = {
  nodes: ['n2'],
  time: { kind: 'fixed', from: 8e12 },
  durationMs: 60_000,
  running: 'wait',
  reason: 'new disks',
};

const NO_NEWS = {
  isFirst: true,
  isLast: true,
  system: 'slurm',
  mode: 'submit',
  takeover: null,
  problem: null,
  ageMs: 10,
};

async function prepare(t: Parameters<typeof startWorld>[0]) {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const { secret } = await world.admin.call('createNode', { body: { name: 'n2' } });
  const alice = await world.client('alice');
  const { jobId } = await alice.call('submitJob', { body: { ...TRUE, held: true } });
  const pool = await alice.call('startPool', { body: { min: 1, max: 1, walltimeMs: 60_000 } });
  const { stepKey } = world.head.engine.state.jobs.get(pool.jobId as JobId)?.spec ?? {};
  const news = { ...NO_NEWS, jobs: [], gone: [], nodes: [], queues: [] };
  const gateway = await startAgent(t, world, 'hpc', 'site');
  gateway.tell({ kind: 'site', news });
  await eventually(() => world.head.agents.sites().length > 0);
  const { epochId } = await agent.launch();
  const join = await world.admin.call('createJoinToken', { body: {} });
  await world.admin.call('planMaintenance', { body: MAINTENANCE });
  const worker = `Worker ${epochId}:${stepKey}`;
  const others = { node: `Node n2:${secret}`, join: `Bearer ${join.token}`, worker };
  return { world, id: String(jobId), ...others };
}

const isPublic = ({ access }: Route) => access.kind === 'public';

test('without credentials every route that is not public is refused', async (t) => {
  const { world, id } = await prepare(t);
  for (const route of ROUTE_LIST.filter((one) => !isPublic(one))) {
    const { status, code } = await send(world, route, { id });
    assert.deepEqual([route.name, status, code], [route.name, 401, 'auth.required']);
  }
});

test('wrong credentials are refused even where none are needed', async (t) => {
  const wrong = [
    ...['Bearer wt_00_11', 'Bearer nonsense', 'Node n1:wrong', 'Node n7:x', 'Basic eDp5'],
    'Worker 2[0]#1:undefined',
  ];
  for (const authorization of wrong) {
    // A head for each: one address may guess only so often.
    const { world, id } = await prepare(t);
    for (const route of ROUTE_LIST) {
      const { status, code } = await send(world, route, { id, authorization });
      assert.deepEqual([route.name, status, code], [route.name, 401, 'auth.token_invalid']);
    }
  }
});

test('a node is refused on every route of users, and users on those of nodes', async (t) => {
  const { world, id, node, join, worker } = await prepare(t);
  const user = `Bearer ${await world.token('alice')}`;
  for (const route of ROUTE_LIST.filter((one) => !isPublic(one))) {
    const { kind } = route.access;
    const expectations: [string, boolean][] = [
      [node, kind === 'node' || kind === 'user_or_epoch'],
      [join, kind === 'join_token'],
      [worker, kind === 'worker'],
      [user, kind.includes('user')],
    ];
    for (const [authorization, allowed] of expectations) {
      if (allowed) continue;
      const { status, code } = await send(world, route, { id, authorization });
      assert.deepEqual([route.name, status, code], [route.name, 403, 'auth.role_needed']);
    }
  }
});

test("a stranger cannot touch another's job, node, user or token", async (t) => {
  const { world, id } = await prepare(t);
  const authorization = `Bearer ${await world.token('mallory')}`;
  const before = JSON.stringify([...world.head.engine.state.users]);
  for (const route of ROUTE_LIST) {
    const { access, name } = route;
    if (access.kind !== 'user') continue;
    if (access.owned === undefined && access.role === 'user') continue;
    const { status, code } = await send(world, route, { id, authorization });
    const expected =
      access.owned === undefined
        ? [403, 'auth.role_needed']
        : access.owned === 'token'
          ? [404, 'token.not_found']
          : [403, 'auth.not_owner'];
    assert.deepEqual([name, status, code], [name, ...expected]);
  }
  assert.equal(JSON.stringify([...world.head.engine.state.users]), before);
  assert.equal(world.head.engine.state.jobs.get(Number(id) as never)?.outcome, null);
});

test("a user cannot make tokens for others, or see or revoke others' tokens", async (t) => {
  const { world } = await prepare(t);
  const mallory = await world.client('mallory');
  const mine = await mallory.call('createToken', { body: { label: 'mine' } });
  const refused = { code: 'auth.role_needed' };
  await assert.rejects(mallory.call('createToken', { body: { user: 'alice' } }), refused);
  await assert.rejects(mallory.call('listTokens', { query: { all: true } }), refused);
  const drain = mallory.call('drainNode', { params: { name: 'n1' }, body: { reason: 'x' } });
  await assert.rejects(drain, {
    message: "'drain node' needs the role operator; mallory is user.",
  });
  const { tokens } = await mallory.call('listTokens');
  assert.ok(tokens.every(({ user }) => user === 'mallory'));
  const { tokens: all } = await world.admin.call('listTokens', { query: { all: true } });
  const stranger = all.find(({ user, purpose }) => user === 'alice' && purpose === 'user');
  await assert.rejects(mallory.call('revokeToken', { params: { id: stranger?.id ?? '' } }), {
    code: 'token.not_found',
  });
  assert.equal((await mallory.call('revokeToken', { params: { id: mine.id } })).count, 1);
});

/** A manifest as if the job had left a link. */
function keepManifest({ directory }: World, id: string): void {
  const folder = path.join(directory, 'archive', 'jobs', id, '_weft');
  const entry = { path: 'a', kind: 'link', size: 0, mode: 0o777, modifiedAt: 5, target: 'b' };
  const summary = {
    index: null,
    epoch: 1,
    outcome: 'completed',
    files: 0,
    bytes: 0,
    leftOut: 0,
    storedAt: 5,
    isPartial: false,
  };
  const manifest = {
    version: 1,
    jobId: Number(id),
    name: 'true',
    owner: 'alice',
    exitCode: 0,
    signal: null,
    detail: null,
    nodes: ['n1'],
    startedAt: 1,
    endedAt: 2,
    entries: [entry],
    missing: [],
    ...summary,
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'manifest.json'), JSON.stringify(manifest));
  writeFileSync(path.join(folder, 'summary.json'), JSON.stringify(summary));
}

test('every GET answers an admin in the form that its schema says', async (t) => {
  const { world, id } = await prepare(t);
  const authorization = `Bearer ${await adminToken(world)}`;
  // Paths with a name ask for n1, so that is what the reservation is called too.
  keepManifest(world, id);
  const reservation = { name: 'n1', at: Date.now() + 3_600_000, durationMs: 1000 };
  await world.admin.call('createReservation', { body: reservation });
  const batch = { namespace: 'lab', name: 'n1', parts: [PART] };
  await world.admin.call('submitBatch', { body: batch });
  const { code } = await world.admin.call('beginLogin', { body: { label: 'ann@lab3' } });
  for (const route of ROUTE_LIST) {
    if (route.method !== 'GET' || route.reply === undefined || route.name === 'waitForJob')
      continue;
    const { status, body } = await send(world, route, { id, authorization, code });
    assert.deepEqual([route.name, status], [route.name, 200], body);
    route.reply.parse(JSON.parse(body));
  }
});

test('figures need no credentials on the unix socket, and are readable', async (t) => {
  const { world, id } = await prepare(t);
  const metrics = ROUTE_LIST.find(({ name }) => name === 'metrics') as Route;
  const { status, body } = await send(world, metrics, { id, local: true });
  assert.equal(status, 200);
  assert.match(body, /^weft_jobs\{state="pending"\} 1$/m);
  assert.match(body, /^weft_requests_total\{route="submitJob",status="200"\} 1$/m);
  assert.match(body, /^weft_request_duration_seconds_bucket\{route="submitJob",le="\+Inf"\} 1$/m);
});

test('a revoked or expired token, and one of a removed node, is worth nothing', async (t) => {
  const { world } = await prepare(t);
  const alice = await world.client('alice');
  await alice.call('whoami');
  const { tokens } = await alice.call('listTokens');
  for (const { id } of tokens) await world.admin.call('revokeToken', { params: { id } });
  await assert.rejects(alice.call('whoami'), { code: 'auth.token_invalid' });
  const body = { expiresInMs: 1000 };
  const brief = await world.admin.call('createToken', { body });
  const token = world.head.engine.state.tokens.get(brief.id);
  assert.ok(token !== undefined && token.expiresAt !== null && token.expiresAt < Date.now() + 1500);
  assert.ok(!JSON.stringify([...world.head.engine.state.tokens]).includes(brief.token));
});

async function adminToken(world: World): Promise<string> {
  const params = { name: 'root2' };
  await world.admin.call('createUser', { params, body: { role: 'admin' } });
  return world.token('root2');
}

test('a user or token without an account on the head’s machine is made, and the admin is told', async (t) => {
  const world = await startWorld(t);
  const body = { role: 'user' } as const;
  const nobody = await world.admin.call('createUser', { params: { name: 'no-such' }, body });
  assert.match(nobody.notice ?? '', /no account 'no-such'; jobs run only on nodes that have it/);
  const token = await world.admin.call('createToken', { body: { user: 'no-such' } });
  assert.equal(token.notice, nobody.notice);
  const { name } = await world.admin.call('whoami');
  assert.equal((await world.admin.call('createToken', { body: { user: name } })).notice, null);
  const single = await startWorld(t, { multiUser: false });
  const given = await single.admin.call('createToken', { body: { user: 'no-such' } });
  assert.equal(given.notice, null);
});

test('[D20] whoever lets a user in hears under whose account that user’s jobs run', async (t) => {
  const world = await startWorld(t, { multiUser: false });
  await startAgent(t, world, 'n1');
  const made = { params: { name: 'no-such' }, body: { role: 'user' } } as const;
  const { notice } = await world.admin.call('createUser', made);
  assert.match(
    notice ?? '',
    /^Jobs of no-such run as me here, with all that me may read and change/,
  );
  const token = await world.admin.call('createToken', { body: { user: 'no-such' } });
  assert.equal(token.notice, notice);
});
