// What one job costs the head's own code, submit to done, without sockets: engine, controller,
// codec and store, with agents that answer at once. Prints one JSON line per figure.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Actor } from '../src/core/model/actor.ts';
import type { EpochId, NodeName, UserName } from '../src/core/model/ids.ts';
import type { Order, Report } from '../src/core/model/orders.ts';
import { Engine } from '../src/head/engine.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import { defaultSettings, hello, quietLog, realClock } from './support.ts';

const jobs = Number(process.argv[2] ?? 20_000);
const nodes = ['n1', 'n2', 'n3', 'n4'] as NodeName[];
const user: Actor = { kind: 'user', name: 'bench' as UserName, uid: 1000, role: 'admin' };

const directory = mkdtempSync(join(tmpdir(), 'weft-bench-'));
const store = await openSqliteStore({ directory });
let done = 0;
let finished: () => void = () => undefined;
const engine = await Engine.start({
  store,
  clock: realClock,
  log: quietLog,
  settings: defaultSettings,
  send: (node, orders) => setImmediate(() => answer(node, orders)),
  onReload: () => {
    throw new Error('the store failed');
  },
});

function answer(node: NodeName, orders: readonly Order[]): void {
  const session = engine.state.nodes.get(node)?.session ?? 0;
  for (const order of orders) {
    if (order.kind !== 'launch') continue;
    for (const report of reportsOf(order.epochId)) {
      engine.perform({ kind: 'report', node, session, report }, () => undefined);
    }
    done += 1;
  }
  if (done === jobs) finished();
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

for (const node of nodes) {
  await engine.execute(
    { kind: 'enroll_node', node, secretHash: '', resources: null, labels: [], replace: false },
    user,
  );
  engine.perform({ kind: 'hello', hello: hello(node, 64) }, () => undefined);
}
await engine.settled();

const allDone = new Promise<void>((resolve) => {
  finished = resolve;
});
const cpu = process.cpuUsage();
const thread = process.threadCpuUsage();
const from = performance.now();
const submission = { program: { kind: 'argv', argv: ['/bin/true'] } } as const;
let open = 0;
for (let at = 0; at < jobs; at += 1) {
  open += 1;
  engine
    .execute({ kind: 'submit_job', submission, key: null, retired: {} }, user)
    .then(() => (open -= 1));
  if (open >= 64) await engine.settled();
}
await allDone;
await engine.settled();
const seconds = (performance.now() - from) / 1000;
const { user: userUs, system } = process.cpuUsage(cpu);
const own = process.threadCpuUsage(thread);
const print = (figure: string, unit: string, value: number): void =>
  console.log(
    JSON.stringify({ peer: 'weft', figure, unit, n: jobs, value: Number(value.toFixed(1)) }),
  );
print('engine_jobs_per_s', 'jobs/s', jobs / seconds);
print('engine_main_thread_us_per_job', 'us', (own.user + own.system) / jobs);
print('engine_process_us_per_job', 'us', (userUs + system) / jobs);
await engine.stop();
rmSync(directory, { recursive: true });
