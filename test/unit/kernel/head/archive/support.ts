// What tests of the archive do with a head and an agent: store files of tasks, end them, look at
// the disk.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { Client } from '../../../../../src/kernel/api/client.ts';
import { Archive } from '../../../../../src/kernel/head/archive/archive.ts';
import type { LaunchOrder } from '../../../../../src/kernel/model/orders.ts';
import { systemClock } from '../../../../../src/kernel/os/clock.ts';
import {
  type FakeAgent,
  startAgent,
  startWorld,
  TRUE,
  type World,
  type WorldOptions,
} from '../http/fixture.ts';
import { ask, send, sha256 } from '../http/node-call.ts';

export interface Entry {
  readonly path: string;
  readonly kind?: 'file' | 'folder' | 'link';
  readonly content?: string;
  readonly target?: string;
}

export function bodyOf(entries: readonly Entry[], leftOut: readonly unknown[] = []) {
  return {
    entries: entries.map(({ path, kind = 'file', content = '', target }) => ({
      path,
      kind,
      size: kind === 'file' ? content.length : 0,
      mode: 0o644,
      modifiedAt: 5,
      ...(kind === 'file' ? { sha256: sha256(content) } : {}),
      ...(target === undefined ? {} : { target }),
    })),
    leftOut,
  };
}

/** Sends the contents for the owner, and tells the head of them. */
export async function store(
  world: World,
  agent: FakeAgent,
  {
    order,
    owner,
    entries,
    leftOut = [],
  }: { order: LaunchOrder; owner: Client; entries: readonly Entry[]; leftOut?: readonly unknown[] },
) {
  for (const { kind = 'file', content = '' } of entries)
    if (kind === 'file') await send(owner, content);
  return put(world, agent, order.epochId, bodyOf(entries, leftOut));
}

export function put(world: World, agent: FakeAgent, epochId: string, body: unknown) {
  const url = `/v1/epochs/${encodeURIComponent(epochId)}/outputs`;
  return ask(world, agent, { method: 'PUT', path: url, body });
}

export async function prepare(t: TestContext, options: WorldOptions = {}) {
  const world = await startWorld(t, options);
  const agent = await startAgent(t, world, 'n1');
  const alice = await world.client('alice');
  const run = async (body: Partial<typeof TRUE> & Record<string, unknown> = {}, launches = 1) => {
    const { jobId } = await alice.call('submitJob', { body: { ...TRUE, ...body } });
    const order = await agent.launch(launches);
    agent.started(order);
    return { jobId, id: String(jobId), order };
  };
  return { world, agent, alice, run };
}

export async function done(client: Client, id: string): Promise<void> {
  await client.call('waitForJob', { params: { id }, query: {} });
}

/** All files below the archive of jobs. */
export function filesIn(world: World): string[] {
  const root = path.join(world.directory, 'archive', 'jobs');
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => path.relative(root, path.join(parentPath, name)))
    .sort();
}

/** Names of the parts in the log, which is all that is there of them. */
export function partsOf(world: World): string[] {
  assert.deepEqual(readdirSync(path.join(world.directory, 'archive', 'parts')), ['log']);
  return [...partsIn(world).keys()];
}

/** A part as an earlier release has written it, to be put there again. */
export function partText(world: World, { epochId }: LaunchOrder): string {
  return JSON.stringify(partsIn(world).get(`${epochId}.0`));
}

function partsIn(world: World): Map<string, unknown> {
  const parts = new Map<string, unknown>();
  const lines = readFileSync(path.join(world.directory, 'archive', 'parts', 'log'), 'utf8');
  for (const line of lines.split('\n').slice(0, -1)) {
    const { kind, key, keys, value } = JSON.parse(line.slice(line.indexOf(' ')));
    if (kind === 'put') parts.set(key, value);
    else for (const gone of keys) parts.delete(gone);
  }
  return parts;
}

/** A head that starts on what the one before has left. */
export async function restarted(t: TestContext, world: World): Promise<Archive> {
  await world.archive.close();
  const { blobs, names, logs, log, shelving } = world;
  const archive = new Archive({
    directory: path.join(world.directory, 'archive'),
    bytesMax: 2 ** 30,
    ageMs: 86_400_000,
    shelving,
    blobs,
    names,
    logs,
    clock: systemClock,
    log,
  });
  await archive.prepare();
  archive.attach(world.head.engine);
  t.after(() => archive.close());
  return archive;
}
