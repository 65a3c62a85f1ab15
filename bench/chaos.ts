// Chaos with receipts: five hosts under kills, stops, cuts and power losses, with arrays, jobs on
// several nodes, reservations and preemption. What the processes wrote themselves is held against
// the head's books; any violation fails. Root, cc. Usage: chaos.ts [SECONDS [SEED]].

import { cpSync, lstatSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HostedCluster } from '../test/e2e/support/hosted-cluster.ts';
import type { Evidence, Verdict } from './chaos/evidence.ts';
import { judge } from './chaos/judge.ts';
import { ChaosRun } from './chaos/run.ts';
import { SITE } from './chaos/site/evidence.ts';
import { Site } from './chaos/site/site.ts';
import { HOSTS, TIMING } from './chaos/timing.ts';

const seconds = Number(process.argv[2] ?? 120);
const seed = Number(process.argv[3] ?? 1);

// What goes wrong in the bench itself ends it, with all that it has started.
process.on('unhandledRejection', endAll);
const cluster = await HostedCluster.start(HOSTS, TIMING, { head: '512m', lastNode: '512m' });
let site: Site | null = null;
try {
  site = await Site.start(cluster);
  if (site === null) console.log('# no site: Slurm is not here (apt-get install slurm-wlm munge)');
  const run = new ChaosRun(cluster, site, seed);
  if (site !== null) await run.siteUp();
  const began = performance.now();
  const evidence = await run.run(seconds * 1000).catch(endAll);
  run.close();
  const tookS = Math.round((performance.now() - began) / 1000);
  const verdict = judge(evidence);
  summarize(run, evidence, verdict, tookS);
  if (verdict.violations.length > 0) {
    keep(evidence, verdict);
    process.exitCode = 1;
  }
} finally {
  await site?.close();
  await cluster.close();
}

/** What is left is ended and removed as after a signal; what daemons said is kept. */
function endAll(error: unknown): Promise<never> {
  console.error(error);
  console.error(`logs: ${keepLogs()}`);
  process.kill(process.pid, 'SIGTERM');
  return new Promise(() => undefined);
}

function summarize(run: ChaosRun, evidence: Evidence, verdict: Verdict, tookS: number): void {
  const { accepted, lives, tasks, outages, setAside } = evidence;
  const works = accepted.map(({ work }) => work);
  const rows: [string, number][] = [
    ['seed', seed],
    ['seconds, with the time until all jobs had ended', tookS],
    ['jobs accepted', works.length],
    ['… sent twice with one key', works.filter((work) => work.twice).length],
    ['… arrays', works.filter((work) => work.arraySize !== null).length],
    ['… on several nodes', works.filter((work) => work.nodeCount > 1).length],
    ['… in a reservation', works.filter((work) => work.reservation !== null).length],
    ['starts of tasks', tasks.length],
    ['processes that left receipts', lives.length],
    ['reservations', setAside.length],
    ['reservations refused', run.refusedReservations],
    ['preempted: suspended', run.stops.preempted.suspend],
    ['preempted: requeued', run.stops.preempted.requeue],
    ['suspensions seen from begin to end', evidence.stops.length],
    ['jobs of the site that its users gave to it', evidence.site?.given.length ?? 0],
    ['… arrays', evidence.site?.given.filter(({ work }) => work.arraySize !== null).length ?? 0],
    [
      '… that say where',
      evidence.site?.given.filter(({ work }) => work.words.length > 0).length ?? 0,
    ],
    ['… cancelled', evidence.site?.given.filter((one) => one.cancelledAt !== null).length ?? 0],
    ['jobs of ours at the site', works.filter((work) => work.at !== null).length],
    ['steps started', evidence.steps?.trials.length ?? 0],
    ['calls of a Python program', evidence.calls?.trials.length ?? 0],
    ['slow uploads begun', evidence.slow?.begun ?? 0],
    ['… seconds of the longest', Math.round((evidence.slow?.longestMs ?? 0) / 1000)],
    ['command lines that were read', evidence.spied?.lines ?? 0],
    ['breaks in the feed of events', run.stops.gaps],
    ['faults', outages.length],
    ...faultRows(evidence),
    ...Object.entries(verdict.counted).sort(([a], [b]) => a.localeCompare(b)),
    ['violations', verdict.violations.length],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, value] of rows) console.log(`${name.padEnd(width)}  ${value}`);
  for (const { rule, words } of verdict.violations) console.log(`${rule}: ${words}`);
}

function faultRows({ outages }: Evidence): [string, number][] {
  const byKind = new Map<string, number>();
  for (const { host, how, parts } of outages) {
    const whose = host === 'head' || host === SITE ? host : 'node';
    const kind = `… ${whose}: ${how === 'off' ? 'power off' : `${how} ${parts.join(' and ')}`}`;
    byKind.set(kind, (byKind.get(kind) ?? 0) + 1);
  }
  return [...byKind].sort(([a], [b]) => a.localeCompare(b));
}

function keepLogs(): string {
  const folder = mkdtempSync(join(tmpdir(), 'weft-chaos-logs-'));
  for (const name of readdirSync(cluster.directory).filter((one) => one.endsWith('.log'))) {
    cpSync(join(cluster.directory, name), join(folder, name));
  }
  return folder;
}

/** Sockets, devices and what has gone meanwhile cannot be copied. */
function isPlain(path: string): boolean {
  const status = lstatSync(path, { throwIfNoEntry: false });
  return status?.isFile() === true || status?.isDirectory() === true;
}

/** For whoever looks for the cause. */
function keep(evidence: Evidence, verdict: Verdict): void {
  const folder = mkdtempSync(join(tmpdir(), 'weft-chaos-'));
  writeFileSync(join(folder, 'evidence.json'), JSON.stringify({ ...evidence, verdict }));
  cpSync(cluster.directory, join(folder, 'cluster'), {
    recursive: true,
    filter: (path) => !path.endsWith('.reserve') && isPlain(path),
  });
  console.log(`evidence, logs and store: ${folder}`);
}
