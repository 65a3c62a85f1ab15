// `weft login` as two people use it: one at a machine without a token, one whom the head knows.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findFreePort } from '../../src/kernel/cli/daemons/free-port.ts';
import { NO_BROWSER, startBrowser, visit } from '../../tools/browser.ts';
import { buildPage } from '../../tools/page.ts';
import { cleanEnvironment, LocalCluster, type Said } from './support/local-cluster.ts';

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
    const again = await weft(['login']);
    assert.match(again.out, /You are ann already/);
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
