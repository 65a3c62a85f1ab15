// A browser with the web page of a cluster that is made up, for the tests of one suite.

import { after, before } from 'node:test';
import type { Browser } from 'playwright-core';
import { startBrowser, type Visit, visit } from '../../../tools/browser.ts';
import { buildPage } from '../../../tools/page.ts';
import { type Asked, LOST, PageAlone } from '../../../tools/page-alone/server.ts';
import { madeUp } from '../../../tools/page-alone/world.ts';

export interface MadeUpPage {
  readonly alone: PageAlone;
  readonly browser: Browser;
  /** At the overview before the first test. */
  readonly own: Visit;
  /** May be changed; the page hears of it with the next event of the head. */
  readonly head: {
    behind: string | null;
    /** Answers to submissions are lost, though the job is made. */
    losesAnswers: boolean;
  };
  /** The jobs that were submitted, by key. */
  readonly submitted: Map<string, number>;
  /** Where its clocks stand still. */
  readonly now: number;
}

/** Opens it before the tests of the suite that calls this, and closes it behind them. */
export function withMadeUpPage(size: Parameters<typeof madeUp>[0]): MadeUpPage {
  const head: MadeUpPage['head'] = { behind: null, losesAnswers: false };
  const submitted = new Map<string, number>();
  // Hours of one day: around midnight times have a date, and take more room.
  const now = new Date().setHours(12, 0, 0, 0);
  const opened: { -readonly [K in keyof MadeUpPage]?: MadeUpPage[K] } = { head, now, submitted };
  const world = madeUp(size, now);
  const info = () => ({ ...world.info(), behind: head.behind });
  const submitJob = ({ key = '' }: Asked) => {
    const again = submitted.has(key);
    const jobId = submitted.get(key) ?? 40 + submitted.size;
    submitted.set(key, jobId);
    return head.losesAnswers ? LOST : { jobId, again, taskCount: 1, directory: null };
  };
  before(async () => {
    await buildPage();
    opened.alone = await PageAlone.start({ ...world, info, submitJob });
    opened.browser = await startBrowser();
    opened.own = await visit(opened.browser, opened.alone.url, now);
    await opened.own.page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
  after(async () => {
    await opened.browser?.close();
    await opened.alone?.close();
  });
  return opened as MadeUpPage;
}
