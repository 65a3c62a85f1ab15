// The real engine on a real store, with nodes that end every task the moment they are told of it:
// what the head's own code costs, and histories of any length, without a single process.

import { HEAD_MACHINE } from '../sim/head-machine.ts';
import { Engine } from '../src/kernel/head/engine.ts';
import type { Actor } from '../src/kernel/model/actor.ts';
import type { EpochId, NodeName, UserName } from '../src/kernel/model/ids.ts';
import type { Order, Report } from '../src/kernel/model/orders.ts';
import { openSqliteStore } from '../src/kernel/store/sqlite/open.ts';
import { defaultSettings, hello, quietLog, realClock } from './support.ts';

const NODES = ['instant-1', 'instant-2', 'instant-3', 'instant-4'] as NodeName[];
const USER: Actor = { kind: 'user', name: 'bench' as UserName, uid: 1000, role: 'admin' };
/** Submissions under way at a time, as of so many clients. */
const OPEN_MAX = 64;
/** Submissions between two ticks, in which done jobs leave memory: a second of a busy head. */
const TICK_JOBS = 1000;

export interface InstantCluster {
  /** Submits this many single jobs and resolves when all are done and durable. */
  run(jobs: number): Promise<void>;
  /** Leaves a store without nodes, as if they had been removed. */
  stop(): Promise<void>;
}

export async function startInstantCluster(directory: string): Promise<InstantCluster> {
  const store = await openSqliteStore({ directory });
  let left = 0;
  let finished: () => void = () => undefined;
  const engine = await Engine.start({
    machine: HEAD_MACHINE,
    store,
    clock: realClock,
    log: quietLog,
    settings: defaultSettings,
    send: (node, orders) => setImmediate(() => answer(node, orders)),
    onReload: () => {
      throw new Error('the store failed');
    },
  });
  const answer = (node: NodeName, orders: readonly Order[]): void => {
    const session = engine.state.nodes.get(node)?.session ?? 0;
    for (const order of orders) {
      if (order.kind !== 'launch') continue;
      for (const report of reportsOf(order.epochId)) {
        engine.perform({ kind: 'report', node, session, report }, () => undefined);
      }
      left -= 1;
    }
    if (left === 0) finished();
  };
  for (const node of NODES) {
    await engine.execute(
      { kind: 'enroll_node', node, secretHash: '', resources: null, labels: [], replace: false },
      USER,
    );
    engine.perform({ kind: 'hello', hello: hello(node, 64) }, () => undefined);
  }
  await engine.settled();
  return {
    async run(jobs) {
      left = jobs;
      const allDone = new Promise<void>((resolve) => {
        finished = resolve;
      });
      await submitAll(engine, jobs);
      await allDone;
      engine.perform({ kind: 'tick' }, () => undefined);
      await engine.settled();
    },
    async stop() {
      for (const node of NODES) await engine.execute({ kind: 'remove_node', node }, USER);
      await engine.stop();
    },
  };
}

async function submitAll(engine: Engine, jobs: number): Promise<void> {
  const submission = { program: { kind: 'argv', argv: ['/bin/true'] } } as const;
  let open = 0;
  for (let at = 0; at < jobs; at += 1) {
    open += 1;
    engine
      .execute({ kind: 'submit_job', submission, key: null, retired: {} }, USER)
      .then(() => (open -= 1));
    if (at % TICK_JOBS === 0) engine.perform({ kind: 'tick' }, () => undefined);
    if (open >= OPEN_MAX) await engine.settled();
  }
}

function reportsOf(epochId: EpochId): Report[] {
  const usage = { userUs: 1, systemUs: 1, memoryPeakBytes: 1 };
  const processes = [{ rank: 0, exit: { code: 0 } }];
  const end = { at: 0, cause: 'exited', nodeFault: false, processes, usage } as const;
  return [
    { kind: 'task_started', epochId, at: 0, limits: 'none' },
    { kind: 'task_ended', epochId, ...end },
  ];
}
