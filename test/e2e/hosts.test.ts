// Truth and restart on six hosts made of namespaces: everything of ours is killed, cut and moved in
// time, and the receipts of the processes say whether anything was lost or ran twice.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { CallError } from '../support/local-client.ts';
import { findLauncher } from './support/find-launcher.ts';
import { HostedCluster, NODE_TIMEOUT_MS, overlap } from './support/hosted-cluster.ts';
import { until } from './support/hosts.ts';
import { TwinHead } from './support/twin-head.ts';

const WAIT = { onNodeLoss: { kind: 'wait' } };
const REQUEUE = { onNodeLoss: { kind: 'requeue' } };
/** No shorter than the node time-out. */
const LEASE_MS = 4000;
const LEASE = { onNodeLoss: { kind: 'lease', leaseMs: LEASE_MS } };

describe('six hosts', () => {
  let cluster: HostedCluster;

  before(async () => {
    cluster = await HostedCluster.start(5);
  });
  after(async () => {
    await cluster?.close();
  });
  afterEach(async () => {
    await cluster.clean().catch((error: unknown) => {
      throw new Error(`${String(error)}\n${cluster.logs()}`);
    });
  });

  /** The host names of all nodes differ and are their own. */
  it('[N1] every host runs tasks under its own name', async () => {
    const names = cluster.members.map((member) => member.name);
    const jobs = await Promise.all(names.map((name) => cluster.submit(1, { nodeNames: [name] })));
    for (const [at, id] of jobs.entries()) {
      assert.equal((await cluster.done(id)).outcome?.kind, 'completed');
      assert.deepEqual(
        cluster.ran(id).map((receipt) => receipt.host),
        [names[at]],
      );
    }
  });

  it('[S1] a head killed under load loses no accepted job and runs none twice', async () => {
    const accepted = new Set<number>();
    let submitting = true;
    let key = 0;
    const client = async (): Promise<void> => {
      while (submitting) {
        key += 1;
        const reply = await submitWithRetry(`load-${key}`, () => submitting);
        if (reply !== null) accepted.add(reply);
      }
    };
    const clients = [client(), client(), client(), client()];
    for (const enough of [20, 40, 60]) {
      await until(`${enough} jobs are accepted`, () =>
        accepted.size >= enough ? true : undefined,
      );
      await cluster.killHead();
      await cluster.startHead();
    }
    submitting = false;
    await Promise.all(clients);
    await cluster.nodesUp();
    for (const id of accepted) {
      assert.equal((await cluster.done(id)).outcome?.kind, 'completed', `job ${id}`);
      const ends = cluster.ran(id);
      assert.equal(ends.length, 1, `job ${id} ran ${ends.length} times`);
      assert.ok(ends[0]?.ended, `job ${id} ran to its end`);
    }
  });

  async function submitWithRetry(key: string, going: () => boolean): Promise<number | null> {
    for (;;) {
      try {
        const body = { jobs: [{ key, submission: cluster.work(2, WAIT) }] };
        const reply = await cluster.call<BulkReply>('POST', '/v1/jobs/bulk', body);
        const [result] = reply.results;
        if (result?.ok === true) return result.value.jobId;
      } catch (error) {
        if (error instanceof CallError && error.status < 500) throw error;
      }
      if (!going()) return null;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  it('[L3] a killed agent adopts what runs; nothing starts again', async () => {
    const member = cluster.member('n1');
    const gate = cluster.gate();
    const id = await cluster.submit(gate, { nodeNames: ['n1'], ...WAIT });
    await cluster.started(id);
    await cluster.killAgent(member);
    await cluster.startAgent(member);
    gate.open();
    assert.equal((await cluster.done(id)).outcome?.kind, 'completed');
    assert.equal(cluster.ran(id).length, 1);
  });

  it('[L1] a killed launcher: its processes are found and ended, the task runs again', async () => {
    const member = cluster.member('n2');
    const gate = cluster.gate();
    const id = await cluster.submit(gate, { nodeNames: ['n2'], ...WAIT });
    await cluster.started(id);
    process.kill(findLauncher(member.place) as number, 'SIGKILL');
    await cluster.started(id, 2);
    gate.open();
    assert.equal((await cluster.done(id)).outcome?.kind, 'completed');
    const ran = cluster.ran(id);
    assert.deepEqual(
      ran.map((receipt) => [receipt.epoch, receipt.ended]),
      [
        [1, false],
        [2, true],
      ],
    );
    assert.equal(overlap(ran), null);
  });

  it('[N5] a host without power: requeue jobs move at once, wait jobs when it is back', async () => {
    const gate = cluster.gate();
    const moving = await cluster.submit(gate, REQUEUE);
    const where = (await cluster.started(moving)).host;
    const owner = cluster.member(where);
    const waiting = await cluster.submit(gate, { nodeNames: [where], ...WAIT });
    await cluster.started(waiting);
    await owner.host.powerOff();
    const again = await cluster.started(moving, 2);
    assert.notEqual(again.host, where);
    assert.equal(cluster.ran(waiting).length, 1, 'no evidence, no second start');
    assert.match((await cluster.job(waiting)).notice ?? '', /unreachable|silent/);
    gate.open();
    await owner.host.powerOn();
    await cluster.startAgent(owner);
    assert.equal((await cluster.done(waiting)).outcome?.kind, 'completed');
    assert.equal(overlap(cluster.ran(waiting)), null);
    assert.equal((await cluster.done(moving)).outcome?.kind, 'completed');
    assert.equal(cluster.ran(moving).filter((receipt) => receipt.ended).length, 1);
  });

  it('[N4] a cut shorter than the node time-out changes nothing', async () => {
    const gate = cluster.gate();
    const id = await cluster.submit(gate, { nodeNames: ['n4'], ...REQUEUE });
    await cluster.started(id);
    const { host } = cluster.member('n4');
    host.cut();
    await new Promise((resolve) => setTimeout(resolve, NODE_TIMEOUT_MS / 6));
    host.rejoin();
    gate.open();
    assert.equal((await cluster.done(id)).outcome?.kind, 'completed');
    assert.equal(cluster.ran(id).length, 1);
  });

  it('[S3] a cut longer than time-out and lease: each kind of job keeps its promise', async () => {
    const { host } = cluster.member('n5');
    const on = { nodeNames: ['n5'] };
    const gate = cluster.gate();
    const [waiting, leased] = [
      await cluster.submit(gate, { ...on, ...WAIT }),
      await cluster.submit(gate, { ...on, ...LEASE }),
    ];
    const requeued = await cluster.submit(gate, {
      ...REQUEUE,
      nodeNames: ['n4', 'n5'],
      nodeCount: 1,
    });
    await cluster.started(waiting);
    await cluster.started(leased);
    const first = await cluster.started(requeued);
    cluster.member(first.host).host.cut();
    host.cut();
    // With both of its hosts cut it has nowhere to go until they are back.
    if (first.host === 'n5') await cluster.started(requeued, 2);
    await until('the lease ran out on the node', () => {
      const [receipt] = cluster.ran(leased);
      const uptime = Number(execFileSync('cut', ['-d ', '-f1', '/proc/uptime']).toString());
      return receipt !== undefined && uptime - receipt.until > LEASE_MS / 1000 ? true : undefined;
    });
    assert.equal(cluster.ran(waiting).length, 1);
    host.rejoin();
    cluster.member(first.host).host.rejoin();
    await cluster.started(leased, 2);
    gate.open();
    for (const id of [waiting, leased, requeued]) {
      assert.equal((await cluster.done(id)).outcome?.kind, 'completed', `job ${id}`);
    }
    assert.equal(cluster.ran(waiting).length, 1, 'the wait job never stopped');
    assert.equal(overlap(cluster.ran(leased)), null);
    assert.equal(cluster.ran(leased).filter((receipt) => receipt.ended).length, 1);
  });

  it('[S3] an agent that is killed and stays dead: its leased job ends before it runs elsewhere', async () => {
    const two = { nodeNames: ['n3', 'n4'], nodeCount: 1 };
    const gate = cluster.gate();
    const id = await cluster.submit(gate, { ...LEASE, ...two });
    const first = await cluster.started(id);
    const member = cluster.member(first.host);
    await cluster.killAgent(member);
    const second = await cluster.started(id, 2);
    assert.notEqual(second.host, first.host);
    gate.open();
    assert.equal((await cluster.done(id)).outcome?.kind, 'completed');
    assert.equal(overlap(cluster.ran(id)), null);
    assert.deepEqual(
      cluster.ran(id).map(({ epoch, ended }) => [epoch, ended]),
      [
        [1, false],
        [2, true],
      ],
    );
    await cluster.startAgent(member);
    await cluster.nodesUp();
  });

  it('[N6] a head away for far longer than time-out and lease ends no requeue or wait job', async () => {
    const on = { nodeNames: ['n1'] };
    const gate = cluster.gate();
    const ids = [
      await cluster.submit(gate, { ...on, ...WAIT }),
      await cluster.submit(gate, { ...on, ...REQUEUE }),
    ];
    for (const id of ids) await cluster.started(id);
    await cluster.killHead();
    await new Promise((resolve) => setTimeout(resolve, 3 * NODE_TIMEOUT_MS));
    await cluster.startHead();
    await cluster.nodesUp();
    gate.open();
    for (const id of ids) {
      assert.equal((await cluster.done(id)).outcome?.kind, 'completed');
      assert.equal(cluster.ran(id).length, 1);
    }
  });

  it('[S14] [N15] a copy of the head beside it does no harm, also to whom it meets', async () => {
    const gate = cluster.gate();
    const on = { nodeNames: ['n1'], ...WAIT };
    const ids = [await cluster.submit(gate, on)];
    await cluster.started(ids[0] as number);
    const twin = await TwinHead.start(cluster);
    try {
      ids.push(await cluster.submit(gate, on));
      await cluster.started(ids[1] as number);
      const { call } = twin.client;
      await until('the twin takes n1 for silent', async () => {
        const { state } = await call<{ state: string }>('GET', '/v1/nodes/n1');
        return state === 'unreachable' || undefined;
      });
      const bringBack = await twin.attract(cluster.member('n1'));
      await until('the twin knows', async () => {
        const { behind } = await call<{ behind: string | null }>('GET', '/v1/info');
        return behind !== null || undefined;
      });
      const isBehind = (error: unknown) =>
        error instanceof CallError && error.code === 'head.behind';
      await assert.rejects(call('POST', '/v1/jobs', cluster.work(1, on)), isBehind);
      assert.equal(twin.hasFenced, false);
      await bringBack();
      await cluster.nodesUp();
    } finally {
      await twin.close();
    }
    const { behind } = await cluster.call<{ behind: string | null }>('GET', '/v1/info');
    assert.equal(behind, null);
    gate.open();
    for (const id of ids) {
      assert.equal((await cluster.done(id)).outcome?.kind, 'completed');
      assert.equal(cluster.ran(id).length, 1);
    }
  });

  it('[N7] a one-way cut: the head hears nothing, and nothing runs twice at once', async () => {
    const { host } = cluster.member('n2');
    const gate = cluster.gate();
    const id = await cluster.submit(gate, { nodeNames: ['n2'], ...WAIT });
    await cluster.started(id);
    host.muteOutgoing();
    await until('the head calls it unreachable', async () => {
      const node = await cluster.call<{ state: string }>('GET', '/v1/nodes/n2');
      return node.state === 'unreachable' ? true : undefined;
    });
    host.unmuteOutgoing();
    gate.open();
    assert.equal((await cluster.done(id)).outcome?.kind, 'completed');
    assert.equal(cluster.ran(id).length, 1);
  });

  it('[S3] two hosts rejoin with old processes: those are ended, one result counts', async () => {
    const two = ['n3', 'n4'];
    const gate = cluster.gate();
    const either = (name: string) => ({ ...REQUEUE, nodeNames: [name, 'n5'], nodeCount: 1 });
    const ids = await Promise.all(two.map((name) => cluster.submit(gate, either(name))));
    const where = await Promise.all(ids.map(async (id) => (await cluster.started(id)).host));
    for (const name of new Set(where)) cluster.member(name).host.cut();
    for (const id of ids) await cluster.started(id, 2);
    for (const name of new Set(where)) cluster.member(name).host.rejoin();
    await cluster.nodesUp();
    await until('the old processes are ended', () => {
      const left = where.flatMap((name) => cluster.member(name).host.processes());
      return left.some((line) => line.includes('worker.sh')) ? undefined : true;
    });
    gate.open();
    for (const id of ids) {
      assert.equal((await cluster.done(id)).outcome?.kind, 'completed');
      const ended = cluster.ran(id).filter((receipt) => receipt.ended);
      assert.deepEqual(
        ended.map((receipt) => receipt.epoch),
        [2],
      );
    }
  });

  it("[N8] a host's clock moved by an hour times nothing out", async () => {
    const member = cluster.member('n1');
    const library = fileOfPackage('libfaketime', 'libfaketime.so.1');
    const clock = join(cluster.directory, 'n1.clock');
    writeFileSync(clock, '+0s');
    await cluster.killAgent(member);
    member.env = {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
    await cluster.startAgent(member);
    await cluster.nodesUp();
    const times = { walltimeMs: 600_000, onNodeLoss: { kind: 'lease', leaseMs: 60_000 } };
    const id = await cluster.submit(30, { nodeNames: ['n1'], ...times });
    await cluster.started(id);
    writeFileSync(clock, '+3600s');
    const job = await cluster.done(id);
    assert.equal(job.outcome?.kind, 'completed');
    assert.equal(cluster.ran(id).length, 1);
    await cluster.killAgent(member);
    member.env = {};
    await cluster.startAgent(member);
    await cluster.nodesUp();
  });

  it('[N16] a host with a full disk ends its tasks in time, gets no new ones, loses nothing', async () => {
    const member = cluster.member('n5');
    const on = { nodeNames: ['n5'], ...WAIT };
    const timed = await cluster.submit(600, { ...on, walltimeMs: 4000 });
    const cancelled = await cluster.submit(600, on);
    const short = await cluster.submit(40, on);
    for (const id of [timed, cancelled, short]) await cluster.started(id);
    const filler = join(member.stateDir, 'filler');
    execFileSync('sh', ['-c', 'cat /dev/zero > "$1" 2>/dev/null || true', '_', filler]);
    const fault = async (): Promise<string | null> =>
      (await cluster.call<{ fault: string | null }>('GET', '/v1/nodes/n5')).fault;
    await until('the head knows', async () => ((await fault()) === 'disk full' ? true : undefined));
    const waiting = await cluster.submit(3, on);
    await cluster.call('POST', `/v1/jobs/${cancelled}/cancel`, {});
    assert.equal((await cluster.done(cancelled)).outcome?.kind, 'cancelled');
    assert.equal((await cluster.done(timed)).outcome?.kind, 'timeout');
    assert.equal((await cluster.done(short)).outcome?.kind, 'completed');
    assert.equal(cluster.ran(waiting).length, 0);
    assert.equal((await cluster.job(waiting)).state, 'pending');
    await cluster.killAgent(member);
    await cluster.startAgent(member);
    await until('the new agent says it too', async () => {
      const { state } = await cluster.call<{ state: string }>('GET', '/v1/nodes/n5');
      return state === 'up' && (await fault()) === 'disk full' ? true : undefined;
    });
    rmSync(filler);
    assert.equal((await cluster.done(waiting)).outcome?.kind, 'completed');
    for (const id of [timed, cancelled, short, waiting]) {
      assert.equal(cluster.ran(id).length, 1, `job ${id}`);
    }
  });

  it('[S1] a full disk of the head refuses clearly and loses nothing', async () => {
    const kept = await cluster.submit(3, WAIT);
    const filler = join(cluster.headDirectory, 'filler');
    execFileSync('sh', ['-c', 'cat /dev/zero > "$1" 2>/dev/null || true', '_', filler]);
    const refused = await until('a submission is refused', async () => {
      try {
        await cluster.submit(1, {
          ...WAIT,
          environment: { RECEIPTS: cluster.receipts, X: 'x'.repeat(50_000) },
        });
        return undefined;
      } catch (error) {
        return error instanceof CallError ? error : undefined;
      }
    });
    assert.equal(refused.code, 'store.unavailable');
    rmSync(filler);
    const later = await until('the head accepts again', async () =>
      cluster.submit(3, WAIT).catch(() => undefined),
    );
    for (const id of [kept, later]) {
      assert.equal((await cluster.done(id)).outcome?.kind, 'completed');
      assert.equal(cluster.ran(id).length, 1);
    }
  });
});

interface BulkReply {
  readonly results: readonly ({ ok: true; value: { jobId: number } } | { ok: false })[];
}

/** The launcher of an agent, by its command line. */
/** Where a package put a file: its folder is named after the machine's architecture. */
function fileOfPackage(name: string, file: string): string {
  const files = execFileSync('dpkg', ['-L', name], { encoding: 'utf8' }).split('\n');
  const found = files.find((path) => path.endsWith(`/${file}`));
  assert.ok(found !== undefined, `the package ${name} has no ${file}`);
  return found;
}
