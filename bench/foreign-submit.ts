// What submissions notice of a large site: one every 50 ms to a node of our own, without a site,
// beside one with 10,000 jobs of its own users, and beside one that is steered, where they are all
// in our queue. Every second a hundred are gone, as many are new, and of the others a few or all
// have changed.
//
//   node bench/foreign-submit.ts JOBS NODES SECONDS

import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../test/e2e/support/hosts.ts';
import { SiteWorld } from '../test/e2e/support/site-world.ts';
import { connectLocally, type LocalClient } from '../test/support/local-client.ts';
import { cpuSeconds, figure } from './cluster.ts';

const [JOBS = 10_000, NODES = 1000, SECONDS = 60] = process.argv.slice(2).map(Number);
/** A steered site's nodes are nodes here, each with a session of its own. */
const STEERED_NODES = 16;
const EVERY_MS = 50;
/** Jobs a second that are there no more, and as many new ones. */
const GONE = 100;
/** Jobs in a hundred that wait for another reason than a second ago. */
const CHANGED = [5, 100];

/**
 * Nodes are full, with jobs that do not end; the others wait, each with a reason of this second.
 */
const PROGRAM = `#!/bin/sh
t=$(($(date +%s) - $1))
case $3 in
jobs) exec awk -v t=$t -v begun="$1" -v nodes="$2" 'BEGIN {
  printf "{\\"contract\\":1,\\"jobs\\":["
  for (i = 1; i <= nodes; i++)
    printf "{\\"id\\":\\"r%d\\",\\"name\\":\\"runs\\",\\"owner\\":\\"nobody\\",\\"state\\":\\"running\\",\\"startedAt\\":%d000,\\"cpuCount\\":2,\\"nodes\\":[\\"n%d\\"]},", i, begun, i
  for (i = t * ${GONE} + 1; i <= t * ${GONE} + ${JOBS}; i++)
    printf "%s{\\"id\\":\\"%d\\",\\"name\\":\\"job %d\\",\\"owner\\":\\"nobody\\",\\"state\\":\\"waiting\\",\\"reason\\":\\"second %d\\",\\"queue\\":\\"all\\",\\"submittedAt\\":%d000,\\"cpuCount\\":1}", (i > t * ${GONE} + 1 ? "," : ""), i, i, (i % 100 < CHANGED ? t : 0), begun
  printf "]}\\n"
}' ;;
nodes) exec awk -v nodes="$2" 'BEGIN {
  printf "{\\"contract\\":1,\\"nodes\\":["
  for (i = 1; i <= nodes; i++)
    printf "%s{\\"name\\":\\"n%d\\",\\"state\\":\\"busy\\",\\"cpuCount\\":2,\\"cpusUsed\\":2,\\"memoryBytes\\":1000000000,\\"queues\\":[\\"all\\"]}", (i > 1 ? "," : ""), i
  printf "]}\\n"
}' ;;
queues) echo '{"contract":1,"queues":[{"name":"all","isStarted":false}]}' ;;
capabilities) echo '{"contract":1,"operations":["jobs","nodes","queues","submit","named","cancel","end","known","start","take-back"]}' ;;
known) echo '{"contract":1,"known":false}' ;;
end) echo '{"contract":1,"end":null}' ;;
*) echo '{"contract":1,"problem":{"kind":"refused","text":"this site is full"}}' ;;
esac
`;

await beside(null, 0);
for (const mode of ['submit', 'steer'] as const) {
  for (const changed of CHANGED) await beside(mode, changed);
}

async function beside(mode: 'submit' | 'steer' | null, changed: number): Promise<void> {
  const world = new SiteWorld(() => undefined);
  try {
    await world.startHead();
    await world.addNode('own', 4);
    await world.nodesUp(1, /^own$/);
    const client = await connectLocally(world.at('head', 'weft.sock'));
    try {
      if (mode !== null) await addSite(world, mode, changed);
      await measure(world, client, { mode, changed });
    } finally {
      client.close();
    }
  } finally {
    await world.close(() => undefined);
  }
}

async function addSite(world: SiteWorld, mode: 'submit' | 'steer', changed: number): Promise<void> {
  const program = world.at('program');
  writeFileSync(program, PROGRAM.replace('CHANGED', String(changed)), { mode: 0o755 });
  const nodes = mode === 'steer' ? STEERED_NODES : NODES;
  const words = `${program},${Math.floor(Date.now() / 1000)},${nodes}`;
  await world.addGateway('hpc', { system: 'script', mode, poll: '1s', program: words }, {});
  await until('the head knows of all jobs', async () => {
    const [site] = await world.json<{ jobsWaiting: number }[]>('site', 'list');
    return (site?.jobsWaiting ?? 0) >= JOBS || undefined;
  });
  if (mode === 'steer') await world.nodesUp(STEERED_NODES, /^n\d/);
}

async function measure(world: SiteWorld, { call }: LocalClient, beside: object): Promise<void> {
  const head = world.pid('head');
  const submission = {
    program: { kind: 'argv', argv: ['/bin/true'] },
    nodeNames: ['own'],
    memoryBytes: 16 * 1_048_576,
  };
  // The first ones of a head are slower than all that follow.
  for (let at = 0; at < 100; at += 1) await call('POST', '/v1/jobs', submission);
  const [took, begun, used]: [number[], number, number] = [[], performance.now(), cpuSeconds(head)];
  while (performance.now() - begun < SECONDS * 1000) {
    const sent = performance.now();
    await call('POST', '/v1/jobs', submission);
    took.push(performance.now() - sent);
    await sleep(Math.max(0, EVERY_MS - (performance.now() - sent)));
  }
  const cpu = (cpuSeconds(head) - used) / ((performance.now() - begun) / 1000);
  const more = {
    ...beside,
    jobs: JOBS,
    asked: 50,
    headCpu: Number(cpu.toFixed(3)),
    load: loadavg().map((one) => Number(one.toFixed(1))),
  };
  figure('submit_beside_a_large_site', 'ms', took, more);
}
