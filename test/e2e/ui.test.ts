// The web page in a real browser, of a real head with real jobs: each page, actions, roles, two
// readers at once, hostile names and output, and a head that is killed under an open page.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { goTo, NO_BROWSER, startBrowser, type Visit, visit } from '../../tools/browser.ts';
import { buildPage } from '../../tools/page.ts';
import { axeFindings } from './support/axe.ts';
import { LocalCluster } from './support/local-cluster.ts';

const HOSTILE = '<img src=x onerror="window.hacked=1">';
const OUTPUT = [
  'printf "\\033[31mred\\033[0m %s\\342\\200\\256rtl\\n" "$EVIL"',
  'head -c 1000000 /dev/zero | tr "\\0" x; echo; echo the end',
  'sleep 600',
].join('; ');

describe('the web page', { skip: NO_BROWSER }, () => {
  let cluster: LocalCluster;
  let browser: Browser;
  let own: Visit;
  let base = '';
  let [hostile, wide, array, held] = ['', '', '', ''];

  const link = async (): Promise<string> => cluster.ok('ui', '--print');
  const byToken = async (user: string): Promise<Visit> => {
    const token = await cluster.ok('token', 'create', '--user', user);
    const seen = await visit(browser, base);
    await seen.page.getByLabel('Token').fill(token);
    await seen.page.getByRole('button', { name: 'Log in' }).click();
    await seen.page.getByRole('heading', { name: 'Overview' }).waitFor();
    return seen;
  };
  const told = ({ page }: Visit, words: string): Promise<void> =>
    page.locator('.told', { hasText: words }).waitFor();
  /** Presses an action and agrees to it. Returns the command that the question shows. */
  const act = async ({ page }: Visit, name: string): Promise<string> => {
    await page.getByRole('main').getByRole('button', { name, exact: true }).click();
    const question = page.getByRole('dialog');
    const command = (await question.locator('code').textContent()) ?? '';
    await question.locator('button.main').click();
    return command;
  };

  before(async () => {
    await buildPage();
    cluster = new LocalCluster();
    await cluster.up('--nodes', '2', '--listen', 'none');
    const evil = ['--env', `EVIL=${HOSTILE}`];
    hostile = await cluster.ok('run', '--name', HOSTILE, '-t', '1h', ...evil, '--', OUTPUT);
    array = await cluster.ok(
      'run',
      '--name',
      'sweep',
      '--array',
      '0-5',
      '--',
      'exit $((WEFT_ARRAY_INDEX == 3))',
    );
    await cluster.weft('wait', array);
    wide = await cluster.ok(
      'run',
      '--name',
      'wide',
      '-n',
      '2',
      '--cpus',
      '2',
      '-t',
      '2h',
      '--',
      'sleep 1',
    );
    held = await cluster.ok('run', '--name', 'later', '--hold', '--', 'true');
    writeFileSync(join(cluster.work, 'job.sh'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    const jobs = '[{name: a, run: job.sh, cpus: 1}, {name: b, run: job.sh, cpus: 1}]';
    const batch = `namespace: lab\nname: sweep\njobs: ${jobs}\n`;
    writeFileSync(join(cluster.work, 'weft.batch.yaml'), batch);
    await cluster.ok('batch', 'submit', 'weft.batch.yaml');
    browser = await startBrowser();
    const url = await link();
    base = new URL(url).origin;
    own = await visit(browser, url);
    await own.page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
  after(async () => {
    await browser?.close();
    await cluster?.close();
  });

  it('[D9] a link logs in once, and its secret is gone from the address', async () => {
    assert.equal(new URL(own.page.url()).hash, '#/');
    const used = await link();
    const first = await visit(browser, used);
    await first.page.getByRole('heading', { name: 'Overview' }).waitFor();
    const second = await visit(browser, used);
    await second.page.getByRole('alert').getByText('unknown, used or expired').waitFor();
    const fresh = new URL(await link()).hash;
    await second.page.evaluate(`location.hash = ${JSON.stringify(fresh)}`);
    await second.page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.equal(new URL(second.page.url()).hash, '#/');
    await goTo(second, 'submit', 'Submit');
    await second.page.getByRole('textbox', { name: 'Command' }).fill('echo a secret');
    // Whatever stands there, the page opens.
    await second.page.evaluate("localStorage.setItem('weft.me', '{')");
    await second.page.reload();
    await second.page.getByText('echo a secret').first().waitFor();
    await second.page.getByRole('button', { name: 'Log out' }).click();
    await second.page.getByLabel('Token').waitFor();
    const left = await second.page.evaluate('[{ ...localStorage }, { ...sessionStorage }]');
    assert.deepEqual(left, [{}, {}]);
    await second.page.reload();
    await second.page.getByLabel('Token').waitFor();
    const [cookie] = await first.page.context().cookies();
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Strict']);
    await first.page.getByRole('button', { name: 'Log out' }).click();
    await first.page.getByLabel('Token').waitFor();
    for (const { faults } of [first, second]) assert.deepEqual(faults, []);
    await first.page.context().close();
    await second.page.context().close();
  });

  it('every page can be read by everybody, in both colour schemes and when narrow', async () => {
    const pages: [string, string][] = [
      ...([
        ['', 'Overview'],
        ['jobs', 'Jobs'],
        [`jobs/${hostile}`, `Job ${hostile}`],
      ] as const),
      ...([
        [`jobs/${array}`, `Job ${array}`],
        ['nodes', 'Nodes'],
        ['nodes/n1', 'Node n1'],
      ] as const),
      ...([
        ['schedule', 'Schedule'],
        ['batches', 'Batches'],
        ['batches/lab/sweep', 'Batch lab/sweep'],
        ['pools', 'Pools'],
      ] as const),
      ...([
        ['sites', 'Sites'],
        ['accounting', 'Accounting'],
        ['submit', 'Submit'],
      ] as const),
    ].map(([path, title]) => [path, title]);
    for (const colorScheme of ['light', 'dark'] as const) {
      await own.page.emulateMedia({ colorScheme });
      for (const [path, title] of pages) {
        await goTo(own, path, title);
        await own.page.locator('body:not(:has(.loading))').waitFor();
        assert.deepEqual([path, colorScheme, await axeFindings(own)], [path, colorScheme, []]);
      }
    }
    await own.page.setViewportSize({ width: 400, height: 800 });
    for (const [path, title] of pages) {
      await goTo(own, path, title);
      const excess = await own.page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      assert.deepEqual([path, excess], [path, 0]);
    }
    await own.page.setViewportSize({ width: 1280, height: 800 });
    await own.page.emulateMedia({ colorScheme: 'light' });
    assert.deepEqual(own.faults, []);
  });

  it('names and output are text, whatever is in them', async () => {
    await goTo(own, `jobs/${hostile}`, `Job ${hostile}`);
    const log = own.page.locator('.log');
    await log.getByText('the end').waitFor();
    const text = (await log.textContent()) ?? '';
    assert.ok(text.includes('more; the download has all'), 'a line of a megabyte is cut');
    await goTo(own, 'jobs', 'Jobs');
    await own.page.getByText(HOSTILE, { exact: true }).first().waitFor();
    assert.equal(await own.page.evaluate('window.hacked === undefined'), true);
    assert.deepEqual(own.faults, []);
  });

  it('a job that waits says why, until when, and what would start now', async () => {
    await goTo(own, `jobs/${wide}`, `Job ${wide}`);
    await own.page.getByText('It is pending: needs 2 nodes with 2 cpus').waitFor();
    await own.page
      .getByText('By today\u2019s plan')
      .or(own.page.getByText("By today's plan"))
      .first()
      .waitFor();
    const offer = own.page.getByRole('button', { name: 'Would start now with' }).first();
    await offer.click();
    const command = await own.page.getByRole('dialog').locator('code').textContent();
    assert.match(command ?? '', new RegExp(`^weft change ${wide} --`));
    await own.page.getByRole('dialog').getByRole('button', { name: 'Would start now' }).click();
    await told(own, `Job ${wide} asks for`);
    await own.page.locator('.title').getByText('completed').waitFor();
  });

  it('actions show their command, and two readers see what came of them', async () => {
    const other = await visit(browser, await link());
    await other.page.getByRole('heading', { name: 'Overview' }).waitFor();
    await goTo(other, `jobs/${held}`, `Job ${held}`);
    await other.page.locator('.title').getByText('held').waitFor();
    await goTo(own, 'jobs', 'Jobs');
    await own.page.getByLabel(`Choose ${held}`).check();
    await own.page.getByText('1 job chosen').waitFor();
    assert.equal(await act(own, 'Release'), `weft release ${held}`);
    await told(own, `Job ${held} is released.`);
    await other.page.locator('.title').getByText('completed').waitFor();
    await goTo(own, 'nodes/n2', 'Node n2');
    await own.page.getByLabel('Reason, shown to all').fill('new disk');
    assert.equal(await act(own, 'Drain'), "weft node drain n2 --reason 'new disk'");
    await own.page.locator('.title').getByText('drained').waitFor();
    await goTo(other, 'nodes', 'Nodes');
    await other.page
      .getByRole('region', { name: 'Nodes' })
      .getByText('drained', { exact: true })
      .waitFor();
    await act(own, 'Undrain');
    await own.page.locator('.title').getByText('drained').waitFor({ state: 'detached' });
    assert.deepEqual([own.faults, other.faults], [[], []]);
    await other.page.context().close();
  });

  it('the form says what is wrong and what the head would do, and submits once', async () => {
    await goTo(own, 'submit', 'Submit');
    const { page } = own;
    await page.getByLabel('Command, as one line').fill('echo from the page');
    await page.getByLabel('Memory per node').fill('lots');
    await page.getByText("'lots' is not a size").waitFor();
    assert.equal(await page.getByRole('button', { name: 'Submit' }).isDisabled(), true);
    await page.getByLabel('Memory per node').fill('64M');
    await page.getByText('It would start now').waitFor();
    const command = "weft run --memory 64M --private -- 'echo from the page'";
    await page.getByText(command, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.locator('.log').getByText('from the page').waitFor();
    await page.locator('.title').getByText('completed').waitFor();
  });

  it('a job that is over is submitted again as it was, completed tasks too', async () => {
    await goTo(own, `jobs/${array}`, `Job ${array}`);
    assert.equal(await act(own, 'Resubmit'), `weft retry --all ${array}`);
    await told(own, `All of job ${array} runs again as job`);
    await own.page.getByRole('link', { name: array, exact: true }).waitFor();
    assert.ok(!own.page.url().endsWith(`/jobs/${array}`));
  });

  it('a user sees all jobs, and acts on own ones only; an operator on all', async () => {
    const alice = await byToken('alice');
    await goTo(alice, `jobs/${hostile}`, `Job ${hostile}`);
    await alice.page.getByText('and operators see the output').waitFor();
    assert.equal(await alice.page.getByRole('button', { name: 'Cancel' }).count(), 0);
    await goTo(alice, 'nodes/n1', 'Node n1');
    assert.equal(await alice.page.getByRole('button', { name: 'Drain' }).count(), 0);
    await cluster.ok('user', 'create', 'olga', '--role', 'operator');
    const olga = await byToken('olga');
    await goTo(olga, 'nodes/n1', 'Node n1');
    await olga.page.getByRole('button', { name: 'Drain' }).waitFor();
    await goTo(olga, `jobs/${hostile}`, `Job ${hostile}`);
    assert.equal(await act(olga, 'Cancel'), `weft cancel ${hostile}`);
    await olga.page.locator('.title').getByText('cancelled').waitFor();
    for (const seen of [alice, olga]) {
      assert.deepEqual(seen.faults, []);
      await seen.page.context().close();
    }
  });

  it('a head that is killed is said to be away, and the page goes on when it is back', async () => {
    await goTo(own, 'jobs', 'Jobs');
    await own.page.getByText('live', { exact: true }).waitFor();
    await cluster.withoutRestarts(async () => {
      await cluster.kill('head');
      await own.page.getByText('head away for').waitFor();
    });
    await cluster.ok('up', '--nodes', '2', '--listen', 'none');
    await cluster.connect();
    const job = await cluster.ok('run', '--name', 'after-the-fall', '--', 'sleep 600');
    await own.page.getByText('after-the-fall', { exact: true }).waitFor();
    await own.page.getByText('live', { exact: true }).waitFor();
    await goTo(own, `jobs/${job}`, `Job ${job}`);
    await act(own, 'Cancel');
    await own.page.locator('.title').getByText('cancelled').waitFor();
    assert.deepEqual(own.faults, []);
  });
});
