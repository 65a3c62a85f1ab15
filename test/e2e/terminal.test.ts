// Views that fill a terminal, on a real one: a pseudo terminal of 80 x 24, keys typed one by one.

import assert from 'node:assert/strict';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { TypedTerminal } from '../support/typed-terminal.ts';
import { until } from './support/hosts.ts';
import { LocalCluster, repository } from './support/local-cluster.ts';

const LEFT = '\u001b[?1049l';

describe('views that fill the terminal', () => {
  let cluster: LocalCluster;
  before(async () => {
    cluster = await LocalCluster.start('--nodes', '2', '--listen', 'none');
  });
  const opened: TypedTerminal[] = [];
  after(async () => {
    for (const terminal of opened) terminal.kill();
    await cluster.close();
  });

  const open = (line: string, more: NodeJS.ProcessEnv = {}) => {
    const weft = `${process.execPath} ${join(repository, 'bin', 'weft.mjs')}`;
    const setting = { cwd: cluster.work, env: { ...cluster.env, ...more } };
    const size = { columns: 80, rows: 24 };
    const terminal = new TypedTerminal(`exec ${weft} ${line}`, { ...setting, size });
    opened.push(terminal);
    return terminal;
  };

  it('top shows jobs and nodes, and its keys act on them', async () => {
    const id = await cluster.ok('run', '--name', 'long', '--', 'echo said; exec sleep 600');
    await until('it runs', async () => {
      return (await cluster.job(id)).state === 'running' ? true : undefined;
    });
    const top = open('top -n 0.2s');
    await top.shows(new RegExp(`^> +${id} +long`, 'm'));
    top.type('l');
    await top.shows(/^said$/m);
    top.type('\u001b');
    await top.shows(/^\[jobs\]/m);
    top.type('c');
    await top.shows(new RegExp(`cancel job ${id}\\? y: yes`));
    top.type('y');
    await top.shows(new RegExp(`Job ${id}: 1 task cancelled \\(weft cancel ${id}\\)`));
    await until('it is cancelled', async () => {
      return (await cluster.job(id)).outcome?.kind === 'cancelled' ? true : undefined;
    });
    top.type('\td');
    await top.shows(/Reason to drain n1: _/);
    top.type('new disk\r');
    await top.shows(/^> n1 +drain/m);
    assert.match(await cluster.ok('node', 'show', 'n1'), /new disk/);
    top.type('u');
    await top.shows(/Node n1 gets work again/);
    top.type('q');
    assert.equal(await top.ended(), 0);
    assert.ok(top.said.includes(LEFT), 'the terminal is as it was');
  });

  it('no colour where none is wanted, and a signal gives the terminal back', async () => {
    const top = open('top', { NO_COLOR: '1' });
    await top.shows(/^> |No jobs\./m);
    top.type('\u0003');
    assert.equal(await top.ended(), 0);
    assert.doesNotMatch(top.said, /\u001b\[\d+m/);
    assert.ok(top.said.includes(LEFT));
  });

  it('top outlives its head', async () => {
    const top = open('top -n 0.2s');
    await top.shows(/^Nodes: 2 up/m);
    await cluster.withoutRestarts(async () => {
      await cluster.kill('head');
      await top.shows(/^Not up to date: /m);
    });
    // `weft up` has the head started again.
    await top.shows(/^Nodes: 2 up/m);
    top.type('q');
    assert.equal(await top.ended(), 0);
    await cluster.connect();
  });

  it('a listing is watched until q', async () => {
    const list = open('node list --watch=0.2s');
    await list.shows(/^weft node list --watch=0\.2s.*q quits\n\nNODE.*\nn1 +idle/);
    await cluster.ok('node', 'drain', 'n2', '-r', 'rest');
    await list.shows(/^n2 +drained/m);
    list.type('q');
    assert.equal(await list.ended(), 0);
    await cluster.ok('node', 'undrain', 'n2');
  });

  it('waiting for an array shows how far it is, how fast, and what failed; -q shows nothing', async () => {
    const line =
      'until test -e go$WEFT_ARRAY_INDEX; do sleep 0.1; done; test $WEFT_ARRAY_INDEX != 1';
    const go = (index: number) => writeFileSync(join(cluster.work, `go${index}`), '');
    const id = await cluster.ok('run', '--array', '0-3', '--cpus', '1', line);
    const wait = open(`wait ${id}`);
    const quiet = open(`wait -q ${id}`);
    await wait.shows(
      new RegExp(`^job ${id}: 0 of 4 tasks done; \\d (running|starting|pending)`, 'm'),
    );
    for (const index of [0, 1]) go(index);
    await wait.shows(
      new RegExp(`^job ${id}: 1 of 4 tasks done, 1 failed, [\\d.]+/\\w+, \\S+ left; `, 'm'),
    );
    for (const index of [2, 3]) go(index);
    assert.equal(await wait.ended(), 1);
    assert.match(wait.picture, new RegExp(`^${id} failed`));
    assert.doesNotMatch(wait.picture, /tasks done/, 'the line is gone');
    assert.equal(await quiet.ended(), 1);
    assert.equal(quiet.said, '');
  });

  it('a batch shows its jobs while it is waited for', async () => {
    const gate = join(cluster.work, 'gate');
    const jobs = 'jobs:\n  - {name: a, run: job.sh}\n  - {name: b, run: job.sh}\n';
    writeFileSync(join(cluster.work, 'weft.batch.yaml'), `namespace: lab\nname: heat\n${jobs}`);
    const script = `#!/bin/sh\nuntil test -e ${gate}; do sleep 0.1; done\n`;
    writeFileSync(join(cluster.work, 'job.sh'), script, { mode: 0o755 });
    const batch = open('batch submit --wait');
    await batch.shows(/^lab\/heat: 0 of 2 jobs done; /m);
    writeFileSync(gate, '');
    assert.equal(await batch.ended(), 0);
    assert.match(batch.picture, /^lab\/heat ended as completed: 2 of 2 jobs completed$/m);
  });

  it('files that take long show how much, how fast, and how long', async () => {
    const large = join(cluster.work, 'large');
    writeFileSync(large, '');
    truncateSync(large, 1024 ** 3);
    const run = open('run --dry-run --private --in large true');
    await run.shows(/reading \S+ of \S+ \(\d+%\), \S+\/s, \S+ left/);
    assert.equal(await run.ended(), 0);
    assert.doesNotMatch(run.picture, /reading/);
  });
});
