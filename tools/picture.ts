// Draws docs/pictures/first-steps.svg and batch.svg from real runs: commands typed on a cluster of
// their own that is removed again. What they print is what the pictures show.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { type TerminalLine, terminalSvg } from './picture/terminal-svg.ts';
import { ROOT } from './tree.ts';

interface Picture {
  readonly file: string;
  /** Where the commands are typed, below the root. */
  readonly folder: string;
  /** Typed before, unseen. */
  readonly before: readonly string[];
  readonly commands: readonly string[];
}

const PICTURES: readonly Picture[] = [
  {
    file: 'first-steps.svg',
    folder: '.',
    before: [],
    commands: [
      'npm start',
      "npx weft run --array 0-19 'sleep 3; echo point $WEFT_ARRAY_INDEX'",
      'npx weft info',
      'npx weft why 2',
      'npx weft wait 2',
      "npx weft logs '2[7]'",
      'npx weft history',
    ],
  },
  {
    file: 'batch.svg',
    folder: 'examples/diffusion',
    before: ['npm start --prefix ../..'],
    commands: [
      'weft batch check',
      'weft batch submit --wait',
      'weft batch show lab/diffusion',
      "weft batch pull lab/diffusion --glob '*.csv' --save-dir $SAVED",
      'tail -qn1 $SAVED/lab/diffusion/T1.0-*/msd.csv',
    ],
  },
];
const COLUMNS = 100;
const FOLDER = path.join(ROOT, 'docs', 'pictures');

function main(): void {
  const [wanted] = process.argv.slice(2);
  for (const picture of PICTURES) if ((wanted ?? picture.file) === picture.file) draw(picture);
}

function draw({ file, folder, before, commands }: Picture): void {
  const home = mkdtempSync(path.join(tmpdir(), 'weft-picture-'));
  const place = { home, cwd: path.join(ROOT, folder) };
  mkdirSync(path.join(home, 'bin'));
  symlinkSync(path.join(ROOT, 'bin', 'weft.mjs'), path.join(home, 'bin', 'weft'));
  try {
    for (const command of before) type(command, place);
    const lines = commands.flatMap((command) => [
      { text: command, typed: true },
      ...type(command, place),
      { text: '', typed: false },
    ]);
    lines.pop();
    const svg = terminalSvg(lines, { title: 'weft', columns: COLUMNS });
    writeFileSync(path.join(FOLDER, file), svg.replaceAll('$SAVED', 'results'));
    console.log(`Wrote docs/pictures/${file}.`);
  } finally {
    run('npm run clean -- --yes', { home, cwd: ROOT });
    rmSync(home, { recursive: true, force: true });
  }
}

interface PictureHome {
  /** The state directory is below it. */
  readonly home: string;
  readonly cwd: string;
}

function type(command: string, place: PictureHome): TerminalLine[] {
  const { status, stdout, stderr } = run(command, place);
  if (status !== 0) throw new Error(`${command}: exit ${status}\n${stdout}${stderr}`);
  // `npm start` ends with what `weft info` shows, which comes later here, and with what to try.
  const shown = command === 'npm start' ? `${stdout.split('\nCluster ')[0]}\n…` : stdout;
  const text = neutral(shown, place.home).trim();
  return text === '' ? [] : text.split('\n').map((line) => ({ text: line, typed: false }));
}

function run(command: string, { home, cwd }: PictureHome) {
  const env = {
    ...process.env,
    PATH: `${path.join(home, 'bin')}:${process.env['PATH']}`,
    SAVED: path.join(home, 'results'),
    XDG_STATE_HOME: home,
    npm_config_loglevel: 'silent',
  };
  return spawnSync('sh', ['-c', command], { cwd, env, encoding: 'utf8' });
}

/** Names of this machine and its user have no place in a document; the columns stay in line. */
function neutral(text: string, home: string): string {
  const { username } = userInfo();
  return text
    .replaceAll(path.join(home, 'results'), 'results')
    .replaceAll(home, '~/.local/state')
    .replaceAll(`head on ${hostname()} `, 'head on desk ')
    .replaceAll(` ${username} `, ` ${'anna'.padEnd(username.length)} `);
}

main();
