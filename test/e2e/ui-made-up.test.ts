// The web page with a cluster that is made up: what a small real one does not have, and each page
// laid out as it was approved.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { behindWords } from '../../src/kernel/head/behind.ts';
import { goTo, NO_BROWSER } from '../../tools/browser.ts';
import { SMALL } from '../../tools/page-alone/world.ts';
import { pageSvg, RECORD_CANVASES } from '../../tools/picture/page-svg.ts';
import { axeFindings } from './support/axe.ts';
import { withMadeUpPage } from './support/made-up-page.ts';
import { compareLayout, LAYOUT_WIDTHS } from './support/page-layout.ts';

/** The next text that the page reads breaks off, as when the head is gone half-way. */
const BREAK_OFF = `{
  const { text } = Response.prototype;
  Response.prototype.text = function () {
    Response.prototype.text = text;
    return Promise.reject(new TypeError('network error'));
  };
}`;

const PAGES: readonly (readonly [string, string])[] = [
  ['', 'Overview'],
  ['jobs', 'Jobs'],
  ['jobs/1', 'Job 1'],
  ['jobs/2', 'Job 2'],
  ['jobs/3', 'Job 3'],
  ['nodes', 'Nodes'],
  ['nodes/n1', 'Node n1'],
  ['schedule', 'Schedule'],
  ['gpus', 'Gpus'],
  ['batches', 'Batches'],
  ['batches/lab/sweep', 'Batch lab/sweep'],
  ['pools', 'Pools'],
  ['sites', 'Sites'],
  ['sites/hpc', 'Site hpc'],
  ['accounting', 'Accounting'],
  ['submit', 'Submit'],
];

describe('the web page of a made-up cluster', { skip: NO_BROWSER }, () => {
  const made = withMadeUpPage(SMALL);

  it('each build of a batch has its log, failed or not', async () => {
    const { page } = made.own;
    await goTo(made.own, 'batches/lab/sweep', 'Batch lab/sweep');
    await page.getByText('Builds, failed on 1 node, ready on 3 nodes').waitFor();
    await page.locator('.progress').getByText('44/48, 4 failed').waitFor();
    await page.getByRole('button', { name: 'log of the build on n2' }).click();
    await page.locator('.log').getByText('step 39').waitFor();
    await page.getByText("weft logs --stderr --epoch 1 '2[1]'", { exact: true }).waitFor();
    await page.getByRole('button', { name: 'log of the build on n3' }).click();
    await page.getByText("weft logs --stderr --epoch 1 '2[2]'", { exact: true }).waitFor();
    await page.getByRole('button', { name: 'log of the build on n3' }).click();
  });

  it('a job that failed opens with both of its streams, standard error first', async () => {
    const { page } = made.own;
    const titles = () => page.locator('.stream h3').allTextContents();
    await goTo(made.own, 'jobs/2', 'Job 2');
    await page.getByText('weft logs 2', { exact: true }).waitFor();
    assert.deepEqual(await titles(), ['Standard error', 'Standard output']);
    await page.getByRole('combobox', { name: 'Stream' }).selectOption('stdout');
    await page.getByText('weft logs 2 --stdout', { exact: true }).waitFor();
    assert.deepEqual(await titles(), ['Standard output']);
    await goTo(made.own, 'jobs/4', 'Job 4');
    await page.getByText('weft logs 4', { exact: true }).waitFor();
    assert.deepEqual(await titles(), ['Standard output', 'Standard error']);
  });

  it('[D15] the search of output is asked of the head, which has all of it', async () => {
    const { page } = made.own;
    await goTo(made.own, 'jobs/2', 'Job 2');
    const output = page.getByRole('region', { name: 'Output' });
    const asked = page.waitForRequest(/\/v1\/jobs\/2\/logs\/search\?.*text=residual\+0\.039/);
    await output.getByRole('searchbox').fill('residual 0.039');
    await asked;
    await output.getByText('1 line in all of it').first().waitFor();
    await output.locator('.log').first().getByText('step 39').waitFor();
    await output.getByRole('searchbox').fill('');
    await output.locator('.log').first().getByText('step 0:').waitFor();
  });

  it('an array shows what failed before all, one after the other, and the point of each task', async () => {
    const { page } = made.own;
    await goTo(made.own, 'jobs/3', 'Job 3');
    const failed = page.getByRole('region', { name: 'tasks failed' });
    await failed.getByRole('button', { name: 'show task 13' }).waitFor();
    const task = page.getByRole('spinbutton', { name: 'Task' });
    await page.waitForFunction("document.querySelector('input[type=number]')?.value === '13'");
    await failed.getByRole('button', { name: 'Next failed' }).click();
    await page.getByText("weft logs '3[110]'", { exact: true }).waitFor();
    assert.equal(await task.inputValue(), '110');
    // Which point of the sweep it is, of those that did not fail, too.
    const tasks = page.getByRole('region', { name: 'Tasks', exact: true });
    await task.fill('112');
    await task.press('Enter');
    await tasks.getByText('lr=0.2 seed=11', { exact: true }).waitFor();
    await tasks.getByText('completed').waitFor();
    await task.fill('110');
    await task.press('Enter');
    await page.waitForFunction("location.hash.endsWith('task=110')");
    await page.reload();
    await page.getByText("weft logs '3[110]'", { exact: true }).waitFor();
  });

  it('what is searched and how it is sorted stands in the address, and outlasts a way back', async () => {
    const { page } = made.own;
    await goTo(made.own, 'jobs?state=all', 'Jobs');
    await page.getByPlaceholder('id, name, user, node, command').fill('mesh');
    await page.getByRole('button', { name: 'Name' }).click();
    await page.waitForFunction("location.hash === '#/jobs?state=all&search=mesh&by=name'");
    await page.reload();
    await page.locator('[aria-sort=ascending]', { hasText: 'Name' }).waitFor();
    await page.locator('.long a').first().click();
    await page.getByRole('heading', { level: 1, name: /^Job / }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    assert.equal(await page.getByPlaceholder('id, name').inputValue(), 'mesh');
    await page.locator('[aria-sort=ascending]', { hasText: 'Name' }).waitFor();
    await goTo(made.own, 'batches/lab/sweep', 'Batch lab/sweep');
  });

  it('files of a batch are searched, looked at, and downloaded as one archive', async () => {
    const { page } = made.own;
    await page.getByText('Look into them').click();
    const files = page.locator('.files');
    await page.evaluate(BREAK_OFF);
    await files.getByRole('button', { name: 're_105/result/field.csv' }).click();
    await page.locator('.told.bad', { hasText: 'The answer of the head broke off.' }).waitFor();
    await files.getByRole('button', { name: 're_105/result/field.csv' }).click();
    await files.locator('.log').getByText('2,9').waitFor();
    for (const name of ['re_105/result/field.csv', 're_105/run.json']) {
      await files.getByLabel(`Choose ${name}`).check();
    }
    const coming = page.waitForEvent('download');
    await files.getByRole('button', { name: 'Download 2 files, 4.4K' }).click();
    assert.equal((await coming).suggestedFilename(), 'lab-sweep.tar');
    await page.locator('.told', { hasText: '2 files' }).waitFor();
    const picture = files.locator('.thumbnails').getByRole('button', { name: 'field.png' });
    await picture.locator('img').waitFor();
    await picture.click();
    await files.getByRole('img', { name: 're_105/result/field.png' }).waitFor();
    await files.getByPlaceholder('name of a file').fill('json');
    await files.getByText('re_105/result/log.txt').waitFor({ state: 'detached' });
    await files.getByRole('button', { name: 'Download 1 file' }).waitFor();
    assert.deepEqual(await axeFindings(made.own), []);
  });

  it('a pool says how long its calls take and how many fail, and the accounting what groups used', async () => {
    const { page } = made.own;
    await goTo(made.own, 'pools', 'Pools');
    const row = page.getByRole('row', { name: /^all / });
    await row.getByText('≤ 240ms').waitFor();
    await page.getByText('48,210 done, 31 of them failed, of 2 programs').waitFor();
    const failing = page.getByRole('row', { name: /^plot\.ts / });
    assert.equal(await failing.getByRole('cell').last().textContent(), '31');
    assert.deepEqual(await axeFindings(made.own), []);
    await goTo(made.own, 'accounting', 'Accounting');
    const asked = page.waitForRequest(/history\/usage\?by=group/);
    await page.getByRole('combobox', { name: 'By' }).selectOption('group');
    await asked;
    await page.getByText('weft usage --by group', { exact: true }).waitFor();
    await page.getByRole('cell', { name: 'carol' }).waitFor();
  });

  it('[S8] a form whose answer is lost is sent again until it is answered, as one job', async () => {
    const { page } = made.own;
    await goTo(made.own, 'submit', 'Submit');
    await page.getByLabel('Command, as one line').fill('./solve --case 1');
    made.head.losesAnswers = true;
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.getByRole('alert').getByText('The page sends the job again').waitFor();
    made.head.losesAnswers = false;
    await page.locator('.told', { hasText: 'was accepted before, and its answer lost' }).waitFor();
    await page.getByRole('heading', { name: 'Job 40' }).waitFor();
    assert.equal(made.submitted.size, 1);
    // Stopped, changed and sent: that is another job, and the first can still be found.
    await goTo(made.own, 'submit', 'Submit');
    await page.getByLabel('Command, as one line').fill('./solve --case 2');
    made.head.losesAnswers = true;
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.getByRole('button', { name: 'Stop sending' }).click();
    made.head.losesAnswers = false;
    await page.getByText('Submit sends it again, and shows it').waitFor();
    await page.getByLabel('Command, as one line').fill('./solve --case 3');
    await page.reload();
    await page.getByText('What the form says now is another job').waitFor();
    assert.deepEqual(await axeFindings(made.own), []);
    await page.getByRole('button', { name: 'Submit' }).click();
    await page.getByRole('heading', { name: 'Job 42' }).waitFor();
    await goTo(made.own, 'submit', 'Submit');
    await page.getByRole('button', { name: 'Send that one again' }).click();
    await page.getByRole('heading', { name: 'Job 41' }).waitFor();
    assert.equal(made.submitted.size, 3);
    await goTo(made.own, 'submit', 'Submit');
    assert.equal(await page.getByRole('alert').count(), 0);
  });

  it('a change of view gives the keyboard its heading, and a message moves nothing', async () => {
    const { page } = made.own;
    await goTo(made.own, 'nodes/n1', 'Node n1');
    const focused = () => page.evaluate('document.activeElement?.textContent');
    await page.waitForFunction("document.activeElement?.tagName === 'H1'");
    assert.equal(await focused(), 'Node n1');
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.waitForFunction("document.activeElement?.textContent === 'Jobs'");
    await page.waitForFunction("document.activeElement?.tagName === 'H1'");
    await goTo(made.own, 'jobs/4', 'Job 4');
    const top = () =>
      page
        .getByRole('region', { name: 'Output', exact: true })
        .evaluate((one) => one.getBoundingClientRect().top);
    await page.locator('.stream .log').first().waitFor();
    const before = await top();
    await page.getByRole('button', { name: 'Cancel' }).click();
    const question = page.getByRole('dialog', { name: /^Cancel job 4 \S+ of \S+\?$/ });
    await question.getByRole('button', { name: 'Cancel the job' }).waitFor();
    const keep = question.getByRole('button', { name: 'Keep it' });
    assert.equal(await focused(), 'Keep it');
    assert.deepEqual(await axeFindings(made.own), []);
    await keep.click();
    // Back to where it was asked.
    await page.waitForFunction("document.activeElement?.textContent === 'Cancel'");
    await page.getByRole('button', { name: 'Download' }).first().click();
    await page.locator('.told', { hasText: 'is downloaded' }).waitFor();
    assert.equal(await top(), before);
    await page.getByRole('button', { name: 'Close' }).click();
  });

  it('a narrow page has all pages behind one button', async () => {
    const { page } = made.own;
    await page.setViewportSize({ width: 400, height: 800 });
    await goTo(made.own, 'nodes', 'Nodes');
    const submit = page.getByRole('navigation').getByRole('link', { name: 'Submit' });
    assert.equal(await submit.isVisible(), false);
    await page.getByRole('button', { name: 'Menu: Nodes' }).click();
    await page.getByRole('link', { name: 'Overview' }).waitFor();
    assert.deepEqual(await axeFindings(made.own), []);
    await submit.click();
    await page.getByRole('heading', { level: 1, name: 'Submit' }).waitFor();
    await submit.waitFor({ state: 'hidden' });
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('a wide screen is used to its edge', async () => {
    const { page } = made.own;
    await page.setViewportSize({ width: 1760, height: 900 });
    const edge = async (name: string): Promise<number> => {
      const box = await page.getByRole('region', { name, exact: true }).boundingBox();
      return Math.round((box?.x ?? 0) + (box?.width ?? 0));
    };
    await goTo(made.own, '', 'Overview');
    await page.getByRole('region', { name: 'Runs and waits' }).waitFor();
    assert.equal(await edge('Runs and waits'), await edge('Nodes'));
    await goTo(made.own, 'jobs/2', 'Job 2');
    await page.getByRole('region', { name: 'Timeline' }).waitFor();
    assert.equal(await edge('Timeline'), await edge('Output'));
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('jobs that are over can be chosen to run again, and an empty form offers no command', async () => {
    const { page } = made.own;
    await goTo(made.own, 'jobs?state=all', 'Jobs');
    const chosen = page.locator('.under');
    const over = page.getByRole('row').filter({ hasText: /completed|failed/ });
    const others = over.filter({ hasNotText: 'alice' }).first().getByRole('checkbox');
    await others.check();
    await chosen.getByText('nothing can be done with what is chosen').waitFor();
    await others.uncheck();
    const own = over.filter({ hasText: 'alice' });
    await own.first().getByRole('checkbox').check();
    await chosen.getByRole('button', { name: 'Resubmit' }).waitFor();
    await goTo(made.own, 'submit', 'Submit');
    await page.getByLabel('Command, as one line').fill('');
    await page.getByText('You see it here once').waitFor();
    assert.equal(await page.getByText('weft run').count(), 0);
  });

  it('in the colours of the reader what only a colour says is still there', async () => {
    const { page } = made.own;
    await page.emulateMedia({ forcedColors: 'active' });
    await goTo(made.own, '', 'Overview');
    await page.locator('.tallies .key').nth(3).waitFor();
    const colours = await page.evaluate(`[...document.querySelectorAll('.tallies .key i')]
      .map((one) => getComputedStyle(one).backgroundColor)`);
    assert.equal(new Set(colours as string[]).size, 4, String(colours));
    await page.emulateMedia({ forcedColors: 'none' });
  });

  it('a schedule is coloured by user or job, and its sight outlasts a reload', async () => {
    const { page } = made.own;
    await goTo(made.own, 'schedule', 'Schedule');
    const legend = page.locator('.under');
    await legend.getByText('ended badly').waitFor();
    await page.getByRole('combobox', { name: 'Colours by' }).selectOption('user');
    for (const user of ['alice', 'bob', 'carol', 'dimitri'])
      await legend.getByText(user, { exact: true }).waitFor();
    assert.deepEqual(await axeFindings(made.own), []);
    await page.getByLabel('tall rows').check();
    await page.getByRole('button', { name: '6 hours' }).click();
    await page.waitForFunction('/by=user&rows=tall&from=[0-9]+&until=[0-9]+$/.test(location.hash)');
    const address = page.url();
    await page.reload();
    await page.getByRole('button', { name: '6 hours', pressed: true }).waitFor();
    assert.equal(await page.getByLabel('tall rows').isChecked(), true);
    assert.equal(page.url(), address);
  });

  it('[V20] gpus are a map of nodes by cards: work or memory, who has each, and how it was', async () => {
    const { page } = made.own;
    await goTo(made.own, 'gpus', 'Gpus');
    const card = page.locator('li[title^="gpu 1, a100-80g"]').first();
    assert.match((await card.textContent()) ?? '', /^1 a100-80g\d+ %bob$/);
    await page.locator('li[title*="GPU is lost"]').waitFor();
    assert.deepEqual(await axeFindings(made.own), []);
    const asked = page.waitForRequest(/\/v1\/samples\/gpus\?.*figure=memory/);
    await page.getByRole('button', { name: 'memory' }).click();
    await asked;
    // Of earlier times those are named who had it then, and nobody else.
    await page.getByRole('slider').press('Home');
    await page.locator('li[title="gpu 1, a100-80g: –, 9#1 of cleo"]').waitFor();
    assert.equal(await page.locator('table.cards .who').count(), 1);
    assert.match((await card.textContent()) ?? '', /^1 a100-80g–cleo$/);
    await page.getByRole('slider').press('End');
    await page.locator('table.cards .who').first().waitFor();
    await page.waitForFunction("location.hash === '#/gpus?of=memory'");
  });

  it('a site is shown as it says itself, and as its filters let it be seen', async () => {
    const { page } = made.own;
    await goTo(made.own, 'sites/hpc', 'Site hpc');
    await page.getByText('hidden by no-login-nodes').first().waitFor();
    await page.getByText('matches none of 40 nodes').waitFor();
    await page.getByRole('button', { name: 'As its filters show it' }).click();
    await page.getByRole('region', { name: /^35 nodes/ }).waitFor();
    await page.getByText('weft site show hpc --filtered', { exact: true }).waitFor();
    assert.equal(await page.getByText('hidden by').count(), 0);
    assert.deepEqual(await axeFindings(made.own), []);
  });

  it('a page is drawn as text: its boxes, words and what is on its canvases', async () => {
    const page = await (await made.browser.newContext()).newPage();
    await page.clock.setFixedTime(made.now);
    await page.addInitScript(RECORD_CANVASES);
    await page.goto(made.alone.url);
    await page.locator('.curves canvas').waitFor();
    const overview = await pageSvg(page, 'Overview');
    assert.match(overview, /<svg [^>]*aria-label="Overview"[\s\S]*Needs attention<\/text>/);
    assert.match(overview, /<path d="M[^"]+" fill="none" stroke=/);
    await page.goto(`${new URL(made.alone.url).origin}/#/schedule`);
    await page.locator('.gantt canvas').waitFor();
    // The first drawing may be of a page that has not found its size.
    await page.waitForFunction(
      "JSON.stringify(document.querySelector('.gantt canvas').marks ?? []).includes('drained')",
    );
    const schedule = await pageSvg(page, 'Schedule', (text) => text.replace('alice', 'anna'));
    for (const words of ['>n12<', '>drained: new disk<', '>anna<'])
      assert.ok(schedule.includes(words), words);
    for (const svg of [overview, schedule]) assert.ok(svg.length < 100_000 && !/<image/.test(svg));
    await page.context().close();
  });

  it('[S14] a head that is behind says so above every page, as soon as it knows', async () => {
    const { page } = made.own;
    await goTo(made.own, 'jobs', 'Jobs');
    assert.equal(await page.getByRole('alert').count(), 0);
    made.head.behind = behindWords({ lastSeq: 640, promisedSeq: 812, nodes: ['n1'] });
    made.alone.tell([{ kind: 'node_connected', node: 'n1' }]);
    const said = page.getByRole('alert').filter({ hasText: 'Behind: this head' });
    await said
      .getByText(/older than what n1 has heard.*Put the newer store back.*--accept-loss/)
      .waitFor();
    await goTo(made.own, 'nodes', 'Nodes');
    assert.deepEqual(await axeFindings(made.own), []);
    made.head.behind = null;
    made.alone.tell([{ kind: 'node_connected', node: 'n1' }]);
    await said.waitFor({ state: 'detached' });
  });

  it('[D22] a busy array is asked for once a second, a task that is done once, by brief events', async () => {
    const page = await (await made.browser.newContext()).newPage();
    const askedAt: number[] = [];
    let tasksAsked = 0;
    page.on('requestfinished', (request) => {
      if (/\/v1\/jobs\/3$/.test(request.url())) askedAt.push(request.timing().startTime);
      if (/\/v1\/jobs\/3%5B\d+%5D\/tasks$/.test(request.url())) tasksAsked += 1;
    });
    const followed = page.waitForRequest(/\/v1\/events\?brief=true$/);
    await page.goto(made.alone.url);
    await followed;
    // All that is shown is asked for once more when its answer is here.
    await page.getByText('live', { exact: true }).waitFor();
    await page.evaluate("location.hash = '#/jobs/3'");
    await page.locator('.heat + .filters .state', { hasText: 'failed' }).waitFor();
    assert.equal(tasksAsked, 1);
    while (askedAt.length < 4) {
      made.alone.tell([{ kind: 'task_done', jobId: 3 }]);
      await page.evaluate('new Promise(requestAnimationFrame)');
    }
    // A request may leave a busy browser late: without the pause all four take a few frames.
    const [first = 0, , , last = 0] = askedAt;
    assert.ok(last - first > 2000, `asked at ${askedAt.map((at) => at - first).join(', ')} ms`);
    assert.equal(tasksAsked, 1);
    await page.context().close();
  });

  it('[D12] a head that hangs is told in words, and is not called live', async () => {
    const page = await (await made.browser.newContext()).newPage();
    await page.clock.install({ time: made.now });
    await page.goto(made.alone.url);
    await page.getByText('live', { exact: true }).waitFor();
    const hangs = () => undefined;
    await page.route('**/v1/**', hangs);
    await page.evaluate("location.hash = '#/nodes'");
    await page.getByText('Loading…').first().waitFor();
    await page.clock.fastForward('00:31');
    await page.getByText(/^head silent for/).waitFor();
    assert.equal(await page.getByText('live', { exact: true }).count(), 0);
    const told = page.getByRole('alert').filter({ hasText: 'The head has said nothing for 30s' });
    await told.getByText('The page tries again by itself.').first().waitFor();
    await page.unroute('**/v1/**', hangs);
    await page.clock.fastForward('01:00');
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'n12', exact: true }).waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('every page is laid out as it was approved, at three widths', async () => {
    const different: string[] = [];
    for (const width of LAYOUT_WIDTHS) {
      await made.own.page.setViewportSize({ width, height: 900 });
      for (const [path, title] of PAGES) {
        await goTo(made.own, path, title);
        await made.own.page.locator('body:not(:has(.loading))').waitFor();
        different.push(...(await compareLayout(made.own, path, width)));
      }
    }
    assert.deepEqual(different, []);
    assert.deepEqual(made.own.faults, []);
  });
});
