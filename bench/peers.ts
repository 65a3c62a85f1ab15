// What else starts many processes on this machine, measured in the same minutes: as many
// `/bin/true` as asked, each by a peer that is installed, two at a time. None of them keeps
// anything on disk.

import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { figure } from './cluster.ts';

interface Peer {
  readonly name: string;
  /** `$N` times /bin/true, all ended when it exits. */
  readonly script: string;
  /** The program that must be on PATH. */
  readonly program: string;
  /**
   * Part of the asked count that this peer gets: slow ones get fewer, to take seconds like the
   * others.
   */
  readonly share: number;
}

const POOL = `
import subprocess, sys
from concurrent.futures import ProcessPoolExecutor
with ProcessPoolExecutor(2) as pool:
    count = int(sys.argv[1])
    assert sum(pool.map(subprocess.call, [['/bin/true']] * count, chunksize=1)) == 0
`;

/** Started one by one through its server, as separate submissions are. */
const SPOOL = `
tsp -S 2
for at in $(seq "$N"); do tsp -n /bin/true; done
until ! tsp | grep -qE 'running|queued|allocating'; do tsp -w; done
tsp -K
`;

const PEERS: readonly Peer[] = [
  { name: 'xargs -P2', script: 'seq "$N" | xargs -P2 -n1 /bin/true', program: 'xargs', share: 1 },
  {
    name: 'ProcessPoolExecutor(2)',
    script: `python3 -c "$POOL" "$N"`,
    program: 'python3',
    share: 0.5,
  },
  {
    name: 'parallel -j2',
    script: 'seq "$N" | parallel -j2 /bin/true',
    program: 'parallel',
    share: 0.1,
  },
  { name: 'tsp -S2', script: SPOOL, program: 'tsp', share: 0.1 },
];

/** One figure for each peer that is there, of `count` processes or a fixed share of it. */
export function measurePeers(count: number): void {
  for (const { name, script, program, share } of PEERS) {
    const n = Math.ceil(count * share);
    if (spawnSync('which', [program]).status === 0) measure(name, script, n);
    else console.error(`# ${name}: no ${program} here`);
  }
}

function measure(peer: string, script: string, n: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'weft-peer-'));
  const more = { N: String(n), POOL, HOME: folder, TMPDIR: folder, TS_MAXFINISHED: String(n) };
  const env = { ...process.env, ...more, TS_SOCKET: join(folder, 'socket') };
  try {
    const from = performance.now();
    const { status, stderr } = spawnSync('sh', ['-c', script], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const seconds = (performance.now() - from) / 1000;
    if (status !== 0) throw new Error(`${peer}: exit code ${status}\n${stderr}`);
    figure(`true_${n}_jobs_per_s`, 'jobs/s', [n / seconds], { peer, durable: false });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const HYPERQUEUE = `
import json, sys, time
from hyperqueue import Job, LocalCluster
from hyperqueue.cluster import WorkerConfig
argv, tasks, cpus = json.loads(sys.argv[1])
with LocalCluster() as cluster:
    cluster.start_worker(WorkerConfig(cores=cpus))
    client = cluster.client()
    job = Job()
    for _ in range(tasks):
        job.program(argv, stdout=None, stderr=None)
    begun = time.monotonic()
    client.wait_for_jobs([client.submit(job)])
    print("rate", tasks / (time.monotonic() - begun))
`;

/**
 * Tasks a second of HyperQueue's Python package, whose server and worker keep nothing; null where
 * `WEFT_BENCH_PYTHON`, or else `python3`, has none.
 */
export async function rateOfHyperQueue(
  argv: readonly string[],
  { tasks, cpus }: { readonly tasks: number; readonly cpus: number },
): Promise<number | null> {
  const python = process.env['WEFT_BENCH_PYTHON'] ?? 'python3';
  if (spawnSync(python, ['-c', 'import hyperqueue']).status !== 0) return null;
  const folder = mkdtempSync(join(tmpdir(), 'weft-peer-'));
  try {
    const args = ['-c', HYPERQUEUE, JSON.stringify([argv, tasks, cpus])];
    const env = { ...process.env, TMPDIR: folder };
    const { stdout } = await promisify(execFile)(python, args, { cwd: folder, env });
    const rate = /^rate (.*)$/m.exec(stdout)?.[1];
    if (rate === undefined) throw new Error(`HyperQueue said no rate: ${stdout}`);
    return Number(rate);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
