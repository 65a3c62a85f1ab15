// An array of so many tasks open on the web page: what the page gets, and what it costs the head,
// while the array waits and while its tasks run. Usage: page-array.ts [TASKS] [SECONDS].

import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { goTo, startBrowser, visit } from '../tools/browser.ts';
import { buildPage } from '../tools/page.ts';
import { type Cluster, figure, startCluster } from './cluster.ts';

const [tasks = 100_000, seconds = 15] = process.argv.slice(2).map(Number);
/** Each runs so long: with two cpus some twenty end a second, and none is ever next for long. */
const TASK_SECONDS = '0.1';

await buildPage();
const cluster = await startCluster({ nodes: 1, cpus: 2 });
const browser = await startBrowser();
try {
  const array = { indices: `0-${tasks - 1}` };
  const program = { kind: 'argv', argv: ['sleep', TASK_SECONDS] };
  const submission = { program, array, directory: { kind: 'shared', path: '/' } };
  const { jobId } = await cluster.call<{ jobId: number }>('POST', '/v1/jobs', {
    ...submission,
    held: true,
  });
  await measure('waits', jobId);
  await cluster.call('POST', `/v1/jobs/${jobId}/release`);
  await measure('runs', jobId);
} finally {
  await browser.close();
  cluster.stop();
}

/** The head by itself first: what its tasks cost it is no matter of the page. */
async function measure(name: string, jobId: number): Promise<void> {
  const alone = await headShare(cluster);
  const seen = await visit(browser, cluster.cli('ui', '--print').trim());
  const { page } = seen;
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const bytes = await countBytes(page);
  // Only of a line that is opened from now on all is counted.
  await page.reload();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const opened = bytes();
  await goTo(seen, `jobs/${jobId}`, `Job ${jobId}`);
  await page.locator('.heat canvas').waitFor();
  figure(`page_array_${name}_opened`, 'KiB', [(bytes() - opened) / 1024], { tasks });
  const before = bytes();
  const share = await headShare(cluster);
  figure(`page_array_${name}_bytes`, 'KiB', [(bytes() - before) / 1024], { tasks, seconds });
  figure(`page_array_${name}_head`, '% of a core', [share - alone], { tasks, seconds, alone });
  await page.context().close();
}

/** Bytes that have come over the line, as the browser counts them: compressed, with headers. */
async function countBytes(page: Page): Promise<() => number> {
  const session = await page.context().newCDPSession(page);
  let bytes = 0;
  session.on('Network.dataReceived', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await session.send('Network.enable');
  return () => bytes;
}

async function headShare({ headCpuSeconds }: Cluster): Promise<number> {
  const [before, from] = [headCpuSeconds(), performance.now()];
  await sleep(seconds * 1000);
  return ((headCpuSeconds() - before) * 100_000) / (performance.now() - from);
}
