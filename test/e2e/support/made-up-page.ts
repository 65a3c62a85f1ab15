// A browser with the web page of a cluster that is made up, for the tests of one suite.

import { after, before } from 'node:test';
import type { Browser } from 'playwright-core';
import { startBrowser, type Visit, visit } from '../../../tools/browser.ts';
import { buildPage } from '../../../tools/page.ts';
import { PageAlone } from '../../../tools/page-alone/server.ts';
import { madeUp } from '../../../tools/page-alone/world.ts';

export interface MadeUpPage {
  readonly alone: PageAlone;
  readonly browser: Browser;
  /** At the overview before the first test. */
  readonly own: Visit;
}

/** Opens it before the tests of the suite that calls this, and closes it behind them. */
export function withMadeUpPage(size: Parameters<typeof madeUp>[0]): MadeUpPage {
  const opened: { alone?: PageAlone; browser?: Browser; own?: Visit } = {};
  before(async () => {
    await buildPage();
    opened.alone = await PageAlone.start(madeUp(size));
    opened.browser = await startBrowser();
    opened.own = await visit(opened.browser, opened.alone.url);
    await opened.own.page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
  after(async () => {
    await opened.browser?.close();
    await opened.alone?.close();
  });
  return opened as MadeUpPage;
}
