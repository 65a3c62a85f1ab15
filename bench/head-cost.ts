// What one job costs the head's own code, submit to done, without sockets: engine, controller,
// codec and store, with agents that answer at once. Prints one JSON line per figure.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startInstantCluster } from './instant-nodes.ts';

const jobs = Number(process.argv[2] ?? 20_000);

const directory = mkdtempSync(join(tmpdir(), 'weft-bench-'));
const cluster = await startInstantCluster(directory);
const cpu = process.cpuUsage();
const thread = process.threadCpuUsage();
const from = performance.now();
await cluster.run(jobs);
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
await cluster.stop();
rmSync(directory, { recursive: true });
