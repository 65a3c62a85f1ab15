// The program `distribute` as a lab uses it: its page for those who come from the seed, and a head
// and a node that it starts itself.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from './support/hosts.ts';
import { Lab } from './support/lab.ts';
import { LocalCluster } from './support/local-cluster.ts';
import { typePage } from './support/typed-page.ts';

describe('the page for those who come from distribute', () => {
  const cluster = new LocalCluster();
  after(() => cluster.close());

  it('does what it shows', async () => {
    const page = join('docs', 'migration', 'distribute.md');
    const steps = await typePage(cluster, page, ['weft', 'distribute']);
    assert.ok(steps > 5, 'the examples were found');
  });
});

describe('a lab of distribute', () => {
  const lab = new Lab();
  before(() => lab.startServer());
  after(() => lab.close());

  it('says how the nodes of the file join, and what has no meaning any more', () => {
    const said = lab.server.said;
    assert.match(said, /--temp-dir: not needed/);
    assert.match(said, /--clean-output: results stay/);
    const join = 'distribute client BASE_FOLDER --name lab1 --label python3 --label lab1-3';
    assert.ok(said.includes(`lab1 has not joined. On 127.0.0.1: ${join}\n`), said);
    assert.match(said, /lab2 has not joined\. On 192\.0\.2\.12: .* --label apptainer\n/);
  });

  it('takes a node in, which keeps what is in its folder', async () => {
    mkdirSync(lab.base);
    writeFileSync(join(lab.base, 'mine'), 'precious');
    const token = (await lab.run('weft', 'token', 'join')).out.trim();
    lab.startClient(token, '--name', 'lab1', '-p', '8953');
    const rows = await lab.nodeStatus(/^lab1 +127\.0\.0\.1 +\d/m);
    assert.match(rows.out, /^lab2 +192\.0\.2\.12 +NOT JOINED$/m);
    assert.equal(rows.code, 1);
    assert.match(lab.client.said, /--transport-port: not needed/);
  });

  it('gives a node the capabilities of the file when the head starts again', async () => {
    await lab.server.stop();
    await lab.startServer();
    assert.match(lab.server.said, /node lab1 is labelled python3, lab1-3\n/);
    assert.doesNotMatch(lab.server.said, /lab1 has not joined/);
    await lab.nodeStatus(/^lab1 +127\.0\.0\.1 +\d/m);
  });

  it('pauses until it is interrupted, and leaves no pause behind', async () => {
    const pause = lab.spawn('pause', '--dir', lab.base, '--duration', '1h');
    await pause.says(/Ctrl-C ends it early/);
    await until('the head has heard of the pause', async () => {
      return /^lab1 +paused/m.test((await lab.run('weft', 'node', 'list')).out) || undefined;
    });
    pause.child.kill('SIGINT');
    assert.equal(await pause.ended, 0);
    assert.match(pause.said, /Node lab1 is paused until .*\n.*\nNode lab1 takes work again\.\n/);
    await until('the head has heard of it', async () => {
      return /^lab1 +idle/m.test((await lab.run('weft', 'node', 'list')).out) || undefined;
    });
  });

  it('runs a batch on the node, shows it, and ends its processes when it is killed', async () => {
    lab.writeBatch();
    const added = await lab.run('distribute', 'add', '--ip', '127.0.0.1', '-p', '8952');
    assert.equal(added.code, 0, added.error);
    assert.match(added.out, /^1 of 1 node could run it\.\nlab\/sleepers: 2 jobs submitted\.\n$/);
    const running = await until('a job runs on lab1', async () => {
      const { out } = await lab.run('distribute', 'server-status');
      return / lab1 +00h:00m:\d\ds\n/.test(out) ? out : undefined;
    });
    assert.match(running, /^lab\/sleepers: 2 of 2 jobs left\n {2}first .*\n {2}waiting: second\n$/);
    const pid = Number(await until('it has said its number', () => lab.sleeperPid()));
    const killed = await lab.run('distribute', 'kill', 'sleepers');
    assert.deepEqual([killed.code, killed.out], [0, '2 jobs of lab/sleepers are cancelled.\n']);
    await until('its process is gone', () => !existsSync(`/proc/${pid}`) || undefined);
    const again = await lab.run('distribute', 'kill', 'lab/sleepers');
    assert.equal(again.code, 5);
    const pulled = await lab.run('distribute', 'pull', '--save-dir', 'pulled', '-i', '_build/');
    assert.equal(pulled.code, 0, pulled.error);
    const log = join('lab', 'sleepers', '_build', 'lab1.log');
    for (const place of [lab.save, join(lab.folder, 'pulled')]) {
      assert.equal(readFileSync(join(place, log), 'utf8'), 'compiled\n', place);
    }
  });

  it('keeps what its folders had, and shows the node offline when it is', async () => {
    await lab.client.stop();
    await lab.nodeStatus(/^lab1 +127\.0\.0\.1 +OFFLINE/m);
    assert.equal(readFileSync(join(lab.base, 'mine'), 'utf8'), 'precious');
  });

  it('[O9] is found by a pause that names no folder, without its head', async () => {
    lab.startClientAlone();
    await until('its door is there', () => existsSync(lab.door('lab1')) || undefined);
    const pause = lab.spawnBesideClient('pause', '4h');
    await pause.says(/Node lab1 is paused until .*; nothing runs there\.\n/);
    await pause.says(/Ctrl-C ends it early/);
    pause.child.kill('SIGINT');
    assert.equal(await pause.ended, 0);
    assert.match(pause.said, /Node lab1 takes work again\.\n$/);
    await lab.client.stop();
  });
});
