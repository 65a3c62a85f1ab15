// `weft login` as two people use it: one at a machine without a token, one whom the head knows.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { NO_BROWSER, startBrowser, visit } from '../../tools/browser.ts';
import { buildPage } from '../../tools/page.ts';
import { findFreePort } from '../support/free-port.ts';
import type { Host } from './support/hosts.ts';
import { cleanEnvironment, LocalCluster, type Said } from './support/local-cluster.ts';
import { SshLab } from './support/ssh-lab.ts';

describe('logins from elsewhere', () => {
  let cluster: LocalCluster;
  let head: string[];
  before(async () => {
    const port = await findFreePort({ host: '127.0.0.1', port: 26_000 });
    cluster = new LocalCluster();
    await cluster.up('--listen', `127.0.0.1:${port}`);
    const { fingerprint } = JSON.parse(await cluster.ok('token', 'create', '-o', 'json'));
    head = ['--head', `https://127.0.0.1:${port}`, '--fingerprint', fingerprint];
  });
  after(() => cluster.close());

  /** Somebody's own folder, as on another machine. */
  function elsewhere(name: string) {
    const home = join(cluster.directory, name);
    mkdirSync(home);
    const env = cleanEnvironment({ HOME: home, XDG_CONFIG_HOME: '', XDG_RUNTIME_DIR: home });
    const weft = (args: string[], onCode?: (code: string) => void): Promise<Said> => {
      let told = false;
      return cluster.run('weft', args, {
        cwd: home,
        env,
        onOutput: (soFar) => {
          const code = /Your code is (\S+), good until .*\n/.exec(soFar)?.[1];
          if (code === undefined || told) return;
          told = true;
          onCode?.(code);
        },
      });
    };
    return { home, weft };
  }

  it('[Y7] an approved login leaves a token that only its user reads, and weft works from there', async () => {
    const { home, weft } = elsewhere('ann');
    const answered: Promise<string>[] = [];
    const said = await weft(['login', ...head], (code) => {
      answered.push(cluster.ok('login', '--approve', code.toLowerCase(), '--user', 'ann', '--yes'));
    });
    assert.equal(said.code, 0, said.error);
    assert.match((await answered[0]) ?? '', /@.* has a token of ann now\./);
    assert.match(said.out, /You are ann\. The token is in .*\/token, until/);
    const file = join(home, '.config', 'weft', 'token');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.match(readFileSync(file, 'utf8'), /^wt_\S+\n$/);
    assert.ok(!said.out.includes('wt_'));
    const who = await weft(['user', 'whoami']);
    assert.equal(who.out, 'ann (user)\n', who.error);
    for (const words of [['login'], ['login', ...head]]) {
      const again = await weft(words);
      assert.match(again.out, /You are ann already, at 127\.0\.0\.1:\d+;/);
    }
    const other = join(home, 'other');
    const second = await weft(['login', ...head, '--token-file', other], (code) => {
      answered.push(cluster.ok('login', '--approve', code, '--user', 'ann', '--yes'));
    });
    assert.equal(second.code, 0, second.error);
    assert.match(readFileSync(other, 'utf8'), /^wt_\S+\n$/);
  });

  it('[Y5] a login is answered on the page', { skip: NO_BROWSER }, async () => {
    await buildPage();
    const { weft } = elsewhere('pat');
    const browser = await startBrowser();
    let seen = '';
    const answer = async (code: string): Promise<void> => {
      const [url = '', secret = ''] = (await cluster.ok('ui', '--print')).split('#');
      const { page } = await visit(browser, `${url}#${secret}`);
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      await page.goto(`${url}#/login/${code}`);
      await page.getByText('Who asks').waitFor();
      seen = (await page.getByRole('main').textContent()) ?? '';
      await page.getByRole('button', { name: 'Approve', exact: true }).click();
      await page.getByRole('dialog').locator('button.main').click();
      await page.getByText('It is answered.').waitFor();
    };
    const answered: Promise<void>[] = [];
    try {
      const said = await weft(['login', ...head], (code) => answered.push(answer(code)));
      await answered[0];
      assert.match(said.out, /The token is in .*\/token/, said.error);
      assert.match(seen, /as that machine says; from 127\.0\.0\.1/);
    } finally {
      await browser.close();
    }
  });

  it('[Y5] a refused login leaves nothing', async () => {
    const { home, weft } = elsewhere('bob');
    const said = await weft(['login', ...head], (code) => {
      void cluster.ok('login', '--refuse', code);
    });
    assert.notEqual(said.code, 0);
    assert.match(said.error, /the login was refused/);
    assert.ok(!existsSync(join(home, '.config', 'weft', 'token')));
  });

  it('[Y7] a token that would not count is not asked for', async () => {
    const { home, weft } = elsewhere('eve');
    mkdirSync(join(home, '.config', 'weft'), { recursive: true });
    writeFileSync(join(home, '.config', 'weft', 'client.yaml'), `head: "${head[1]}"\n`);
    const said = await weft(['login', '--fingerprint', head[3] ?? '']);
    assert.match(said.error, /client\.yaml does not say where the token is\n.*token_file:/);
    const wrong = await weft(['login', '--approve', 'abcd']);
    assert.match(wrong.error, /'abcd' is no code/);
  });
});

describe('logins on a node', () => {
  let lab: SshLab;
  before(async () => {
    lab = await SshLab.start(2);
    for (const host of [lab.head, ...lab.nodes]) {
      await lab.ok(host, "useradd --uid 4321 --create-home --password '*' ann");
    }
    for (const [at, node] of lab.nodes.entries()) {
      // A disk of its own, as a machine has.
      await identify(node, `${at + 1}`.repeat(32));
      await lab.ok(node, `useradd --uid ${4400 + at} --create-home --password '*' only${at}`);
    }
    await lab.ok(lab.head, 'ssh-keyscan lab1 lab2 >> /root/.ssh/known_hosts 2>/dev/null');
    await ok('node', 'add', 'lab1', 'lab2');
  });
  after(() => lab?.close());

  const node = (at: number): Host => {
    const found = lab.nodes[at];
    assert.ok(found !== undefined);
    return found;
  };
  const identify = (host: Host, id: string): Promise<string> =>
    lab.ok(
      host,
      `umount /etc/machine-id 2>/dev/null; echo ${id} > /tmp/id; touch /etc/machine-id; mount --bind /tmp/id /etc/machine-id`,
    );
  const ok = async (...args: string[]): Promise<string> => {
    const said = await lab.weft(...args);
    assert.equal(said.code, 0, `weft ${args.join(' ')}: ${said.out}${said.error}`);
    return said.out.trim();
  };
  const as = (at: number, user: string, line: string): Promise<string> =>
    lab.ok(node(at), `cd ~${user} 2>/dev/null; runuser -u ${user} -- sh -c '${line}'`);
  /** What `weft login` says until it has a code to show; nobody answers it. */
  const unvouched = (at: number, user: string): Promise<string> =>
    as(
      at,
      user,
      'rm -f said; weft login > said 2>&1 & for i in $(seq 300); do grep -q "Or, where" said && break; sleep 0.1; done; kill $!; cat said',
    );

  it('[Y18] a node that nobody has trusted vouches for nobody, and says so in one line', async () => {
    const said = await unvouched(0, 'ann');
    const [first, second] = said.split('\n');
    assert.match(
      first ?? '',
      /Node lab1 does not vouch for ann: no admin has trusted it; an admin types: weft node trust lab1\./,
    );
    assert.match(second ?? '', /^Your code is/);
    assert.equal(await ok('node', 'trust'), 'No node vouches for its users.');
  });

  it('[Y18] on a trusted node a user is logged in without a code, by name', async () => {
    await ok('node', 'trust', 'lab1');
    assert.match(await ok('node', 'trust'), /^lab1 {2}by root, /);
    assert.match(await as(0, 'ann', 'weft login'), /^You are ann\. The token is in .*token, until/);
    assert.equal(
      await as(0, 'ann', 'stat -c %a ~/.config/weft/token; weft user whoami'),
      '600\nann (user)',
    );
    assert.match(await ok('token', 'list', '--all'), /login ann@lab1 \(by node lab1\)/);
    assert.match(await unvouched(1, 'ann'), /Node lab2 does not vouch for ann: no admin/);
    // An account that one machine alone has is nobody's for the cluster.
    assert.match(
      await unvouched(0, 'only0'),
      /lab1 does not vouch for only0: the head knows nobody/,
    );
  });

  it('[Y19] no node vouches for root, or for whoever has a role', async () => {
    await ok('user', 'create', 'ann', '--role', 'operator');
    await as(0, 'ann', 'rm -r ~/.config/weft');
    assert.match(await unvouched(0, 'ann'), /no node vouches for whoever is operator/);
    await ok('user', 'modify', 'ann', '--role', 'user');
    const said = await lab.ok(
      node(0),
      'cd; rm -f said; weft login > said 2>&1 & for i in $(seq 300); do grep -q "Or, where" said && break; sleep 0.1; done; kill $!; cat said',
    );
    assert.match(said, /^Your code is/, 'root is not even asked about');
  });

  it('[Y18] a machine that took over a trusted node, or whose trust has ended, vouches for nobody', async () => {
    await as(0, 'ann', 'rm -rf ~/.config/weft');
    await lab.ok(
      node(0),
      'pid=$(cat /var/lib/weft/node/rollout.pid); kill $pid; while kill -0 $pid 2>/dev/null; do sleep 0.1; done',
    );
    await identify(node(0), '7'.repeat(32));
    await ok('node', 'add', 'lab1');
    assert.match(
      await unvouched(0, 'ann'),
      /it is another machine than the one that an admin trusted/,
    );
    assert.match(await ok('node', 'trust'), /lab1 .*; vouches for nobody: it is another machine/);
    await ok('node', 'trust', 'lab1');
    assert.match(await as(0, 'ann', 'weft login'), /^You are ann/);
    await ok('node', 'trust', '--end', 'lab1');
    await as(0, 'ann', 'rm -r ~/.config/weft');
    assert.match(await unvouched(0, 'ann'), /no admin has trusted it/);
  });
});
