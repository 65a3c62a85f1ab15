// The web page with a cluster that is made up: what a small real one does not have, and each page laid
// out as it was approved.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { goTo, NO_BROWSER, startBrowser, type Visit, visit } from '../../tools/browser.ts';
import { buildPage } from '../../tools/page.ts';
import { PageAlone } from '../../tools/page-alone/server.ts';
import { madeUp, SMALL } from '../../tools/page-alone/world.ts';
import { pageSvg, RECORD_CANVASES } from '../../tools/picture/page-svg.ts';
import { axeFindings } from './support/axe.ts';
import { compareLayout, LAYOUT_WIDTHS } from './support/page-layout.ts';

const PAGES: readonly (readonly [string, string])[] = [
  ['', 'Overview'],
  ['jobs', 'Jobs'],
  ['jobs/1', 'Job 1'],
  ['jobs/2', 'Job 2'],
  ['jobs/3', 'Job 3'],
  ['nodes', 'Nodes'],
  ['nodes/n1', 'Node n1'],
  ['schedule', 'Schedule'],
  ['batches', 'Batches'],
  ['batches/lab/sweep', 'Batch lab/sweep'],
  ['pools', 'Pools'],
  ['sites', 'Sites'],
  ['sites/hpc', 'Site hpc'],
  ['accounting', 'Accounting'],
  ['submit', 'Submit'],
];

describe('the web page of a made-up cluster', { skip: NO_BROWSER }, () => {
  let alone: PageAlone;
  let browser: Browser;
  let own: Visit;

  before(async () => {
    await buildPage();
    alone = await PageAlone.start(madeUp(SMALL));
    browser = await startBrowser();
    own = await visit(browser, alone.url);
    await own.page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
  after(async () => {
    await browser?.close();
    await alone?.close();
  });

  it('each build of a batch has its log, failed or not', async () => {
    const { page } = own;
    await goTo(own, 'batches/lab/sweep', 'Batch lab/sweep');
    await page.getByText('Builds, failed on 1 node, ready on 3 nodes').waitFor();
    await page.getByRole('button', { name: 'log of the build on n2' }).click();
    await page.locator('.log').getByText('step 39').waitFor();
    await page.getByText("weft logs --stderr --epoch 1 '2[1]'", { exact: true }).waitFor();
    await page.getByRole('button', { name: 'log of the build on n3' }).click();
    await page.getByText("weft logs --stderr --epoch 1 '2[2]'", { exact: true }).waitFor();
    await page.getByRole('button', { name: 'log of the build on n3' }).click();
  });

  it('files of a batch are searched, looked at, and downloaded as one archive', async () => {
    const { page } = own;
    await page.getByText('Look into them').click();
    const files = page.locator('.files');
    await files.getByRole('button', { name: 're_105/result/field.csv' }).click();
    await files.locator('.log').getByText('2,9').waitFor();
    for (const name of ['re_105/result/field.csv', 're_105/run.json']) {
      await files.getByLabel(`Choose ${name}`).check();
    }
    const coming = page.waitForEvent('download');
    await files.getByRole('button', { name: 'Download 2 files, 4.4K' }).click();
    assert.equal((await coming).suggestedFilename(), 'lab-sweep.tar');
    await page.locator('.told', { hasText: '2 files' }).waitFor();
    await files.getByPlaceholder('name of a file').fill('json');
    await files.getByText('re_105/result/log.txt').waitFor({ state: 'detached' });
    await files.getByRole('button', { name: 'Download 1 file' }).waitFor();
    assert.deepEqual(await axeFindings(own), []);
  });

  it('a pool says how long its calls take, and the accounting what groups used', async () => {
    const { page } = own;
    await goTo(own, 'pools', 'Pools');
    const row = page.getByRole('row', { name: /^all, the last minute/ });
    await row.getByText('240ms').waitFor();
    assert.deepEqual(await axeFindings(own), []);
    await goTo(own, 'accounting', 'Accounting');
    const asked = page.waitForRequest(/history\/usage\?by=group/);
    await page.getByRole('combobox', { name: 'By' }).selectOption('group');
    await asked;
    await page.getByText('weft usage --by group', { exact: true }).waitFor();
    await page.getByRole('cell', { name: 'carol' }).waitFor();
  });

  it('a site is shown as it says itself, and as its filters let it be seen', async () => {
    const { page } = own;
    await goTo(own, 'sites/hpc', 'Site hpc');
    await page.getByText('hidden by no-login-nodes').first().waitFor();
    await page.getByText('matches none of 40 nodes').waitFor();
    await page.getByRole('button', { name: 'As its filters show it' }).click();
    await page.getByRole('region', { name: /^35 nodes/ }).waitFor();
    await page.getByText('weft site show hpc --filtered', { exact: true }).waitFor();
    assert.equal(await page.getByText('hidden by').count(), 0);
    assert.deepEqual(await axeFindings(own), []);
  });

  it('a page is drawn as text: its boxes, words and what is on its canvases', async () => {
    const page = await (await browser.newContext()).newPage();
    await page.addInitScript(RECORD_CANVASES);
    await page.goto(alone.url);
    await page.locator('.curves canvas').waitFor();
    const overview = await pageSvg(page, 'Overview');
    assert.match(overview, /<svg [^>]*aria-label="Overview"[\s\S]*Needs attention<\/text>/);
    assert.match(overview, /<path d="M[^"]+" fill="none" stroke=/);
    await page.goto(`${new URL(alone.url).origin}/#/schedule`);
    await page.locator('.gantt canvas').waitFor();
    await page.waitForFunction("document.querySelector('.gantt canvas').marks?.length > 0");
    const schedule = await pageSvg(page, 'Schedule', (text) => text.replace('alice', 'anna'));
    for (const words of ['>n12<', '>drained: new disk<', '>anna<'])
      assert.ok(schedule.includes(words), words);
    for (const svg of [overview, schedule]) assert.ok(svg.length < 100_000 && !/<image/.test(svg));
    await page.context().close();
  });

  it('every page is laid out as it was approved, at three widths', async () => {
    const different: string[] = [];
    for (const width of LAYOUT_WIDTHS) {
      await own.page.setViewportSize({ width, height: 900 });
      for (const [path, title] of PAGES) {
        await goTo(own, path, title);
        await own.page.locator('body:not(:has(.loading))').waitFor();
        different.push(...(await compareLayout(own, path, width)));
      }
    }
    assert.deepEqual(different, []);
    assert.deepEqual(own.faults, []);
  });
});
