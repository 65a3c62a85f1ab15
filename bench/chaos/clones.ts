// A second machine starts with a copy of a node's folder, beside the node or while that is cut off.
// The head names both; then the copy is gone, and an operator says so.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../src/kernel/api/api-error.ts';
import { findLauncher } from '../../test/e2e/support/find-launcher.ts';
import type { HostedCluster, Member } from '../../test/e2e/support/hosted-cluster.ts';
import { type Host, until } from '../../test/e2e/support/hosts.ts';
import type { Insistent } from './client.ts';
import type { Clone, Outage } from './evidence.ts';
import { type Fault, type Rest, signalTo } from './faults.ts';

const PATIENCE_MS = 60_000;
const LOOK_MS = 200;
const SOURCE = join(import.meta.dirname, '..', '..', 'src', 'bin', 'agent.ts');

let made = 0;

export interface Cloned {
  readonly outage: Outage;
  readonly clone: Clone;
}

interface Means {
  readonly client: Insistent;
  readonly rest: Rest;
}

export async function cloneNode(
  cluster: HostedCluster,
  member: Member,
  { how, parts, forMs }: Fault,
  { client, rest }: Means,
): Promise<Cloned> {
  const from = Date.now();
  const isAlone = parts.includes('network');
  made += 1;
  const host = await machineOf(cluster, member, `c${made}`);
  if (isAlone) member.host.cut();
  const log = await startAgent(cluster, member, host);
  await until(`${host.name} has begun`, () => existsSync(log) || undefined);
  await rest(forMs);
  if (isAlone) member.host.rejoin();
  const told = await whenTold(client, member.name);
  const over = Date.now();
  await host.powerOff();
  await settle(client, member.name, host.name);
  const clone = { node: member.name, host: host.name, isAlone, told, from, until: over };
  return { outage: { host: member.name, how, parts, from, until: Date.now() }, clone };
}

/** A machine that has the folder in its place, as it was at one instant. */
async function machineOf(cluster: HostedCluster, member: Member, name: string): Promise<Host> {
  const copy = join(cluster.directory, name);
  mkdirSync(copy);
  const pids = [member.agent?.pid ?? null, findLauncher(member.place)].filter(
    (pid) => pid !== null,
  );
  for (const pid of pids) signalTo(pid, 'SIGSTOP');
  execFileSync('cp', ['-a', `${member.stateDir}/.`, copy]);
  member.agent?.resume();
  for (const pid of pids) signalTo(pid, 'SIGCONT');
  return cluster.lan.addHost(name, { from: copy, to: member.place });
}

async function startAgent(cluster: HostedCluster, member: Member, host: Host): Promise<string> {
  const options = JSON.parse(readFileSync(member.optionsFile, 'utf8')) as object;
  const file = join(cluster.directory, `${host.name}.json`);
  const logFile = join(cluster.directory, `${host.name}.log`);
  writeFileSync(file, JSON.stringify({ ...options, logFile }), { mode: 0o600 });
  await host.start(process.execPath, [SOURCE, file]);
  return logFile;
}

/** What the head says of the two; null: nothing in a long time. */
async function whenTold(client: Insistent, name: string): Promise<string | null> {
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until; ) {
    const node = await client.node(name);
    if (node?.reason?.includes('machines use its identity') === true) return node.reason;
    await sleep(LOOK_MS);
  }
  return null;
}

/**
 * What docs/recovery.md tells an operator who knows that the copy is gone; says only what is true.
 */
async function settle(client: Insistent, name: string, copy: string): Promise<void> {
  const params = { name };
  for (;;) {
    const node = await client.node(name);
    if (node !== undefined && node.state === 'up' && node.fault !== 'cloned') return;
    if (node?.fault === 'cloned') await forgetCopies(client, name);
    // Refused until the head has missed it.
    if (node?.facts?.hostname === copy)
      await unlessRefused(client.ask('declareNodeLost', { params }));
    await sleep(LOOK_MS);
  }
}

/** No copy of the node runs. A head that was put back knows again those that were gone before. */
export async function forgetCopies(client: Insistent, name: string): Promise<void> {
  await unlessRefused(client.ask('undrainNode', { params: { name } }));
}

async function unlessRefused(asked: Promise<unknown>): Promise<void> {
  try {
    await asked;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}
