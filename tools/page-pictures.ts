// Takes pictures of every page of the web page of the cluster that runs, in both colour schemes and
// at three widths, for looking at them: `node tools/page-pictures.ts [FOLDER]`, by default
// dist/page-pictures. None is kept in the repository: they are no text.

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { startBrowser, visit } from './browser.ts';
import { ROOT } from './tree.ts';
import { outputOfWeft } from './weft.ts';

const WIDTHS = [1280, 800, 400];
const QUIET_MS = 700;
const PAGES = [
  ...['', 'jobs', 'jobs/1', 'nodes', 'nodes/n1', 'schedule', 'gpus', 'batches', 'pools', 'sites'],
  ...['accounting', 'submit'],
];

async function main(): Promise<void> {
  const folder = path.resolve(process.argv[2] ?? path.join(ROOT, 'dist', 'page-pictures'));
  mkdirSync(folder, { recursive: true });
  const browser = await startBrowser();
  const { page, faults } = await visit(browser, outputOfWeft('ui', '--print'));
  await page.getByRole('heading', { level: 1 }).waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of WIDTHS) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      for (const one of PAGES) {
        await page.evaluate(`location.hash = '#/${one}'`);
        // What is drawn and asked for comes a moment after the page.
        await page.waitForTimeout(QUIET_MS);
        const name = `${one.replaceAll('/', '-') || 'overview'}-${width}-${colorScheme}.png`;
        await page.screenshot({ path: path.join(folder, name) });
      }
    }
  }
  await browser.close();
  for (const fault of faults) console.log(fault);
  console.log(`The pictures are in ${folder}.`);
}

await main();
