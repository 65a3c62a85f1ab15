// `npm run bench [NAME…]`: the named experiments, or all but the long ones, one after the other.
// Each prints one JSON line per figure; bench/RESULTS.md keeps the last recorded ones.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

interface Experiment {
  readonly args: readonly string[];
  readonly about: string;
}

const EXPERIMENTS: Readonly<Record<string, Experiment>> = {
  launcher: {
    args: ['launcher-rate.ts'],
    about: 'starts per second of the launcher alone, beside posix_spawn in C',
  },
  throughput: {
    args: ['throughput.ts', '10000', '1'],
    about: 'durable jobs per second, one agent: single submissions and one array',
  },
  throughput4: { args: ['throughput.ts', '10000', '4'], about: 'the same with four agents' },
  slots: {
    args: ['array-rate.ts', '8000', '3', '4'],
    about: 'the same arrays on four nodes of two cpus: places that pass from task to task',
  },
  array: {
    args: ['array-rate.ts', '10000', '3'],
    about:
      'an array of silent tasks and one of tasks that print, in turns with xargs: rate and CPU',
  },
  latency: { args: ['latency.ts'], about: 'an idle cluster: submit to start, commands' },
  recovery: {
    args: ['recovery.ts', '1000', '100000', '100000'],
    about:
      'kill -9 of the head: jobs lost and run twice; time, CPU and memory with 100,000 pending, ' +
      'and with 100,000 ended tasks whose output is kept',
  },
  start: {
    args: ['start.ts', '5'],
    about: '`weft up` in an empty directory to the first job done',
  },
  power: {
    args: ['power-off.ts', '5'],
    about: 'a host loses its power: how long until its job runs elsewhere, by default time-outs',
  },
  chaos: {
    args: ['chaos.ts', '120', '1'],
    about: 'kills, stops, cuts and power losses on five hosts: jobs lost, run twice, out of place',
  },
  flatness: {
    args: ['flatness.ts', '1000000', '1000', '10000', '100000'],
    about: 'jobs per second, memory and restart with long queues and a million finished jobs',
  },
  replay: {
    args: ['replay.ts'],
    about: 'every policy on traces; others than the excerpts: node bench/replay.ts FILE:PROCESSORS',
  },
  samples: {
    args: ['samples.ts', '50'],
    about: 'what samples cost: a look, its message, a sample at the head, a day on the disk',
  },
  'gpu-samples': {
    args: ['gpu-samples.ts', '100'],
    about: 'samples of 100 nodes with 8 gpus: agent, head, a year on the disk, curves and the map',
  },
  plan: {
    args: ['plan-cycle.ts'],
    about: 'a scheduling cycle at 10,000 nodes with 100,000 waiting tasks of 100 shapes',
  },
  mix: {
    args: ['slurm-mix.ts', '300', '1'],
    about:
      'the same 300 jobs through Slurm and Weft side by side: makespan, waits, order of starts',
  },
  'three-sites': {
    args: ['three-sites.ts', '300', '1'],
    about: 'the 300 jobs of test/e2e/three-sites.test.ts on its three systems apart',
  },
  idle: {
    args: ['idle.ts', '100', '1000'],
    about: 'idle nodes: start and memory of a local cluster, head CPU per heartbeat',
  },
  worker: {
    args: ['call-worker.ts'],
    about: 'the two processes of a worker alone: calls of a function that does nothing',
  },
  files: {
    args: ['files.ts', '3'],
    about: 'a large file and many small ones in and out, beside rsync, curl and tar; memory',
  },
  line: {
    args: ['slow-line.ts', '3'],
    about: 'text, numbers and random bytes over lines of 100 and 1,000 Mbit/s, beside rsync; root',
  },
  batch: {
    args: ['batch.ts', '1000'],
    about: 'a batch of 1,000 jobs with files: submit, to archived, pull, beside rsync',
  },
  calls: {
    args: ['call-router.ts', '1000000', '2'],
    about: 'what a call of a function costs the router of a pool, codec included',
  },
  functions: {
    args: ['functions.ts', '20000'],
    about:
      'functions on workers of a pool: calls a second, round trips, large values, a killed worker',
  },
  python: {
    args: ['python.ts', '10000'],
    about:
      'an Executor of the Python package beside ProcessPoolExecutor: calls, round trips, arrays',
  },
  flood: {
    args: ['flood.ts', '1000000'],
    about: 'a million calls of a function: CPU, memory, and what other requests notice of it',
  },
  ui: {
    args: ['ui.ts', '10000', '50'],
    about: 'the web page with 10,000 jobs: size, first rows, events, scrolling, cost of 50 pages',
  },
  'page-array': {
    args: ['page-array.ts', '100000', '15'],
    about: 'an array of 100,000 tasks open on the page: bytes and CPU of the head in 15 s',
  },
  top: {
    args: ['top.ts', '10000', '60'],
    about: '`weft top` with 10,000 jobs: what share of a cpu it takes, and what it costs the head',
  },
  table2: {
    args: ['table2.ts', '30'],
    about: 'getNodes, getJobs, startJob at 16 nodes and 100 jobs: commands alone, and by adaptors',
  },
  foreign: {
    args: ['foreign-poll.ts', '10000', '1000'],
    about: 'CPU of one look at a site with 10,000 jobs and 1,000 nodes',
  },
  'foreign-submit': {
    args: ['foreign-submit.ts', '10000', '1000', '60'],
    about: 'submissions beside a site with 10,000 jobs that all change every second',
  },
  gateways: {
    args: ['gateways.ts', '40'],
    about: 'one of three gateways is stopped, killed, or hears nonsense: starts at the others',
  },
  head: { args: ['head-cost.ts', '20000'], about: "what a job costs the head's own code" },
};

const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !(name in EXPERIMENTS));
if (unknown !== undefined) {
  console.error(`bench: no experiment '${unknown}'; there are:`);
  for (const [name, { about }] of Object.entries(EXPERIMENTS)) console.error(`  ${name}: ${about}`);
  process.exit(2);
}
// Benchmarks run the built programs, as a package has them, and not the sources.
const root = join(import.meta.dirname, '..');
const built = spawnSync(process.execPath, [join(root, 'tools', 'build.ts'), '--compiled'], {
  stdio: 'inherit',
});
if (built.status !== 0) process.exit(1);
const env = { ...process.env, NODE_TESTS_BUILT_WEFT: root };
let failed = 0;
for (const [name, { args, about }] of Object.entries(EXPERIMENTS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`# ${name}: ${about}`);
  const [script, ...rest] = args as [string, ...string[]];
  const run = spawnSync(process.execPath, [join(import.meta.dirname, script), ...rest], {
    stdio: 'inherit',
    env,
  });
  if (run.status !== 0) failed += 1;
}
process.exit(failed === 0 ? 0 : 1);
