// The web page: its size, how soon it shows something with so many jobs, how soon an event is on
// it, how smoothly long tables scroll, and what open pages cost the head. Usage: ui.ts [JOBS]
// [PAGES].

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { goTo, startBrowser, visit } from '../tools/browser.ts';
import { buildPage } from '../tools/page.ts';
import { PageAlone } from '../tools/page-alone/server.ts';
import { LARGE, madeUp } from '../tools/page-alone/world.ts';
import { type Cluster, figure, startCluster } from './cluster.ts';

const [jobs = 10_000, pages = 50] = process.argv.slice(2).map(Number);
const REPEATS = 10;
const WATCHED_SECONDS = 30;
const EVENTS = 300;
const BULK_MAX = 1000;
const HELD = { program: { kind: 'argv', argv: ['true'] }, held: true };

/** Frames a second while the table is scrolled through. */
const SCROLL = `new Promise((resolve) => {
  const box = document.querySelector('.long');
  const from = performance.now();
  let frames = 0;
  const step = () => {
    frames += 1;
    box.scrollTop += 400;
    const passed = performance.now() - from;
    if (passed < 3000) requestAnimationFrame(step);
    else resolve((frames * 1000) / passed);
  };
  requestAnimationFrame(step);
})`;

await buildPage();
measureSize();
const cluster = await startCluster({ nodes: 4, cpus: 2 });
const browser = await startBrowser();
try {
  await fill(cluster);
  await measurePage();
  await measureScrolling();
  await measureCost();
} finally {
  await browser.close();
  cluster.stop();
}

function measureSize(): void {
  const folder = join(import.meta.dirname, '..', 'dist', 'dashboard');
  const files = readdirSync(folder).filter((name) => name.endsWith('.js.br'));
  const bytes = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  figure('ui_script_compressed', 'KiB', [bytes / 1024]);
}

async function fill({ call }: Cluster): Promise<void> {
  for (let left = jobs; left > 0; left -= BULK_MAX) {
    const some = Array.from({ length: Math.min(left, BULK_MAX) }, () => ({ submission: HELD }));
    await call('POST', '/v1/jobs/bulk', { jobs: some });
  }
}

async function measurePage(): Promise<void> {
  const seen = await visit(browser, cluster.cli('ui', '--print').trim());
  const { page } = seen;
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await goTo(seen, 'jobs', 'Jobs');
  const first: number[] = [];
  for (let time = 0; time < REPEATS; time += 1) {
    await page.reload();
    await page.locator('.long .body a').first().waitFor();
    first.push(await firstRowMs(page));
  }
  figure('ui_first_rows', 'ms', first, { jobs });
  await measureEvents(page);
}

/** A list of the length that matters, of a cluster that is made up: the page's own work alone. */
async function measureScrolling(): Promise<void> {
  const alone = await PageAlone.start(madeUp(LARGE));
  const seen = await visit(browser, alone.url);
  const { page } = seen;
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await goTo(seen, 'jobs', 'Jobs');
  await page.locator('.long .body a').first().waitFor();
  while ((await rowCount(page)) < LARGE.jobs) {
    await page.evaluate(
      '((box) => (box.scrollTop = box.scrollHeight))(document.querySelector(".long"))',
    );
    await sleep(100);
  }
  await page.evaluate('document.querySelector(".long").scrollTop = 0');
  const frames: number[] = [];
  for (let time = 0; time < REPEATS / 2; time += 1) {
    frames.push((await page.evaluate(SCROLL)) as number);
  }
  figure('ui_scroll_frames', 'Hz', frames, { rows: await rowCount(page) });
  await page.context().close();
  await alone.close();
}

/** From the navigation to the first row in the document, as the page itself has it. */
async function firstRowMs(page: Page): Promise<number> {
  return (await page.evaluate('performance.getEntriesByName("first-rows")[0].startTime')) as number;
}

async function rowCount(page: Page): Promise<number> {
  return Number(await page.locator('.long .table').getAttribute('aria-rowcount')) - 1;
}

/** From the answer of a submission, which is after its commit, to the row. */
async function measureEvents(page: Page): Promise<void> {
  const delays: number[] = [];
  for (let time = 0; time < REPEATS; time += 1) {
    const { jobId } = await cluster.call<{ jobId: number }>('POST', '/v1/jobs', HELD);
    const at = Date.now();
    await page.locator(`.long a[href$="/jobs/${jobId}"]`).waitFor();
    delays.push(Date.now() - at);
    await sleep(400);
  }
  figure('ui_event_on_page', 'ms', delays, { jobs });
}

/** The head's CPU with nobody and with so many pages, at rest and for each event. */
async function measureCost(): Promise<void> {
  await costOf(0);
  const token = cluster.cli('token', 'create').trim();
  const base = new URL(cluster.cli('ui', '--print').trim()).origin;
  const gone = new AbortController();
  await Promise.all(Array.from({ length: pages }, () => follow(base, token, gone.signal)));
  await costOf(pages);
  gone.abort();
}

/** What an open page does while nothing is asked for. */
async function follow(base: string, token: string, signal: AbortSignal): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${base}/v1/events?brief=true`, { headers, signal });
  const drain = async (): Promise<void> => {
    for await (const _ of response.body as unknown as AsyncIterable<Uint8Array>);
  };
  drain().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

async function costOf(open: number): Promise<void> {
  await sleep(3000);
  const idle = cluster.headCpuSeconds();
  await sleep(WATCHED_SECONDS * 1000);
  const share = ((cluster.headCpuSeconds() - idle) * 100) / WATCHED_SECONDS;
  figure('ui_head_idle', '% of a core', [share], { pages: open });
  const before = cluster.headCpuSeconds();
  for (let event = 0; event < EVENTS; event += 1) await cluster.call('POST', '/v1/jobs', HELD);
  const spent = cluster.headCpuSeconds() - before;
  figure('ui_head_per_submission', 'us', [(spent * 1e6) / EVENTS], { pages: open });
}
