// Debian's chromium on the web page, for tests, measurements and pictures: with everything kept
// that a page must never do.

import { spawnSync } from 'node:child_process';
import { type Browser, chromium, type Page } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

/** Why tests with a browser are left out; false: they are not. */
export const NO_BROWSER: string | false =
  spawnSync(CHROMIUM, ['--version']).status === 0 ? false : 'there is no chromium';

/** Generous: the machine may be busy with other tests. */
const PATIENCE_MS = 60_000;

/** A page with what it did wrong: errors of its scripts, requests to other hosts. */
export interface Visit {
  readonly page: Page;
  readonly faults: string[];
}

export function startBrowser(): Promise<Browser> {
  // Tests run as root in places where the sandbox of chromium cannot be made.
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
}

/** A browser of its own: no other visit's cookie. `now`: where its clock stands still. */
export async function visit(browser: Browser, url: string, now?: number): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  if (now !== undefined) await page.clock.setFixedTime(now);
  const faults: string[] = [];
  const { host } = new URL(url);
  page.on('pageerror', (error) => faults.push(String(error.stack)));
  page.on('console', (message) => {
    // Requests that fail while the head is away are told on the page.
    const isNetwork = /^Failed to load resource/.test(message.text());
    if (message.type() === 'error' && !isNetwork) faults.push(message.text());
  });
  page.on('request', (request) => {
    const asked = new URL(request.url());
    if (asked.protocol.startsWith('http') && asked.host !== host) faults.push(request.url());
  });
  await page.goto(url);
  return { page, faults };
}

/** To another page of the same visit. */
export async function goTo({ page }: Visit, path: string, title: string): Promise<void> {
  await page.evaluate(`location.hash = '#/${path}'`);
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
}
