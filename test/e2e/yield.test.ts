// A cluster on a machine that somebody uses: real keys on a real X server and on a real terminal
// stop what runs, and when it is quiet the work goes on. By the programs alone.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { NodeView } from '../../src/kernel/api/nodes.ts';
import { openTerminal } from '../support/terminal.ts';
import { NO_X, type RealX, startX } from '../support/x-server.ts';
import { until } from './support/hosts.ts';
import { LocalCluster, repository } from './support/local-cluster.ts';

/** Other tests of this machine may have terminals too: what is waited for is always of our own. */
const RULES = {
  WEFT_NODE_YIELD_IDLE_BELOW: '10s',
  WEFT_NODE_YIELD_RESUME_AFTER: '2s',
  WEFT_NODE_YIELD_VACATE_AFTER: 'none',
};

describe('a machine that its owner uses', () => {
  let cluster: LocalCluster;
  let job = '';
  let x: RealX | null = null;
  let helper: ChildProcess | null = null;

  before(async () => {
    cluster = new LocalCluster(RULES);
    await cluster.up('--nodes', '1', '--listen', 'none');
    job = await cluster.ok('run', '--', 'while sleep 0.1; do echo beat >> beats; done');
    if (NO_X === false) x = await startX(cluster.directory);
  });
  after(async () => {
    if (helper?.exitCode === null) await ended(helper, () => helper?.kill('SIGTERM'));
    await x?.stop();
    await cluster.ok('kill', job);
    await cluster.close();
  });

  const node = (): Promise<NodeView> => cluster.client.call('GET', '/v1/nodes/n1');
  const line = async (by: string) => (await node()).presence?.find((one) => one.by === by);
  const isIn = (state: string) => async () => (await cluster.job(job)).state === state || undefined;

  it('[O7] a display that no helper reports from is said', { skip: NO_X }, async () => {
    const by = `display ${x?.display}`;
    const found = await until('it is listed', () => line(by));
    assert.equal(found.state, 'blind');
    assert.match(await cluster.ok('doctor'), new RegExp(`note +owner +node n1: ${by}: cannot`));
  });

  it('[O6] a key on a real X server stops what runs; when it is quiet it goes on', {
    skip: NO_X,
  }, async () => {
    const script = join(repository, 'bin', 'weft.mjs');
    const env = { ...cluster.env, ...x?.environment };
    helper = spawn(process.execPath, [script, 'node', 'watch-session'], { env, stdio: 'ignore' });
    const by = `display ${x?.display}`;
    await until('the helper reports', async () => (await line(by))?.state === 'quiet' || undefined);
    await until('the machine is quiet', isIn('running'));
    x?.press();
    await until('the key is seen', async () => (await line(by))?.state === 'in_use' || undefined);
    await until('it stands still', isIn('suspended'));
    assert.match((await line(by))?.what ?? '', /^keyboard or mouse on :\d+ \(\S+\)$/);
    // Pressed each time: on a busy machine a program takes as long as the quiet that is waited for.
    const says = (words: RegExp, ...args: string[]) =>
      until(`${args.join(' ')} says ${words}`, async () => {
        x?.press();
        return words.test(await cluster.ok(...args)) || undefined;
      });
    await says(/n1 +paused .*owner (was )?active \(/, 'node', 'list');
    await says(/owner active \(/, 'why', job);
    await until('it goes on', isIn('running'));
    const { length } = cluster.lines('beats');
    await until('it works', () => cluster.lines('beats').length > length || undefined);
  });

  it('[O6] a key on a real terminal does the same', async () => {
    await until('the machine is quiet', isIn('running'));
    const terminal = await openTerminal();
    try {
      // Whoever opens a terminal is there, too.
      await until('it stands still', isIn('suspended'));
      await until('the machine is quiet', isIn('running'));
      // More than one: by the time of a slow look the first is too long ago.
      await until('the key is seen', async () => {
        terminal.type('x\n');
        const seen = await line('terminals');
        return (
          (seen?.state === 'in_use' && seen.what === `keyboard on ${terminal.name}`) || undefined
        );
      });
      await until('it stands still', isIn('suspended'));
    } finally {
      await terminal.close();
    }
    await until('it goes on', isIn('running'));
  });

  it('[O7] when the session is over the helper ends, and its display is blind or gone', {
    skip: NO_X,
  }, async () => {
    assert.ok(helper !== null);
    await ended(helper, () => x?.stop());
    assert.equal(helper.exitCode, 0);
  });
});

function ended(child: ChildProcess, then: () => unknown): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    then();
  });
}
