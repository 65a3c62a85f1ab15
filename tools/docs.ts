// Writes the pages of docs/ that are made from the code. With --check it only says what differs.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { KEPT_FROM, makePages, type Page } from './docs/pages.ts';

const root = path.resolve(import.meta.dirname, '..');
const checkOnly = process.argv.includes('--check');
let differing = 0;

for (const page of await makePages()) {
  const file = path.join(root, page.path);
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const after = withKept(page, before);
  if (before === after) continue;
  differing += 1;
  process.stdout.write(`${checkOnly ? 'differs' : 'wrote'}: ${page.path}\n`);
  if (checkOnly) continue;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, after);
}
if (checkOnly && differing > 0) {
  process.stdout.write('Run tools/docs.ts and look at what changed.\n');
  process.exitCode = 1;
}

function withKept({ text, kept }: Page, before: string): string {
  const at = before.indexOf(`\n${KEPT_FROM}`);
  return kept && at !== -1 ? `${text}${before.slice(at)}` : text;
}
