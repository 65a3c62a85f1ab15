// The manual pages: one for every command, with all of its options, and roff that man(1) can read.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { verbsOf } from '../../../src/kernel/cli/verbs.ts';
import { WINGS } from '../../../src/wings.ts';
import { makeManPages } from '../../../tools/docs/man-pages.ts';
import { ROOT } from '../../../tools/tree.ts';

const lacksGroff = spawnSync('groff', ['--version']).status !== 0;
const skip = process.env['CI'] !== 'true' && lacksGroff && 'needs groff';

/** The page that a reader sees, without the marks of bold and underlined letters. */
function render(text: string): { shown: string; warnings: string } {
  const args = ['-man', '-Tutf8', '-ww', '-P-cbou'];
  const done = spawnSync('groff', args, { input: text, encoding: 'utf8' });
  return { shown: done.stdout, warnings: done.error?.message ?? done.stderr };
}

test('every command and every program has a manual page', async () => {
  const files = (await makeManPages()).map(({ file }) => file);
  const wanted = verbsOf(WINGS).map(({ name }) => `weft-${name}.1`);
  for (const file of ['weft.1', 'cminfo.1', 'cmrun.1', ...wanted])
    assert.ok(files.includes(file), file);
  assert.equal(new Set(files).size, files.length);
});

test('package.json names every manual page: npm links no others', async () => {
  const { man } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  const made = (await makeManPages()).map(({ file }) => `dist/man/${file}`);
  assert.deepEqual(man, made, 'run tools/docs.ts');
});

test('no manual page has a warning, and each says its name first', { skip }, async () => {
  for (const { file, text } of await makeManPages()) {
    const { shown, warnings } = render(text);
    assert.equal(warnings, '', file);
    const name = file.replace('.1', '');
    assert.match(shown, new RegExp(`NAME\\n +${name} - \\w`), file);
  }
});

test('a page has options, operands and what they are as `--help` has them', { skip }, async () => {
  const pages = await makeManPages();
  const shown = (file: string) =>
    render(pages.find((page) => page.file === file)?.text ?? '').shown;
  assert.match(shown('weft-run.1'), /weft run \[options\] \[--\] <command>/);
  assert.match(shown('weft-run.1'), /-n, --nodes <count>\n +Nodes\./);
  assert.match(shown('weft-run.1'), /--dir <directory>/);
  assert.match(shown('weft-node.1'), /weft node drain\n +Give nodes no new work\./);
  assert.match(shown('weft.1'), /weft run\(1\)\n +Run a command on the cluster\./);
});
