// Keeps figures: `npm run bench -- array | node bench/record.ts` appends what was measured to
// bench/history.jsonl, draws docs/pictures/figures.svg anew and names what is slower than it was.

import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { entriesOf, readHistory, worseThan } from './history/history.ts';
import { plot } from './history/plot.ts';

const FILE = join(import.meta.dirname, 'history.jsonl');
const PICTURE = join(import.meta.dirname, '..', 'docs', 'pictures', 'figures.svg');
const TO_THE_MINUTE = 16;

const git = (...args: string[]): string => {
  return execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
};

const output = await text(process.stdin);
process.stdout.write(output);
const changed = git('status', '--porcelain', '--', '../src', '../launcher') === '' ? '' : '+';
const fresh = entriesOf(output, {
  at: `${new Date().toISOString().slice(0, TO_THE_MINUTE)}Z`,
  commit: `${git('rev-parse', '--short=8', 'HEAD')}${changed}`,
  load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
});
if (fresh.length === 0) {
  console.error('record: nothing that was printed is a figure; use it behind `npm run bench`.');
  process.exit(1);
}
const before = existsSync(FILE) ? readHistory(readFileSync(FILE, 'utf8')) : [];
appendFileSync(FILE, fresh.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
writeFileSync(PICTURE, plot([...before, ...fresh]));
const worse = worseThan(before, fresh);
for (const words of worse) console.log(`slower: ${words}`);
console.log(`${fresh.length} figures are kept in bench/history.jsonl`);
