// The pages for who comes from Slurm or HyperQueue name commands, options, variables, states and
// fields of file names that this program has.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { OUTCOMES, TASK_STATES } from '../../../src/kernel/model/job.ts';
import { ROOT } from '../../../tools/tree.ts';

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const PAGES = ['slurm', 'hyperqueue'].map((name) => `docs/migration/${name}.md`);

/**
 * Options of `weft run` or `weft node drain`, as their page has them, which is made from the code.
 */
function optionsOf(words: readonly string[]): Set<string> | null {
  const [verb = '', part = ''] = words;
  const page = `docs/commands/${verb}.md`;
  if (!existsSync(path.join(ROOT, page))) return null;
  const [own = '', ...parts] = read(page).split('\n## ');
  const text = parts.find((one) => one.startsWith(`weft ${verb} ${part}\n`)) ?? own;
  if (text === own && parts.some((one) => one.startsWith(`weft ${verb} `))) return null;
  const rows = [...text.matchAll(/^\| `(-[^`]+)` \|/gm)].map(([, flags = '']) => flags);
  return new Set(rows.flatMap((flags) => flags.match(/(?<![\w-])--?[a-z][a-z-]*/g) ?? []));
}

const submit = optionsOf(['submit']) ?? new Set<string>();

function checkCommand(code: string, where: string): void {
  const words = code.split(' ').slice(1);
  const options = optionsOf(words);
  assert.ok(options !== null, `${where}: there is no such command`);
  const [own = ''] = code.split(' -- ');
  for (const [option] of own.matchAll(/(?<= )--?[a-z][a-z-]*/g)) {
    assert.ok(options.has(option), `${where}: it has no ${option}`);
  }
}

/** A piece of code in the column of what is here. */
function checkOurs(code: string, where: string): void {
  if (code.startsWith('weft ')) return checkCommand(code, where);
  if (code.startsWith('#WEFT ')) {
    for (const [option] of code.matchAll(/--[a-z-]+/g)) assert.ok(submit.has(option), where);
    for (const [, field = ''] of code.matchAll(/%(.)/g)) assert.match(field, /[jateNnpxu%]/, where);
  } else if (code.startsWith('-')) assert.ok(submit.has(code), where);
  else if (/^[A-Z_]+$/.test(code)) {
    assert.ok(read('docs/variables.md').includes(`\`${code}\``), where);
  } else {
    const states: readonly string[] = [...TASK_STATES, ...OUTCOMES, 'held'];
    assert.ok(states.includes(code), where);
  }
}

for (const page of PAGES) {
  test(`${page} names what there is here`, () => {
    const text = read(page);
    let checked = 0;
    for (const line of text.split('\n')) {
      for (const [, code = ''] of line.matchAll(/`(weft [^`]+)`/g)) {
        checkCommand(code.replaceAll('\\|', '|'), `${page}: ${code}`);
      }
      const [, , ours = ''] = line.split(/(?<!\\)\|/);
      if (!line.startsWith('| ') || ours.trim() === 'here') continue;
      for (const [, code = ''] of ours.matchAll(/`([^`]+)`/g)) {
        checkOurs(code.replaceAll('\\|', '|'), `${page}: ${code}`);
        checked += 1;
      }
    }
    assert.ok(checked > 60, String(checked));
  });
}
