// Draws docs/pictures/page-*.svg: pages of the web page as they stand in the browser, of a cluster
// of its own with jobs that run, wait and fail, removed again, and of gpus that are made up.
// Usage: page-drawings.ts [gpus], which draws these alone.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { startBrowser } from './browser.ts';
import { buildPage } from './page.ts';
import { PageAlone } from './page-alone/server.ts';
import { madeUp, SMALL } from './page-alone/world.ts';
import { pageSvg, RECORD_CANVASES } from './picture/page-svg.ts';
import { ROOT } from './tree.ts';

const PROGRAM = path.join(ROOT, 'bin', 'weft.mjs');
const FOLDER = path.join(ROOT, 'docs', 'pictures');
const WIDTH = 1200;
/** How long the jobs run before they are looked at, and a page after it was opened. */
const RUN_MS = 75_000;
const QUIET_MS = 2500;

const SWEEP =
  'sleep $((WEFT_ARRAY_INDEX % 3 + 4)); echo "energy -1.3$WEFT_ARRAY_INDEX"; test $((WEFT_ARRAY_INDEX % 23)) != 7';
/** What is submitted, as `weft run` takes it. */
const JOBS: readonly (readonly string[])[] = [
  ['--name', 'mesh', '-t', '2m', '--', 'sleep 25'],
  ['--name', 'relax', '--cpus', '2', '-t', '4m', '--', 'sleep 65'],
  ['--name', 'fit', '-t', '2m', '--', 'sleep 40; exit 3'],
  ['--name', 'sweep', '--array', '0-159%8', '-t', '30s', '--', SWEEP],
  ['--name', 'train', '-n', '2', '--cpus', '4', '-t', '3m', '--', 'sleep 300'],
  ['--name', 'assemble', '--cpus', '4', '-t', '5m', '--', 'sleep 600'],
  ['--name', 'fold', '-n', '3', '--cpus', '4', '-t', '2m', '--', 'sleep 60'],
  ['--name', 'dock', '-n', '2', '--cpus', '4', '-t', '3m', '--', 'sleep 60'],
  ['--name', 'score', '--cpus', '3', '-t', '90s', '--', 'sleep 60'],
  ['--name', 'post', '--after', '6', '-t', '5m', '--', 'true'],
];
const ARRAY = 4;
interface Picture {
  readonly name: string;
  readonly place: string;
  readonly label: string;
  readonly height: number;
}

const PICTURES: readonly Picture[] = [
  {
    name: 'overview',
    place: '',
    height: 740,
    label: 'The overview of the web page: use, nodes, load, what needs attention',
  },
  {
    name: 'schedule',
    place: 'schedule',
    height: 640,
    label: 'The schedule: nodes over time, with what ran, runs and is planned',
  },
  {
    name: 'job',
    place: `jobs/${ARRAY}`,
    height: 740,
    label: 'The page of an array: why it waits, its timeline, a map of its tasks, and output',
  },
];

const GPUS: Picture = {
  name: 'gpus',
  place: 'gpus',
  height: 640,
  label: 'All gpus of a cluster: nodes by cards, how much each works, and who has it',
};

async function main(): Promise<void> {
  await buildPage();
  await drawMadeUp();
  if (process.argv[2] !== 'gpus') await drawReal();
}

/** No cluster of one machine has so many cards. */
async function drawMadeUp(): Promise<void> {
  const alone = await PageAlone.start(madeUp(SMALL));
  await draw(alone.url, [GPUS]);
  await alone.close();
}

async function drawReal(): Promise<void> {
  const home = mkdtempSync(path.join(tmpdir(), 'weft-drawing-'));
  const weft = (...args: string[]): string => {
    const env = { ...process.env, XDG_STATE_HOME: home };
    const said = spawnSync(process.execPath, [PROGRAM, ...args], { env, encoding: 'utf8' });
    if (said.status !== 0) throw new Error(`weft ${args.join(' ')}: ${said.stderr}`);
    return said.stdout.trim();
  };
  try {
    weft('up', '--nodes', '6', '--cpus', '4', '--memory', '8G', '--listen', 'none');
    for (const job of JOBS) weft('run', '--private', ...job);
    weft('node', 'drain', 'n6', '--reason', 'new disk');
    await new Promise((resolve) => setTimeout(resolve, RUN_MS));
    await draw(weft('ui', '--print'), PICTURES);
  } finally {
    weft('down', '--clean', '--yes', '--now');
    rmSync(home, { recursive: true, force: true });
  }
}

async function draw(address: string, pictures: readonly Picture[]): Promise<void> {
  const browser = await startBrowser();
  const page = await (await browser.newContext()).newPage();
  await page.addInitScript(RECORD_CANVASES);
  await page.goto(address);
  await page.getByRole('heading', { level: 1 }).waitFor();
  for (const { name, place, label, height } of pictures) {
    await page.setViewportSize({ width: WIDTH, height });
    await page.evaluate(`location.hash = '#/${place}'`);
    if (place === 'schedule') await page.getByRole('button', { name: '15 minutes' }).click();
    await page.waitForTimeout(QUIET_MS);
    writeFileSync(path.join(FOLDER, `page-${name}.svg`), await pageSvg(page, label, neutral));
    console.log(`Wrote docs/pictures/page-${name}.svg.`);
  }
  await browser.close();
}

/** The name of this machine's user has no place in a document. */
function neutral(text: string): string {
  return text.replace(new RegExp(`\\b${userInfo().username}\\b`, 'g'), 'anna');
}

await main();
