// What idle nodes cost: the start of a local cluster of so many, the memory of all its processes,
// and the head's CPU time per heartbeat while nothing happens. Usage: idle.ts [NODES…].

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { figure, memoryMiB, startCluster } from './cluster.ts';

/** `weft up` tells its nodes nothing else (`head.heartbeat`). */
const HEARTBEAT_SECONDS = 2;
const QUIET_SECONDS = 20;
const WATCHED_SECONDS = 60;

const sizes = process.argv.slice(2).map(Number);
for (const nodes of sizes.length > 0 ? sizes : [100, 1000]) await measure(nodes);

async function measure(nodes: number): Promise<void> {
  const from = performance.now();
  const cluster = await startCluster({ nodes, cpus: 1 });
  try {
    figure(`up_${nodes}_nodes`, 's', [(performance.now() - from) / 1000]);
    await sleep(QUIET_SECONDS * 1000);
    const pids = processesOf(cluster.directory);
    const memory = pids.map((pid) => memoryMiB(pid).private);
    const all = memory.reduce((sum, one) => sum + one, 0);
    figure(`up_${nodes}_nodes_private`, 'MiB', [all], { processes: pids.length });
    const before = cluster.headCpuSeconds();
    await sleep(WATCHED_SECONDS * 1000);
    const seconds = cluster.headCpuSeconds() - before;
    const heartbeats = (nodes * WATCHED_SECONDS) / HEARTBEAT_SECONDS;
    figure(`idle_${nodes}_nodes_head_cpu_per_heartbeat`, 'us', [(seconds * 1e6) / heartbeats]);
    figure(`idle_${nodes}_nodes_head_core`, '%', [(seconds * 100) / WATCHED_SECONDS]);
  } finally {
    cluster.stop();
  }
}

/** Every process whose command line names the cluster's directory. */
function processesOf(directory: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => commandLine(pid).includes(directory)).map(Number);
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // It has just ended.
  }
}
