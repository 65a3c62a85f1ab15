// The web page with amounts that no test machine has: 100,000 jobs and tasks, 1,000 nodes, 10,000
// bars, answered by a cluster that is made up.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { goTo, NO_BROWSER } from '../../tools/browser.ts';
import { ARRAY_ID } from '../../tools/page-alone/jobs.ts';
import { LARGE } from '../../tools/page-alone/world.ts';
import { axeFindings } from './support/axe.ts';
import { withMadeUpPage } from './support/made-up-page.ts';

/** Height of a row of a long table. */
const ROW_HEIGHT = 29;

/**
 * Scrolls by so many pixels a frame; how many rows are made meanwhile. Those that are there may
 * move: a pause of a busy machine is taken for the end of the scrolling, and puts them into order.
 */
const SCROLL = `new Promise((resolve) => {
  const box = document.querySelector('.long');
  let frames = 0;
  let made = 0;
  const known = new Set(box.querySelectorAll('.row'));
  const watch = new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      made += [...addedNodes].filter((one) => one.matches?.('.row') && !known.has(one)).length;
  });
  watch.observe(box, { subtree: true, childList: true });
  const step = () => {
    frames += 1;
    box.scrollTop += 400;
    if (frames < 40) return requestAnimationFrame(step);
    watch.disconnect();
    resolve(made);
  };
  requestAnimationFrame(step);
})`;

/** After them the page shows what an input has changed. */
const TWO_FRAMES =
  'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';

describe('the web page of a large cluster', { skip: NO_BROWSER }, () => {
  const made = withMadeUpPage(LARGE);

  it('a thousand nodes are on the overview, and each can be opened', async () => {
    const { page } = made.own;
    await page.getByText('1,000 nodes').waitFor();
    assert.equal(await page.locator('.grid a.node').count(), LARGE.nodes);
    assert.deepEqual(await axeFindings(made.own), []);
    await page.getByLabel(/^n777:/).click();
    await page.getByRole('heading', { name: 'Node n777' }).waitFor();
  });

  it('[D11] the overview shows what runs and failed, however far down the list it is', async () => {
    const { page } = made.own;
    await goTo(made.own, '', 'Overview');
    const work = page.getByRole('region', { name: 'Runs and waits' });
    for (const id of ['4', '1']) await work.getByRole('link', { name: id, exact: true }).waitFor();
    await work.getByRole('link', { name: '34 more run' }).waitFor();
    const failed = page.getByRole('link', { name: /^Failed\s*33/ });
    assert.equal(await failed.getAttribute('href'), '#/jobs?state=all&outcome=failure');
    await page.getByRole('img', { name: /Cpus in use of 16000, and tasks that wait/ }).waitFor();
  });

  it('a list of jobs is scrolled to its end without a new row in the document', async () => {
    const { page } = made.own;
    await goTo(made.own, 'jobs?state=all', 'Jobs');
    const box = page.locator('.long');
    await box.getByText(String(LARGE.jobs), { exact: true }).waitFor();
    await page.locator(`.long .table[aria-rowcount="5151"]`).waitFor();
    assert.equal(await page.evaluate(SCROLL), 0);
    const rows = async (): Promise<number> =>
      Number(await page.locator('.long .table').getAttribute('aria-rowcount')) - 1;
    const toTheEnd =
      'const box = document.querySelector(".long"); box.scrollTop = box.scrollHeight';
    while ((await rows()) < LARGE.jobs) {
      const now = await rows();
      await page.evaluate(toTheEnd);
      await page.waitForFunction(
        `document.querySelector('.long .table').getAttribute('aria-rowcount') > ${now + 1}`,
      );
    }
    await page.evaluate(toTheEnd);
    await box.getByRole('link', { name: '1', exact: true }).waitFor();
    // What is read aloud comes in the order in which it stands.
    const isOrdered = `(() => {
      const all = [...document.querySelectorAll('.long .body .row')];
      const at = all.map((row) => Number(row.getAttribute('aria-rowindex')));
      return at.every((one, place) => place === 0 || one === at[place - 1] + 1);
    })()`;
    await page.waitForFunction(isOrdered);
    assert.ok((await page.locator('.long .body .row').count()) < 80);
    assert.deepEqual(await axeFindings(made.own, { hasTargets: false }), []);
  });

  it('[D15] a search finds a job that was never loaded', async () => {
    const { page } = made.own;
    await goTo(made.own, '', 'Overview');
    await goTo(made.own, 'jobs?state=all&search=--case+77777', 'Jobs');
    await page.locator('.long').getByRole('link', { name: '77777', exact: true }).waitFor();
    assert.equal(await page.locator('.long .body .row').count(), 1);
    await page.getByPlaceholder('id, name, user, node, command').fill('');
    const newest = String(LARGE.jobs);
    await page.locator('.long').getByRole('link', { name: newest, exact: true }).waitFor();
    await page.locator(`.long .table[aria-rowcount="5151"]`).waitFor();
  });

  it('[D21] who goes into a job and back finds the table where it was, by a link at its beginning', async () => {
    const { page } = made.own;
    await goTo(made.own, 'jobs?state=all', 'Jobs');
    await page.locator(`.long .table[aria-rowcount="5151"]`).waitFor();
    const box = page.locator('.long');
    await box.evaluate((element, top) => {
      element.dispatchEvent(new Event('wheel'));
      element.scrollTop = top;
    }, 3000 * ROW_HEIGHT);
    const job = box.getByRole('link', { name: String(LARGE.jobs - 3005), exact: true });
    await job.click();
    await page.getByRole('heading', { level: 1, name: /^Job / }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    await job.waitFor();
    const top = await box.evaluate((element) => element.scrollTop);
    assert.equal(top, 3000 * ROW_HEIGHT);
    await page.getByRole('link', { name: 'Overview' }).click();
    // A page that was not drawn in between has not been left.
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await goTo(made.own, 'jobs?state=all', 'Jobs');
    await box.getByRole('link', { name: String(LARGE.jobs), exact: true }).waitFor();
  });

  it('a row that scrolls away leaves the focus to the table, not to another row', async () => {
    const { page } = made.own;
    const box = page.locator('.long');
    await box.evaluate((element) => {
      element.scrollTop = 0;
    });
    await page.getByLabel(`Choose ${LARGE.jobs - 2}`, { exact: true }).focus();
    await box.evaluate((element, top) => {
      element.scrollTop = top;
    }, 500 * ROW_HEIGHT);
    await page.getByText(String(LARGE.jobs - 505), { exact: true }).waitFor();
    assert.equal(await page.evaluate('document.activeElement.className'), 'long');
  });

  it('ten thousand bars are moved and zoomed, and each opens its job', async () => {
    const { page } = made.own;
    await goTo(made.own, 'schedule', 'Schedule');
    const canvas = page.getByRole('img', { name: /Schedule of 1,000 nodes/ });
    await canvas.waitFor();
    assert.deepEqual(await axeFindings(made.own), []);
    await page.getByRole('button', { name: 'Nearer' }).click();
    await page.locator('.gantt').press('ArrowLeft');
    await page.locator('.gantt').evaluate((element) => {
      element.scrollTop = 7000;
    });
    const { x, y, width } = (await canvas.boundingBox()) as { x: number; y: number; width: number };
    // Somewhere in the row there is a bar.
    for (let part = 0.3; part < 0.9; part += 0.05) {
      await page.mouse.move(x + width * part, y + 100);
      await page.evaluate(TWO_FRAMES);
      if ((await page.locator('.hover strong').count()) > 0) break;
    }
    const id = (await page.locator('.hover strong').textContent()) ?? '';
    await page.mouse.down();
    await page.mouse.up();
    await page.getByRole('heading', { name: `Job ${id}` }).waitFor();
  });

  it('[D14] a hundred thousand tasks are one map, asked for once, and its keys choose one', async () => {
    const { page } = made.own;
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await goTo(made.own, `jobs/${ARRAY_ID}`, `Job ${ARRAY_ID}`);
    const map = page.getByRole('img', { name: '100,000 tasks as a map' });
    await map.waitFor();
    const task = page.getByRole('spinbutton', { name: 'Task' });
    await task.fill('50');
    await map.press('ArrowRight');
    assert.equal(await task.inputValue(), '51');
    await page.getByRole('region', { name: 'Tasks', exact: true }).getByText('on n52').waitFor();
    assert.deepEqual(await axeFindings(made.own), []);
    assert.deepEqual(made.own.faults, []);
    const about = asked.filter((path) => path.startsWith(`/v1/jobs/${ARRAY_ID}/map`));
    assert.equal(about.length, 1);
    const lists = asked.filter((path) => path.endsWith('/tasks'));
    assert.ok(lists.length < 10, `${lists.length} requests for tasks`);
  });
});
