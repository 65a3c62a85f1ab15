// A host loses its power: how long until its job runs on another one, with the time-outs that a
// cluster has by default. Hosts made of namespaces; what ran where is told by the processes
// themselves. Root. Usage: power-off.ts [TIMES].

import { readFileSync } from 'node:fs';
import { LocalPaths } from '../src/kernel/cli/daemons/local-paths.ts';
import { loadConfig } from '../src/kernel/config/config.ts';
import { headOptions } from '../src/kernel/config/head-options.ts';
import { optionsOf } from '../src/kernel/config/part.ts';
import { WINGS } from '../src/wings.ts';
import { HostedCluster, type Timing } from '../test/e2e/support/hosted-cluster.ts';
import { figure } from './cluster.ts';

const times = Number(process.argv[2] ?? 5);
/** Far longer than the head needs to notice. */
const WORK_BEATS = 600;
const ELSEWHERE_MS_MAX = 120_000;

const timing = await defaults();
const cluster = await HostedCluster.start(3, timing);
try {
  const seconds: number[] = [];
  for (let at = 0; at < times; at += 1) seconds.push(await powerOff());
  const { nodeTimeoutMs } = timing.settings;
  const { heartbeatMs, tickMs } = timing;
  figure('power_off_to_running_elsewhere', 's', seconds, { nodeTimeoutMs, heartbeatMs, tickMs });
} finally {
  await cluster.close();
}

/** Seconds from the end of the host to the first sign of life of the next epoch. */
async function powerOff(): Promise<number> {
  const job = await cluster.submit(WORK_BEATS, { onNodeLoss: { kind: 'requeue' } });
  const owner = cluster.member((await cluster.started(job)).host);
  const from = uptimeSeconds();
  await owner.host.powerOff();
  const again = await cluster.started(job, 2, ELSEWHERE_MS_MAX);
  if (again.host === owner.name) throw new Error(`job ${job} runs on a host without power`);
  await cluster.call('POST', `/v1/jobs/${job}/cancel`, {});
  await cluster.done(job);
  await owner.host.powerOn();
  await cluster.startAgent(owner);
  await cluster.nodesUp();
  return again.from - from;
}

/** From the configuration's own defaults: no file, no environment. */
async function defaults(): Promise<Timing> {
  const sources = { environment: {}, file: '/dev/null', directory: '/', wings: WINGS };
  const config = await loadConfig(sources);
  const paths = new LocalPaths('/');
  const place = { paths, socketPath: '', listen: null, multiUser: false, logFile: null };
  const { settings, heartbeatMs, tickMs } = headOptions(config, place, await optionsOf(WINGS));
  return { settings, heartbeatMs, tickMs };
}

function uptimeSeconds(): number {
  return Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
}
