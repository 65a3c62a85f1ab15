// Writes the pages of docs/ that are made from the code, the figures of README.md, and the list of
// manual pages in package.json: npm links those that stand there. With --check it only says what
// differs.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { withFigures } from './docs/front-figures.ts';
import { makeManPages } from './docs/man-pages.ts';
import { KEPT_FROM, makePages, type Page } from './docs/pages.ts';

const root = path.resolve(import.meta.dirname, '..');
const checkOnly = process.argv.includes('--check');
let differing = 0;

for (const page of await makePages()) update(page.path, (before) => withKept(page, before));
const results = readFileSync(path.join(root, 'bench', 'RESULTS.md'), 'utf8');
update('README.md', (before) => withFigures(before, results));
const man = (await makeManPages()).map(({ file }) => `dist/man/${file}`);
update('package.json', (before) => `${JSON.stringify({ ...JSON.parse(before), man }, null, 2)}\n`);
if (checkOnly && differing > 0) {
  process.stdout.write('Run tools/docs.ts and look at what changed.\n');
  process.exitCode = 1;
}

function update(name: string, made: (before: string) => string): void {
  const file = path.join(root, name);
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const after = made(before);
  if (before === after) return;
  differing += 1;
  process.stdout.write(`${checkOnly ? 'differs' : 'wrote'}: ${name}\n`);
  if (checkOnly) return;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, after);
}

function withKept({ text, kept }: Page, before: string): string {
  const at = before.indexOf(`\n${KEPT_FROM}`);
  return kept && at !== -1 ? `${text}${before.slice(at)}` : text;
}
