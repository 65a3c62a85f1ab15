// Scheduling on five hosts with real processes: what the plan promised, the receipts of the
// processes must show. Policies, reservations, each way of maintenance, each way of making room.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import type { ExplainReply } from '../../src/kernel/api/jobs.ts';
import type { MaintenanceView } from '../../src/kernel/api/maintenance.ts';
import type { NodeName } from '../../src/kernel/model/ids.ts';
import {
  type Partition,
  plainPartition,
  plainScheduling,
} from '../../src/kernel/model/scheduling.ts';
import { type Gate, HostedCluster, QUICK, type Receipt } from './support/hosted-cluster.ts';
import { until } from './support/hosts.ts';

const NODES = ['n1', 'n2', 'n3', 'n4'];
/** Cpus of each node. */
const CPUS = 4;

const PARTITIONS: Readonly<Record<string, Partition>> = {
  default: plainPartition('default', 'easy'),
  line: { ...plainPartition('line', 'fifo'), nodes: ['n4' as NodeName] },
  stops: { ...plainPartition('stops'), preempt: 'suspend' },
  returns: { ...plainPartition('returns'), preempt: 'requeue' },
  leaves: { ...plainPartition('leaves'), preempt: 'cancel' },
  urgent: { ...plainPartition('urgent'), tier: 1 },
};

describe('scheduling on hosts', () => {
  let cluster: HostedCluster;

  before(async () => {
    const scheduling = { ...plainScheduling('easy'), partitions: PARTITIONS };
    const settings = { ...QUICK.settings, scheduling };
    cluster = await HostedCluster.start(NODES.length, { ...QUICK, settings });
  });
  after(async () => {
    await cluster?.close();
  });
  afterEach(async () => {
    await cluster.clean().catch((error: unknown) => {
      throw new Error(`${String(error)}\n${cluster.logs()}`);
    });
  });

  const submit = (beats: number | Gate, seconds: number, more: Record<string, unknown> = {}) =>
    cluster.submit(beats, { walltimeMs: seconds * 1000, ...more });
  const why = (id: number) => cluster.call<ExplainReply>('GET', `/v1/jobs/${id}/why`);
  const completed = async (id: number): Promise<Receipt> => {
    const { outcome } = await cluster.done(id);
    assert.equal(outcome?.kind, 'completed', `job ${id}: ${outcome?.detail}`);
    const last = cluster.ran(id).at(-1);
    assert.ok(last?.ended, `job ${id} ran to its end`);
    return last;
  };
  const firstBeat = (id: number): number => Math.min(...cluster.ran(id).map(({ from }) => from));
  const lastBeat = (id: number): number => Math.max(...cluster.ran(id).map((one) => one.until));

  it('[A13, J23] easy: a short job passes, a long one does not, and why tells when the wide one starts', async () => {
    const gate = cluster.gate();
    const deep = await submit(gate, 600, { nodeCount: 3, cpuCount: CPUS });
    await cluster.started(deep);
    const wide = await submit(10, 300, { nodeCount: 4, cpuCount: CPUS });
    assert.deepEqual([...(await why(wide)).startNodes].sort(), NODES);
    const asked = cluster.work(5, { walltimeMs: 3_600_000 });
    const askedAt = Date.now();
    const dry = await cluster.call<ExplainReply>('POST', '/v1/jobs/rehearse', asked);
    // Asked afterwards: the more nodes have said when the deep one began, the later it is.
    const { startsAt } = await why(wide);
    // Whole minutes: ten where the plan gives the deep one a little more than its limit.
    const told = /a time limit of (9|10)m instead of 1h/.exec(dry.smaller.join());
    assert.ok(told, dry.smaller.join());
    const fits = askedAt + Number(told[1]) * 60_000 <= (startsAt ?? 0);
    assert.ok(fits, 'what is told to fit ends before the wide one starts');
    const long = await submit(5, 3600);
    const short = await submit(5, 60);
    const shortRan = await completed(short);
    assert.match(
      (await why(long)).reason?.words ?? '',
      new RegExp(`kept for job ${wide}|before it`),
    );
    gate.open();
    for (const id of [deep, wide, long]) await completed(id);
    assert.ok(shortRan.until < lastBeat(deep), 'the short one was through before the room came');
    // A node that has done its part of the wide one is free before the others.
    assert.ok(firstBeat(long) >= firstBeat(wide), 'the long one did not pass');
    const wideStarted = (await cluster.call<{ startedAt: number }>('GET', `/v1/jobs/${wide}`))
      .startedAt;
    assert.ok(startsAt !== null && wideStarted <= startsAt, 'no later than told');
  });

  it('[A10, P1] fifo in one partition: nobody passes there, while another one starts on the same host', async () => {
    const line = { partition: 'line' };
    const gate = cluster.gate();
    const first = await submit(gate, 600, { ...line, cpuCount: 3 });
    await cluster.started(first);
    const second = await submit(5, 600, { ...line, cpuCount: CPUS });
    const third = await submit(1, 60, line);
    const other = await submit(1, 60, { nodeNames: ['n4'] });
    assert.equal((await completed(other)).host, 'n4');
    assert.equal(cluster.ran(third).length, 0);
    assert.match(
      (await why(third)).words,
      new RegExp(`job ${second} is ahead of it, .*\\(fifo\\)`),
    );
    gate.open();
    for (const id of [first, second, third]) assert.equal((await completed(id)).host, 'n4');
    assert.ok(firstBeat(third) >= lastBeat(second));
    assert.ok(lastBeat(other) < lastBeat(first));
  });

  it('[R1, R2] a reservation: its member runs in it, others before it and after it', async () => {
    const now = Date.now();
    const slot = { at: now + 15_000, durationMs: 18_000, nodeNames: ['n2'], share: 'whole' };
    await cluster.call('POST', '/v1/reservations', { name: 'course', ...slot });
    const outside = { nodeNames: ['n2'] };
    const long = await submit(1, 3600, outside);
    const before = await submit(1, 6, outside);
    const member = await submit(3, 8, { reservation: 'course' });
    assert.match((await why(long)).words, /reservation course on n2/);
    for (const id of [before, member, long]) assert.equal((await completed(id)).host, 'n2');
    const begins = uptimeOf(slot.at);
    const ends = uptimeOf(slot.at + slot.durationMs);
    assert.ok(lastBeat(before) < begins, 'the short one was before it');
    assert.ok(firstBeat(member) >= begins && lastBeat(member) < ends, 'the member was in it');
    assert.ok(firstBeat(long) >= ends, 'the long one came after it');
  });

  it('[M1, M2, M4] maintenance: each host has its way with what runs, and its program runs alone', async () => {
    const policies = ['wait', 'requeue', 'suspend', 'kill'] as const;
    const gates = NODES.map(() => cluster.gate());
    const jobs = await Promise.all(
      NODES.map((node, at) =>
        submit(gates[at] as Gate, 600, { cpuCount: CPUS, nodeNames: [node] }),
      ),
    );
    for (const id of jobs) await cluster.started(id);
    const stamps = (node: string): string => join(cluster.directory, `serviced-${node}`);
    const stamp = 'cut -d" " -f1 /proc/uptime';
    const plans = await Promise.all(
      NODES.map((node, at) => {
        const line = `${stamp} > ${stamps(node)}; sleep 1; ${stamp} >> ${stamps(node)}; hostname >> ${stamps(node)}`;
        return cluster.call<MaintenanceView>('POST', '/v1/maintenance', {
          nodes: [node],
          time: { kind: 'now' },
          durationMs: 300_000,
          reason: 'fans',
          running: policies[at],
          program: { program: { kind: 'shell', line } },
        });
      }),
    );
    gates[0]?.open(); // Its maintenance waits for it.
    for (const { id } of plans) {
      const over = await until(`${id} is over`, async () => {
        const view = await cluster.call<MaintenanceView>('GET', `/v1/maintenance/${id}`);
        return view.endedAt === null ? undefined : view;
      });
      assert.equal(over.phase, 'done', over.detail ?? '');
    }
    for (const gate of gates) gate.open();
    const outcomes = await Promise.all(
      jobs.map(async (id) => (await cluster.done(id)).outcome?.kind),
    );
    assert.deepEqual(outcomes, ['completed', 'completed', 'completed', 'cancelled']);
    assert.deepEqual(
      jobs.map((id) => cluster.ran(id).length),
      [1, 2, 1, 1],
    );
    for (const [at, node] of NODES.entries()) {
      assert.ok(existsSync(stamps(node)), `the program ran on ${node}`);
      const [from, to, host] = readFileSync(stamps(node), 'utf8').trim().split('\n');
      assert.equal(host, node);
      const alone = beatsIn(jobs[at] as number, Number(from), Number(to));
      assert.deepEqual(alone, [], `${node}: nobody's task ran beside the program`);
    }
  });

  function beatsIn(id: number, from: number, to: number): number[] {
    return cluster.beats(id).filter((beat) => beat > from && beat < to);
  }

  it('[P11, P13] a higher tier: who is there stops, starts again later, or leaves for it', async () => {
    const partitions = ['stops', 'returns', 'leaves'];
    const gate = cluster.gate();
    const there = await Promise.all(
      partitions.map((partition, at) =>
        submit(gate, 600, { partition, cpuCount: CPUS, nodeNames: [`n${at + 1}`] }),
      ),
    );
    for (const id of there) await cluster.started(id);
    const full = await submit(gate, 600, { cpuCount: CPUS, nodeNames: ['n4'] });
    await cluster.started(full);
    const urgent = await submit(10, 300, { partition: 'urgent', cpuCount: CPUS, nodeCount: 3 });
    const { host } = await completed(urgent);
    gate.open();
    assert.notEqual(host, 'n4', 'whose partition says off stays');
    const [stopped, returned, left] = there as [number, number, number];
    assert.match(
      (await cluster.done(left)).outcome?.detail ?? '',
      new RegExp(`preempted by ${urgent} `),
    );
    for (const id of [stopped, returned, full]) await completed(id);
    assert.deepEqual(
      [stopped, returned, left, full].map((id) => cluster.ran(id).length),
      [1, 2, 1, 1],
    );
    const [from, to] = [firstBeat(urgent), lastBeat(urgent)];
    for (const id of there) assert.deepEqual(beatsIn(id, from, to), [], `job ${id} stood still`);
  });
});

/** The machine's uptime in seconds at this time of day, ms since 1970. */
function uptimeOf(at: number): number {
  const uptime = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
  return uptime + (at - Date.now()) / 1000;
}
