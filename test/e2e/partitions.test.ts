// Partitions on a real cluster: nodes of their own, limits, overrides, and a configuration that is
// read again while jobs wait and run.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from './support/hosts.ts';
import { LocalCluster } from './support/local-cluster.ts';

const SITE = `
up: {nodes: 2, cpus: 1}
partitions:
  small: {nodes: n1, policy: fifo, limits: {time: 1h, default_time: 10m}}
  big: {nodes: n2}
  guests: {groups: [no-such-group]}
qos:
  few: {waiting_jobs: 1}
`;

async function startSite(): Promise<{ cluster: LocalCluster; write(text: string): void }> {
  const cluster = new LocalCluster();
  mkdirSync(cluster.state, { recursive: true });
  const write = (text: string): void => writeFileSync(join(cluster.state, 'weft.yaml'), text);
  write(SITE);
  await cluster.up();
  return { cluster, write };
}

async function withSite(
  use: (site: Awaited<ReturnType<typeof startSite>>) => Promise<void>,
): Promise<void> {
  const site = await startSite();
  try {
    await use(site);
  } finally {
    await site.cluster.close();
  }
}

test('[P1, P2, P4] jobs go to the nodes of their partition, within its limits', () =>
  withSite(async ({ cluster }) => {
    const where = ['sh', '-c', 'echo $WEFT_NODELIST'];
    const inSmall = await cluster.ok('run', '-f', '--partition', 'small', '--', ...where);
    const inBig = await cluster.ok('run', '-f', '--partition', 'big', '--', ...where);
    assert.deepEqual([inSmall, inBig], ['n1', 'n2']);
    const refusals = [
      ['--partition=smal', /No partition smal\.\n.*Did you mean 'small'\?/],
      ['--partition=guests', /guests is for groups no-such-group; \S+ is not one of them/],
      ['--qos=fwe', /No QoS fwe/],
    ] as const;
    for (const [option, words] of refusals) {
      assert.match((await cluster.refused('weft', 'run', option, 'true')).error, words);
    }
    const long = await cluster.refused('weft', 'run', '--partition=small', '-t', '2h', 'true');
    assert.match(long.error, /Partition small allows 1h; the job asks for 2h/);
    const script = join(cluster.work, 'job.sh');
    writeFileSync(script, '#!/bin/sh\n#WEFT --partition small --qos few\n#WEFT --hold\ntrue\n');
    const id = await cluster.ok('submit', script);
    assert.match(await cluster.ok('job', id), /Partition: +small\nQoS: +few\n/);
    assert.match(
      (await cluster.refused('weft', 'submit', script)).error,
      /already has 1 job waiting under QoS few; the limit per user is 1/,
    );
    await cluster.ok('partition', 'set', 'big', 'state=down', 'tier=2');
    const shown = await cluster.ok('partition', 'show', 'big');
    assert.match(
      shown,
      /the config says state up, set to down; the config says tier 0, set to 2 by/,
    );
    const waiting = await cluster.ok('run', '--partition', 'big', 'true');
    assert.match(await cluster.ok('why', waiting), /partition big is down/);
    await cluster.ok('notice', 'set', 'big', 'is', 'down');
    const info = await cluster.ok('info');
    assert.match(info, /\nbig +down\* +1\/1 +0 +1 /);
    assert.match(info, /^Notice from .+: big is down$/m);
    await cluster.ok('notice', 'clear');
    await cluster.ok('partition', 'reset', 'big');
    await cluster.ok('wait', waiting);
  }));

test('[P7, P8] a configuration read again acts at once, and a wrong one not at all', () =>
  withSite(async ({ cluster, write }) => {
    // Little memory: without it each of them asks for its share of the node, which is all of it.
    const small = ['--partition', 'small', '--memory', '64M'];
    const run = (...options: string[]) => cluster.ok('run', ...small, ...options);
    const running = await run('sleep', '600');
    await cluster.ok('wait', '--started', running);
    const wide = await run('--nodes-named', 'n1', '--cpus', '1', 'true');
    const narrow = await run('--cpus', '0', 'true');
    const stateOf = async (id: string) => (await cluster.job(id)).state;
    assert.deepEqual([await stateOf(wide), await stateOf(narrow)], ['pending', 'pending']);

    // The command line reads the file too: it is the head's own words that count here.
    write('partitions: {small: {plicy: fifo}}\n');
    const call = () => cluster.client.call<unknown>('POST', '/v1/config/reload', {});
    await assert.rejects(call(), /config\.not_taken.*unknown key 'plicy'/s);
    assert.equal(await stateOf(narrow), 'pending');

    const unmet = 'gpu_idle: {smal: {for: 1h}}\nfair_share: {gpu_weights: {h10: 2}}\n';
    write(SITE.replace('policy: fifo', 'policy: first_fit') + unmet);
    const said = await cluster.weft('config', 'reload');
    assert.match(said.out, /partitions\.small\.policy: fifo -> first_fit/);
    // [V31]
    assert.match(said.error, /gpu_weights names h10, which no node has.*gpu_idle names .* smal,/s);
    assert.match(await cluster.ok('doctor'), /gpu_idle names the partition smal/);
    await cluster.ok('wait', narrow);
    assert.deepEqual([await stateOf(wide), await stateOf(running)], ['pending', 'running']);

    write('up: {nodes: 2, cpus: 1}\n');
    process.kill(cluster.pidOf('head'), 'SIGHUP');
    await until('the head has read its file again', async () => {
      return (
        (await cluster.ok('why', wide)).includes('partition small is no longer in the config') ||
        undefined
      );
    });
    assert.equal(await stateOf(running), 'running', 'what runs goes on');
    write(SITE);
    await cluster.ok('config', 'reload');
    await cluster.ok('kill', running);
    await cluster.ok('wait', wide);
  }));
