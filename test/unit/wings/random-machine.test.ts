// Random lives of a small cluster: whatever happens in whatever order, the books agree after every
// step, the journal brings the state back, and in the end everything is done.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Command } from '../../../src/kernel/machine/declared.ts';
import { isCycleDue, snapshotOf } from '../../../src/kernel/machine/schedule.ts';
import type { CardState } from '../../../src/kernel/model/gpu.ts';
import type { JobId, NodeName } from '../../../src/kernel/model/ids.ts';
import { RUNNING_POLICIES } from '../../../src/kernel/model/maintenance.ts';
import type { EndCause } from '../../../src/kernel/model/orders.ts';
import { type Policy, plainScheduling } from '../../../src/kernel/model/scheduling.ts';
import { plan } from '../../../src/kernel/scheduler/cycle/plan.ts';
import { BUILD_FAILED_SIGNAL } from '../../../src/wings/batches/core/build-script.ts';
import { ADMIN, ANN, OPERATOR, TestHead } from '../../support/controller.ts';
import { card } from '../../support/nodes.ts';

/** One thing that happens; numbers are taken modulo what there is. */
const step = fc.record({
  act: fc.constantFrom(
    ...(['submit', 'submit', 'schedule', 'schedule', 'start', 'start', 'end', 'end'] as const),
    ...([
      'command',
      'command',
      'drop',
      'hello',
      'silence',
      'fleet',
      'tick',
      'restart',
      'maint',
      'store',
      'batch',
      'cards',
    ] as const),
  ),
  a: fc.nat(1000),
  b: fc.nat(1000),
  c: fc.nat(1000),
});
type Step = { act: string; a: number; b: number; c: number };

const NODES = ['n1', 'n2', 'n3'];
const CAUSES: readonly EndCause[] = [
  'exited',
  'ended',
  'timeout',
  'out_of_memory',
  'launch_failed',
  'stage_failed',
  'lease_expired',
  'lost',
  'never_started',
];
const STORED = { files: 1, bytes: 5, leftOut: 0 };
const COMMANDS = [
  'cancel_task',
  'cancel_task',
  'suspend_task',
  'resume_task',
  'requeue_task',
  'hold_job',
  'release_job',
  'signal_task',
] as const;

function pick<T>(list: readonly T[], at: number): T {
  return list[at % list.length] as T;
}

function live(head: TestHead, { act, a, b, c }: Step): void {
  const node = pick(NODES, a);
  const held = [...head.node(node).holding.keys()];
  const epoch = held.length === 0 ? undefined : pick(held, b);
  switch (act) {
    case 'submit':
      return submit(head, a, b, c);
    case 'schedule':
      return void head.schedule();
    case 'start':
      if (epoch !== undefined && head.node(node).connected) head.started(epoch, node);
      return;
    case 'store':
      if (epoch !== undefined && head.node(node).connected) head.storing(epoch, node);
      return;
    case 'end':
      if (epoch === undefined || !head.node(node).connected) return;
      head.ended(
        epoch,
        {
          cause: pick(CAUSES, c),
          code: c % 3,
          nodeFault: b % 2 === 0,
          ...(a % 4 === 0 ? { signal: BUILD_FAILED_SIGNAL } : {}),
          ...(a % 5 === 0 ? { stored: { ...STORED, problem: 'why not' } } : {}),
        },
        node,
      );
      return;
    case 'command':
      return command(head, a, b, c);
    case 'drop':
      return void head.disconnect(node);
    case 'hello':
      return hello(head, node, b);
    case 'silence':
      if (!head.node(node).connected) head.silence(node, 15_000 + (b % 5) * 10_000);
      return;
    case 'fleet':
      return fleet(head, node, b);
    case 'batch':
      return batch(head, a, b, c);
    case 'cards':
      return cards(head, node, b);
    case 'maint':
      return maintain(head, a, b, c);
    case 'tick':
      return void head.tick(b * 10);
    default:
      return void head.perform({ kind: 'started' });
  }
}

/**
 * Each of its two cards is well, used by others, ill or gone; what it says next is the end of that.
 */
function cards(head: TestHead, node: string, b: number): void {
  if (!head.node(node).connected) return;
  const stateOf = (at: number): CardState => pick(['free', 'used_outside', 'ill', 'gone'], at);
  head.tellCards(node, [card(0, { state: stateOf(b) }), card(1, { state: stateOf(b >> 2) })]);
}

function submit(head: TestHead, a: number, b: number, c: number): void {
  const array = { indices: `0-${a % 6}`, ...(b % 2 === 0 ? { runningMax: 1 + (b % 3) } : {}) };
  const on = 1 + (a % Math.max(1, head.state.nextJobId - 1));
  const dependent = c % 4 === 0 && head.state.jobs.has(on as JobId);
  const condition = pick(['ok', 'any', 'fail'] as const, a);
  head.submit({
    cpuCount: c % 3,
    gpuCount: c % 5 === 0 ? 1 : 0,
    nodeCount: 1 + (a % 2),
    exclusive: b % 7 === 0,
    nice: (a % 3) - 1,
    retriesMax: b % 2,
    requeue: c % 6 !== 0,
    held: c % 9 === 0,
    environment: { N: String(c % 2) },
    onNodeLoss: pick(
      [{ kind: 'requeue' }, { kind: 'wait' }, { kind: 'lease', leaseMs: 15_000 }] as const,
      b,
    ),
    ...(a % 3 === 0 ? { array } : {}),
    ...(b % 8 === 0 ? { beginAt: head.at + 2_000 } : {}),
    ...(dependent ? { dependencies: [{ jobId: on as JobId, condition }] } : {}),
  });
}

/** May be refused; the fixture checks that a refusal changes nothing. */
function command(head: TestHead, a: number, b: number, c: number): void {
  const open = [...head.state.jobs.values()].filter((job) => job.outcome === null);
  const jobId = pick([...open.map((job) => job.id), 1 as JobId], b);
  const index = c % 3 === 0 ? c % 6 : null;
  const kind = pick(COMMANDS, a);
  const wanted = { kind, jobId, place: { jobId, index }, signal: 1 + (c % 64) } as Command;
  head.perform({ kind: 'command', command: wanted, actor: ANN });
}

function hello(head: TestHead, node: string, b: number): void {
  const held = head.heldBy(node).filter((_, at) => (b >> at) % 4 !== 0);
  const rebooted = b % 5 === 0;
  const bootId = rebooted ? `boot of session ${head.node(node).session}` : head.node(node).bootId;
  head.connect(node, { bootId, gpus: 2, held: rebooted ? [] : held });
}

/** Half of them build; all that is asked of those that are there. */
function batch(head: TestHead, a: number, b: number, c: number): void {
  const name = `b${b % 3}`;
  const kinds = ['retry_batch', 'cancel_batch', 'rebuild_batch', 'remove_batch'] as const;
  const kind = pick([...kinds, 'submit_batch', 'submit_batch', 'submit_batch'] as const, a);
  const ref = { namespace: 'ann', name, version: null };
  if (kind !== 'submit_batch') {
    head.perform({ kind: 'command', command: { kind, batch: ref }, actor: ANN });
    return;
  }
  const part = (from: number, count: number, cpuCount: number) => ({
    submission: {
      program: { kind: 'script', text: 'true', args: ['{name}'] } as const,
      each: Array.from({ length: count }, (_, at) => ({ name: `j${from + at}` })),
      cpuCount,
      retriesMax: c % 2,
      requeue: c % 5 !== 0,
    },
    numbers: Array.from({ length: count }, (_, at) => from + at),
    prints: Array.from({ length: count }, () => 'print'),
  });
  const command: Command = {
    kind,
    namespace: 'ann',
    name,
    origin: 'weft',
    key: null,
    after: c % 4 === 0 ? [{ ...ref, name: 'b0' }] : [],
    mode: pick(['new', 'resume', 'new_version'] as const, b),
    build: c % 2 === 0 ? 'f'.repeat(40) : null,
    parts: [part(0, 1 + (a % 4), 1), part(1 + (a % 4), 2, 2)],
  };
  head.perform({ kind: 'command', command, actor: ANN });
}

/** Half of them are of now, so that most of a life is under some maintenance. */
function maintain(head: TestHead, a: number, b: number, c: number): void {
  const [last] = [...head.state.maintenances.keys()].slice(-1);
  if (a % 4 === 0 && last !== undefined) {
    const cancel: Command = { kind: 'cancel_maintenance', id: last };
    head.perform({ kind: 'command', command: cancel, actor: OPERATOR });
    return;
  }
  const soon = { kind: 'fixed', from: head.at + (b % 7) * 1000 } as const;
  const command: Command = {
    kind: 'plan_maintenance',
    nodes: NODES.slice(b % 2, 2 + (c % 2)) as NodeName[],
    time: a % 2 === 0 ? { kind: 'now' } : soon,
    durationMs: 1000 + (c % 5) * 2000,
    running: pick(RUNNING_POLICIES, b),
    warning: a % 2 === 1 && c % 3 === 0 ? { leadMs: 2000, signal: 10 } : null,
    program:
      c % 3 === 1
        ? { program: { kind: 'shell', line: 'upgrade' }, account: null, restarts: b % 3 === 0 }
        : null,
    reason: 'why not',
  };
  head.perform({ kind: 'command', command, actor: ADMIN });
}

function fleet(head: TestHead, node: string, b: number): void {
  const kind = pick(['drain_node', 'undrain_node', 'declare_node_lost'] as const, b);
  const wanted = { kind, node: node as NodeName, reason: 'why not' } as Command;
  head.perform({ kind: 'command', command: wanted, actor: OPERATOR });
}

function newborn(policy: Policy = 'first_fit'): TestHead {
  const head = new TestHead({ retainedJobsMax: 5, scheduling: plainScheduling(policy) });
  for (const node of NODES) head.connect(node, { gpus: 2, bootId: 'boot 0' });
  return head;
}

/**
 * Everything works from now on: nodes stay, their cards are well, processes exit 0, held jobs are
 * released.
 */
function heal(head: TestHead): void {
  for (let round = 0; round < 1000; round += 1) {
    // In every round: maintenance that is under way may fail, and keeps its node out then.
    for (const node of NODES) {
      if (head.node(node).drain === null) continue;
      head.command({ kind: 'undrain_node', node: node as NodeName });
    }
    const open = [...head.state.jobs.values()].filter((job) => job.outcome === null);
    const claims = NODES.flatMap((node) => head.heldBy(node));
    if (open.length === 0 && claims.length === 0) return;
    for (const { id } of open) {
      head.perform({ kind: 'command', command: { kind: 'release_job', jobId: id }, actor: ANN });
    }
    for (const node of NODES) {
      const { bootId, connected } = head.node(node);
      if (!connected) head.connect(node, { bootId, gpus: 2, held: head.heldBy(node) });
      if (round === 0) cards(head, node, 0);
      for (const { epochId } of head.heldBy(node)) {
        head.started(epochId, node);
        head.ended(epochId, {}, node);
      }
    }
    head.tick(1_000);
    head.schedule();
  }
  assert.fail('jobs were left after 1000 rounds');
}

test('[S9, S4, S7, A2] any life keeps the books, replays, and heeds no message twice', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
      const head = newborn();
      for (const one of steps) live(head, one);
      head.finish();
    }),
    { numRuns: 300 },
  );
});

test('[L1, L3] whatever happened, every job is done in the end and no claim is left', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
      const head = newborn();
      for (const one of steps) live(head, one);
      heal(head);
      head.finish();
    }),
    { numRuns: 100 },
  );
});

test('[S6] once a job is done, its outcome never changes', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
      const head = newborn();
      const done = new Map<JobId, string>();
      for (const one of steps) {
        live(head, one);
        for (const { id, outcome, endedAt } of head.state.jobs.values()) {
          if (outcome === null) assert.ok(!done.has(id));
          else if (!done.has(id)) done.set(id, JSON.stringify([outcome, endedAt]));
          else assert.equal(done.get(id), JSON.stringify([outcome, endedAt]));
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('[L4] whatever happens, where a task could start a cycle is due, or is with the next tick', () => {
  const policy = fc.constantFrom<Policy>('first_fit', 'fifo', 'easy', 'conservative');
  fc.assert(
    fc.property(policy, fc.array(step, { maxLength: 120, size: 'max' }), (by, steps) => {
      const head = newborn(by);
      for (const one of steps) {
        live(head, one);
        const { state, settings, at } = head;
        // Who plans ahead looks again with every tick.
        if (isCycleDue(state) || state.scratch.plansAhead) continue;
        assert.deepEqual(plan(snapshotOf(state, settings, 512, at), at).starts, [], one.act);
      }
    }),
    { numRuns: 500 },
  );
});
