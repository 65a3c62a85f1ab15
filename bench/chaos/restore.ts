// The head's folder is put back as it was some seconds ago, as by a snapshot of its machine. It
// finds by its nodes that it is old; told to go on without what is missing, it does.

import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostedCluster } from '../../test/e2e/support/hosted-cluster.ts';
import type { Insistent } from './client.ts';
import type { Outage, Restore } from './evidence.ts';
import type { Fault, Rest } from './faults.ts';

/** All nodes may be out when it starts: until one of them has met it. */
const PATIENCE_MS = 60_000;
/** The host of the head has the clock of this machine, read a little apart. */
const CLOCKS_APART_MS = 1000;

export interface Restored {
  readonly outage: Outage;
  readonly restore: Restore;
}

interface Means {
  readonly client: Insistent;
  readonly rest: Rest;
  /** Called when events begin anew. */
  onPutBack(): void;
}

export async function restoreHead(
  cluster: HostedCluster,
  { how, parts, forMs }: Fault,
  { client, rest, onPutBack }: Means,
): Promise<Restored> {
  const copy = join(cluster.directory, 'copy of head');
  const copiedAt = Date.now();
  const { program } = cluster.head;
  process.kill(program.pid, 'SIGSTOP');
  rmSync(copy, { recursive: true, force: true });
  execFileSync('cp', ['-a', cluster.headDirectory, copy]);
  program.resume();
  await rest(forMs);
  await cluster.killHead();
  putBack(cluster.headDirectory, copy);
  onPutBack();
  const putBackAt = Date.now();
  await cluster.startHead();
  const toldAt = await whenTold(client, true);
  if (toldAt === null && (await isCopyTold(client, putBackAt))) {
    // No node had heard of what is missing: the head knows no more than that its files are a copy.
    const now = Date.now();
    return {
      outage: { host: 'head', how, parts, from: copiedAt, until: now },
      restore: { copiedAt, putBackAt, toldAt: now, endedAt: now, goesOnAt: now },
    };
  }
  await rest(forMs / 2);
  await cluster.killHead();
  const endedAt = Date.now();
  await cluster.startHead({ acceptLoss: true });
  const goesOnAt = await whenTold(client, false);
  return {
    outage: { host: 'head', how, parts, from: copiedAt, until: Date.now() },
    restore: { copiedAt, putBackAt, toldAt, endedAt, goesOnAt },
  };
}

/** The folder is a mount point: only what is in it goes. */
function putBack(folder: string, copy: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  execFileSync('cp', ['-a', `${copy}/.`, folder]);
}

async function isCopyTold(client: Insistent, putBackAt: number): Promise<boolean> {
  const { copied } = await client.ask('info');
  return copied !== null && copied !== undefined && copied.at >= putBackAt - CLOCKS_APART_MS;
}

/** When the head says that records are missing, or no longer; null: not in a long time. */
async function whenTold(client: Insistent, isBehind: boolean): Promise<number | null> {
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until; ) {
    const { behind = null, losses } = await client.ask('info');
    if (isBehind && behind !== null) return Date.now();
    if (!isBehind && behind === null && losses.length > 0) return Date.now();
    await sleep(50);
  }
  return null;
}
