// The documents agree with the program and with each other. Pages that are made from the code are
// compared in test/unit/wings/docs.test.ts.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { verbsOf } from '../../../src/kernel/cli/verbs.ts';
import { schemaOf } from '../../../src/kernel/config/schema.ts';
import { CODES } from '../../../src/kernel/model/errors.ts';
import { WINGS } from '../../../src/wings.ts';
import { ERROR_HELP } from '../../../tools/docs/error-help.ts';
import { filesBelow, ROOT } from '../../../tools/tree.ts';
import { readBlocks } from '../../support/console-blocks.ts';

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const typedIn = (page: string) =>
  readBlocks(read(page)).flatMap((block) => (block.kind === 'run' ? block.typed : []));
const pages = filesBelow('.', '.md').filter((page) => !page.includes('fixtures'));

test('every error code has a section that says what it means and what to do', () => {
  const page = read('docs/errors.md');
  for (const code of Object.keys(CODES) as (keyof typeof CODES)[]) {
    const [, section = ''] = page.split(`\n### ${code}\n`);
    const [text = ''] = section.split('\n### ');
    assert.ok(text.includes(ERROR_HELP[code].means), code);
    assert.ok(text.includes(`**Next:** ${ERROR_HELP[code].next}`), code);
  }
});

test('every error code is provoked by a test', () => {
  const tests = filesBelow('test', '.ts').map(read).join('\n');
  const unseen = Object.keys(CODES).filter(
    // Tests that look for a code in raw bytes write it as a pattern.
    (code) => !tests.includes(code) && !tests.includes(code.replace('.', '\\.')),
  );
  assert.deepEqual(unseen, []);
});

test('every command that a page names exists', () => {
  const known = new Set(verbsOf(WINGS).map(({ name }) => name));
  for (const page of pages) {
    for (const [, verb = ''] of read(page).matchAll(/(?:`|^ *(?:\$ )?)(?:npx )?weft ([a-z]+)/gm)) {
      assert.ok(known.has(verb), `${page}: weft ${verb}`);
    }
  }
});

test('every command of a group that a page, a message or a template names exists', () => {
  const groups = new Map<string, Set<string>>();
  for (const page of filesBelow('docs/commands', '.md')) {
    for (const [, group = '', verb = ''] of read(page).matchAll(/^## weft ([a-z]+) ([a-z-]+)/gm))
      groups.set(group, (groups.get(group) ?? new Set()).add(verb));
  }
  assert.ok(groups.size > 5);
  const sources = [...filesBelow('src', '.ts'), ...filesBelow('src', '.tsx')];
  for (const file of [...pages, ...sources]) {
    for (const [words, group = '', verb = ''] of read(file).matchAll(
      /\bweft ([a-z]+) ([a-z][a-z-]+)/g,
    ))
      assert.ok(groups.get(group)?.has(verb) ?? true, `${file}: ${words}`);
  }
});

test("no page has npm fetch the stranger's package that has our name", () => {
  for (const page of pages) {
    const found = /\bnpm (?:install|i|add)(?: -\S+)* weft(?:@\S+)?(?=[\s`]|$)/m;
    assert.doesNotMatch(read(page), found, page);
  }
});

test('a page has one name for a job, and tasks of the job that was asked for', () => {
  for (const page of pages) {
    const names = new Map<string, string>();
    for (const { command, output } of typedIn(page)) {
      if (/\bweft (?:up|down)\b/.test(command)) names.clear();
      const asked =
        /^weft (?:history --tasks|job|status|logs)\b[^;|]*?\b(\d+)(?:\[\d+\])?'?(?: |$)/.exec(
          command,
        );
      for (const line of output) {
        const [, job] = /^(\d+)\[\d+\]/.exec(line) ?? [];
        if (asked && job) assert.equal(job, asked[1], `${page}: ${command}\n${line}`);
      }
      if (!/^JOB +NAME /.test(output[0] ?? '')) continue;
      for (const line of output) {
        const [, job = '', name = ''] = /^ *(\d+) +(\S+) /.exec(line) ?? [];
        const known = names.get(job) ?? name;
        if (job !== '') assert.equal(name, known, `${page}: ${command}\n${line}`);
        names.set(job, name);
      }
    }
  }
});

test('every link between the documents leads somewhere', () => {
  assert.ok(pages.length > 40, 'the pages were found');
  for (const page of pages) {
    const links = read(page).matchAll(/\]\(([^)#\s]+)|<img src="([^"]+)"/g);
    for (const [, link, picture] of links) {
      const target = link ?? picture ?? '';
      if (/^[a-z]+:/.test(target)) continue;
      assert.ok(existsSync(path.join(ROOT, path.dirname(page), target)), `${page}: ${target}`);
    }
  }
});

test('every document is in the index', () => {
  const index = read('docs/README.md');
  for (const page of filesBelow('docs', '.md')) {
    const name = path.relative('docs', page);
    if (name === 'README.md' || name.startsWith('commands/')) continue;
    assert.ok(index.includes(`](${name})`), name);
  }
});

test('the picture in the README shows commands that the README or npm start suggests', () => {
  const readme = read('README.md');
  assert.ok(readme.includes('docs/pictures/first-steps.svg'));
  const picture = read('docs/pictures/first-steps.svg');
  for (const command of ['npm start', 'npx weft info']) {
    assert.ok(readme.includes(command) && picture.includes(command), command);
  }
});

test('defaults that pages name are those of the program', async () => {
  const { keys } = await schemaOf(WINGS);
  const defaults = new Map(keys.map((key) => [key.name, key.default]));
  let compared = 0;
  for (const page of pages) {
    const rows = read(page).matchAll(
      /^\| `([a-z]+\.[a-z_.]+)` \|[^|]*\((\d+(?:[KMGTsmhd]|ms)?)\)/gm,
    );
    for (const [, key = '', value] of rows) {
      if (!defaults.has(key)) continue;
      compared += 1;
      assert.equal(value, defaults.get(key), `${page}: ${key}`);
    }
  }
  assert.ok(compared >= 3, String(compared));
});
