// A Maui-like scheduler runs a partition of a real cluster through the wiki protocol: its own
// client starts, suspends, moves and ends real jobs, and goes on after the head was killed.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { MauiClient, MauiError, type MauiRecord } from '../support/maui-client.ts';
import { until } from './support/hosts.ts';
import { LocalCluster } from './support/local-cluster.ts';

const KEY = 42;

/**
 * Below those that the system gives to whoever asks for any: the head that was killed has to find
 * it free again.
 */
async function freePort(): Promise<number> {
  const range = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
  const above = Number.parseInt(range, 10);
  const lowest = above > 20_000 ? 10_000 : 1024;
  for (let tries = 0; tries < 100; tries += 1) {
    const port = lowest + ((process.pid + tries) % Math.max(1, above - lowest));
    if (await isFree(port)) return port;
  }
  throw new Error(`no port is free from ${lowest} to ${above}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}

interface Site {
  readonly cluster: LocalCluster;
  readonly maui: MauiClient;
  /** What the scheduler was told of changes. */
  readonly notices: string[];
  readonly port: number;
}

/** Notices that came, each with its NUL. */
function listen(notices: string[]): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('data', (chunk) => notices.push(chunk.toString()));
  });
  server.listen(0, '127.0.0.1');
  return once(server, 'listening').then(() => server);
}

/** `tcp`: as Maui needs it; else a unix socket, without a key. */
async function withSite(door: 'tcp' | 'socket', use: (site: Site) => Promise<void>): Promise<void> {
  const cluster = new LocalCluster();
  const port = await freePort();
  const [listens, key] =
    door === 'tcp'
      ? [`listen: "127.0.0.1:${port}", key_file: wiki.key`, KEY]
      : ['listen: wiki.sock', null];
  const notices: string[] = [];
  const listener = await listen(notices);
  const events = (listener.address() as AddressInfo).port;
  mkdirSync(cluster.state, { recursive: true });
  writeFileSync(join(cluster.state, 'wiki.key'), `${KEY}\n`, { mode: 0o600 });
  const site = `
up: {nodes: 3, cpus: 2, memory: 512M}
partitions:
  theirs: {nodes: "n[1-2]", policy: external}
filters:
  spare: {when: node=n2 & hidden, hide: true}
  fast: {when: node=n1, add: [fast]}
  queue: {queue: shown}
  queues: {over: jobs, queue: shown}
  secret: {over: jobs, when: name=secret, hide: true}
wiki: {${listens}, events: "127.0.0.1:${events}", events_every: 100ms}
`;
  writeFileSync(join(cluster.state, 'weft.yaml'), site);
  try {
    await cluster.up();
    const at = door === 'tcp' ? port : join(cluster.state, 'wiki.sock');
    await use({ cluster, maui: new MauiClient({ port: at, key }), notices, port });
  } finally {
    await cluster.close();
    listener.close();
  }
}

async function stateOf(maui: MauiClient, id: string): Promise<string> {
  const jobs = await maui.jobs();
  return jobs.find((job: MauiRecord) => job.id === id)?.state ?? 'absent';
}

async function becomes(maui: MauiClient, id: string, state: string): Promise<void> {
  await until(
    `job ${id} is ${state}`,
    async () => (await stateOf(maui, id)) === state || undefined,
  );
}

async function refusal(done: Promise<unknown>): Promise<MauiError> {
  const error = await done.then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof MauiError, String(error));
  return error;
}

const isRoot = process.getuid?.() === 0;

/** Runs a program as nobody, where we may become that. */
function outputAs(program: string, ...args: string[]): string {
  const words = ['--reuid=65534', '--regid=65534', '--clear-groups', program];
  const [first = '', ...rest] = isRoot ? ['setpriv', ...words] : [program];
  const { stdout, stderr } = spawnSync(first, [...rest, ...args], { encoding: 'utf8' });
  return stdout + stderr;
}

/** What somebody hears who is nobody here and sends what is not signed. */
function asNobody(port: number): string {
  const script = `exec 3<>/dev/tcp/127.0.0.1/${port}; printf '00000020\\nCMD=GETJOBS ARG=0:ALL' >&3; cat <&3`;
  return outputAs('bash', '-c', script);
}

test('[P14, D1, D4, D5] a Maui-like scheduler runs real jobs, and goes on after a kill of the head', () =>
  withSite('tcp', async ({ cluster, maui, notices, port }) => {
    assert.match(asNobody(port), isRoot ? /SC=-422 RESPONSE=not admitted: uid 65534/ : /SC=-422/);
    const log = 'echo $WEFT_NODELIST >> ran';
    const submit = (...words: string[]) => cluster.ok('submit', '--partition', 'theirs', ...words);
    writeFileSync(join(cluster.work, 'job.sh'), `#!/bin/sh\n${log}\n`);
    const ids = [];
    for (let count = 0; count < 4; count += 1) ids.push(await submit('job.sh'));
    const wide = await submit('-n', '2', 'job.sh');
    // The head has its own jobs, on its own node only.
    assert.equal(await cluster.ok('run', '-f', 'printenv', 'WEFT_NODELIST'), 'n3');
    assert.match(await cluster.ok('why', wide), /partition theirs is run by an external scheduler/);
    assert.deepEqual(cluster.lines('ran'), [], 'nothing starts by itself');
    await until('a notice', () => notices.includes('1234\0') || undefined);

    const nodes = await maui.nodes();
    assert.deepEqual(
      nodes.map(({ id, state }) => `${id} ${state}`),
      ['n1 Idle', 'n2 Idle'],
    );
    assert.match(nodes[0]?.fields.get('FEATURE') ?? '', /(^|:)fast(:|$)/);
    assert.equal(nodes[0]?.fields.get('CCLASS'), '[shown:2]');
    const secret = await submit('--name', 'secret', '--hold', 'job.sh');
    assert.equal(await stateOf(maui, secret), 'absent');
    const hidden = await refusal(maui.ask(`CMD=CANCELJOB ARG=${secret}`));
    assert.match(hidden.message, /SC=-700 RESPONSE=rule secret hides job/);
    const did = await maui.iterate();
    assert.ok(did.length >= 4, did.join());
    await cluster.kill('head');
    await until('all have run', async () => {
      // No answer while the head is away; the next turn asks anew.
      await maui.iterate().catch((error: unknown) => {
        if (!(error instanceof Error)) throw error;
      });
      return cluster.lines('ran').length >= 6 || undefined;
    });
    await cluster.connect();
    for (const id of [...ids, wide]) {
      await cluster.ok('wait', id);
      await becomes(maui, id, 'Completed');
      const { startedAt, outcome } = await cluster.job(id);
      assert.equal(outcome?.kind, 'completed');
      assert.ok(startedAt !== null && maui.started.has(id), `the scheduler started ${id}`);
    }
    // Four jobs on one node each, one on both: each once.
    assert.equal(cluster.lines('ran').length, 6);
    assert.ok(cluster.lines('ran').every((line) => /^n[12](,n[12])?$|^n\[1-2\]$/.test(line)));
  }));

test('[D2, D5] what a scheduler does to jobs happens to their processes, or is refused with a code', () =>
  withSite('socket', async ({ cluster, maui }) => {
    assert.equal(statSync(join(cluster.state, 'wiki.sock')).mode & 0o777, 0o600);
    const submit = (...words: string[]) =>
      cluster.ok('run', '--partition', 'theirs', ...words, 'sleep', '300');
    const id = await submit('-t', '10m');
    const other = await submit();
    assert.equal((await refusal(maui.ask(`CMD=STARTJOB ARG=${id} TASKLIST=n3`))).code, -700);
    assert.equal((await refusal(maui.ask(`CMD=SUSPENDJOB ARG=${id}`))).code, -700);
    await maui.ask(`CMD=MODIFYJOB ARG=${id} TIMELIMIT=20`);
    const [shown] = (await maui.jobs()).filter((job) => job.id === id);
    assert.equal(shown?.fields.get('WCLIMIT'), '1200');
    await maui.ask(`CMD=STARTJOB ARG=${id} TASKLIST=n2`);
    await maui.ask(`CMD=STARTJOB ARG=${id} TASKLIST=n2`);
    assert.equal((await refusal(maui.ask(`CMD=STARTJOB ARG=${id} TASKLIST=n1`))).code, -700);
    await becomes(maui, id, 'Running');
    await until('its process runs', async () => (await cluster.job(id)).startedAt ?? undefined);
    await maui.ask(`CMD=SUSPENDJOB ARG=${id}`);
    await becomes(maui, id, 'Suspended');
    await maui.ask(`CMD=RESUMEJOB ARG=${id}`);
    await becomes(maui, id, 'Running');
    await maui.ask(`CMD=REQUEUEJOB ARG=${id}`);
    await becomes(maui, id, 'Idle');
    await maui.ask(`CMD=STARTJOB ARG=${id} TASKLIST=n1`);
    await maui.ask(`CMD=STARTJOB ARG=${other} TASKLIST=n1`);
    const full = await submit('--cpus', '2');
    assert.equal((await refusal(maui.ask(`CMD=STARTJOB ARG=${full} TASKLIST=n1`))).code, -913);
    await until('it runs', async () => (await cluster.job(other)).startedAt ?? undefined);
    await maui.ask(`CMD=SIGNALJOB ARG=${other} ACTION=signal VALUE=SIGTERM`);
    await becomes(maui, other, 'Removed');
    await maui.ask(`CMD=CANCELJOB ARG=${id} TYPE=WALLCLOCK`);
    await maui.ask(`CMD=CANCELJOB ARG=${full} TYPE=ADMIN`);
    await becomes(maui, id, 'Removed');
    await becomes(maui, full, 'Removed');
    const { outcome } = await cluster.job(id);
    assert.match(outcome?.detail ?? '', /cancelled by the external scheduler: its time limit/);
    await maui.ask(`CMD=NOTIFYJOB ARG=${id} MSG=the disk SC=-1 is full`);
    assert.equal((await refusal(maui.ask('CMD=JOBADDTASK ARG=1'))).code, -810);
    assert.equal((await refusal(maui.ask('CMD=CANCELJOB ARG=99'))).code, -700);
    const mine = await cluster.ok('run', 'sleep', '300');
    assert.equal((await refusal(maui.ask(`CMD=CANCELJOB ARG=${mine}`))).code, -700, 'not its own');
    await cluster.ok('kill', mine);
  }));
