// On an idle cluster: submit → process running (the job stamps CLOCK_MONOTONIC into a file),
// submit → the client knows, whole-process `weft run --wait true`, and the listing commands.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { figure, startCluster } from './cluster.ts';

const repetitions = Number(process.argv[2] ?? 30);
const scratch = mkdtempSync(join(tmpdir(), 'weft-latency-'));
const stamp = join(scratch, 'stamp');

/** Prints CLOCK_MONOTONIC in ns, the clock of process.hrtime (clock_gettime(2)). */
const STAMP_C = `#include <stdio.h>
#include <time.h>
int main(int n, char **v) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  FILE *f = fopen(v[1], "w");
  fprintf(f, "%lld\\n", t.tv_sec * 1000000000LL + t.tv_nsec);
  return n - 2 + fclose(f);
}
`;
writeFileSync(`${stamp}.c`, STAMP_C);
execFileSync('cc', ['-O2', '-o', stamp, `${stamp}.c`]);

const cluster = await startCluster({ nodes: 1, cpus: 4 });
try {
  await submitToStart();
  processes('run_wait_true', ['run', '--wait', '--', '/bin/true']);
  for (const verb of ['info', 'jobs', 'node list', 'history']) {
    processes(`cli_${verb.replace(' ', '_')}`, verb.split(' '));
  }
} finally {
  cluster.stop();
  rmSync(scratch, { recursive: true });
}

async function submitToStart(): Promise<void> {
  const starts: number[] = [];
  const knows: number[] = [];
  for (let at = 0; at < repetitions; at += 1) {
    const file = join(scratch, `started-${at}`);
    const program = { kind: 'argv', argv: [stamp, file] };
    const from = process.hrtime.bigint();
    const directory = { kind: 'shared', path: '/' };
    const { jobId } = await cluster.call<{ jobId: number }>('POST', '/v1/jobs', {
      program,
      directory,
    });
    await cluster.call('GET', `/v1/jobs/${jobId}/wait?timeoutMs=10000`);
    knows.push(Number(process.hrtime.bigint() - from) / 1e6);
    starts.push(Number(BigInt(readFileSync(file, 'utf8').trim()) - from) / 1e6);
  }
  figure('submit_to_start', 'ms', starts, { durable: true, idle: true });
  figure('submit_to_client_knows', 'ms', knows, { durable: true, idle: true });
}

function processes(name: string, args: string[]): void {
  const times: number[] = [];
  for (let at = 0; at < repetitions; at += 1) {
    const from = performance.now();
    cluster.cli(...args);
    times.push(performance.now() - from);
  }
  figure(name, 'ms', times);
}
