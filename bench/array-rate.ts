// Tasks of one array per second, silent, with a line and with 1 KiB each, in turns with `xargs -P2`
// and, where it is installed, HyperQueue without files of output; the CPU of head and agents, and
// the disk that the kept output takes. Usage: array-rate.ts [N] [turns] [nodes]: with one node it
// has 256 slots, with more each has two.

import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { figure, startCluster } from './cluster.ts';
import { rateOfHyperQueue } from './peers.ts';

const tasks = Number(process.argv[2] ?? 10_000);
const turns = Number(process.argv[3] ?? 3);
const nodes = Number(process.argv[4] ?? 1);
const cpus = nodes === 1 ? 256 : 2;
/** Figures of few slots have names of their own. */
const prefix = nodes === 1 ? '' : 'slots_';

const KINDS = [
  { name: `${prefix}silent`, argv: ['/bin/true'] },
  { name: `${prefix}line`, argv: ['/bin/echo', 'hello'] },
  { name: `${prefix}kib`, argv: ['/bin/echo', 'x'.repeat(1023)] },
] as const;

const cluster = await startCluster({ nodes, cpus });
try {
  for (let turn = 0; turn < turns; turn += 1) {
    for (const { name, argv } of KINDS) {
      const xargs = rateOfXargs(argv);
      const weft = await rateOfArray(name, argv);
      figure(`${name}_tasks_per_s`, 'tasks/s', [xargs], { peer: 'xargs -P2', turn });
      figure(`${name}_of_xargs`, 'ratio', [weft / xargs], { turn });
      const queue = nodes === 1 ? await rateOfHyperQueue(argv, { tasks, cpus }) : null;
      if (queue === null) continue;
      figure(`${name}_tasks_per_s`, 'tasks/s', [queue], { peer: 'HyperQueue', turn });
      figure(`${name}_of_hyperqueue`, 'ratio', [weft / queue], { turn });
    }
  }
} finally {
  cluster.stop();
}

function rateOfXargs(argv: readonly string[]): number {
  const from = performance.now();
  const script = `seq ${tasks} | xargs -P2 -I{} ${argv.join(' ')}`;
  const { status } = spawnSync('sh', ['-c', script], { stdio: 'ignore' });
  if (status !== 0) throw new Error(`xargs: exit code ${status}`);
  return (tasks * 1000) / (performance.now() - from);
}

async function rateOfArray(name: string, argv: readonly string[]): Promise<number> {
  const logs = join(cluster.directory, 'head', 'logs');
  const [head, node, disk] = [cluster.headCpuSeconds(), cluster.agentCpuSeconds(), diskBytes(logs)];
  const from = performance.now();
  const { jobId } = await cluster.call<{ jobId: number }>('POST', '/v1/jobs', {
    program: { kind: 'argv', argv },
    directory: { kind: 'shared', path: '/' },
    memoryBytes: 16 * 1_048_576,
    array: { indices: `0-${tasks - 1}` },
  });
  await cluster.call('GET', `/v1/jobs/${jobId}/wait?timeoutMs=600000`);
  const rate = (tasks * 1000) / (performance.now() - from);
  const usOf = (seconds: number): number => (seconds * 1e6) / tasks;
  figure(`${name}_tasks_per_s`, 'tasks/s', [rate], { tasks });
  figure(`${name}_head_cpu`, 'us/task', [usOf(cluster.headCpuSeconds() - head)]);
  figure(`${name}_agent_cpu`, 'us/task', [usOf(cluster.agentCpuSeconds() - node)]);
  figure(`${name}_disk`, 'bytes/task', [(diskBytes(logs) - disk) / tasks]);
  return rate;
}

/** Blocks of files and folders: what a disk has less of. */
function diskBytes(folder: string): number {
  let bytes = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    bytes += statSync(join(folder, name)).blocks * 512;
  }
  return bytes;
}
