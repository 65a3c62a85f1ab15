// Draws docs/pictures/first-steps.svg from a real run: the commands of the README, typed on a
// cluster of its own that is removed again. What they print is what the picture shows.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { type TerminalLine, terminalSvg } from './picture/terminal-svg.ts';
import { ROOT } from './tree.ts';

const COMMANDS = [
  'npm start',
  "npx weft run --array 0-19 'sleep 3; echo point $WEFT_ARRAY_INDEX'",
  'npx weft info',
  'npx weft why 2',
  'npx weft wait 2',
  "npx weft logs '2[7]'",
  'npx weft history',
];
const COLUMNS = 100;
const FILE = path.join(ROOT, 'docs', 'pictures', 'first-steps.svg');

function main(): void {
  const home = mkdtempSync(path.join(tmpdir(), 'weft-picture-'));
  try {
    const lines = COMMANDS.flatMap((command) => [
      { text: command, typed: true },
      ...type(command, home),
      { text: '', typed: false },
    ]);
    lines.pop();
    writeFileSync(FILE, terminalSvg(lines, { title: 'weft', columns: COLUMNS }));
    console.log(`Wrote ${path.relative(ROOT, FILE)}.`);
  } finally {
    run('npm run clean', home);
    rmSync(home, { recursive: true, force: true });
  }
}

function type(command: string, home: string): TerminalLine[] {
  const { status, stdout, stderr } = run(command, home);
  if (status !== 0) throw new Error(`${command}: exit ${status}\n${stdout}${stderr}`);
  // `npm start` ends with what `weft info` shows, which comes later here, and with what to try.
  const shown = command === 'npm start' ? `${stdout.split('\nCluster ')[0]}\n…` : stdout;
  const text = neutral(shown, home).trim();
  return text === '' ? [] : text.split('\n').map((line) => ({ text: line, typed: false }));
}

function run(command: string, home: string) {
  const env = { ...process.env, XDG_STATE_HOME: home, npm_config_loglevel: 'silent' };
  return spawnSync('sh', ['-c', command], { cwd: ROOT, env, encoding: 'utf8' });
}

/** Names of this machine and its user have no place in a document; the columns stay in line. */
function neutral(text: string, home: string): string {
  const { username } = userInfo();
  return text
    .replaceAll(home, '~/.local/state')
    .replaceAll(`head on ${hostname()} `, 'head on desk ')
    .replaceAll(` ${username} `, ` ${'anna'.padEnd(username.length)} `);
}

main();
