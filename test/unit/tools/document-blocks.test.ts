// Every block of the documents is data, or typed by a test (test/e2e/documents.test.ts), or says
// why it is not; and the shape that outputs are compared by tells right from wrong.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { filesBelow, ROOT } from '../../../tools/tree.ts';
import { readBlocks } from '../../support/console-blocks.ts';
import { hasShape } from '../../support/output-shape.ts';

/** Blocks that no test types. Whoever adds one has a reason, and changes this number. */
const NOT_RUN = 79;

const PAGES = ['README.md', ...filesBelow('docs', '.md')];
const blocks = PAGES.flatMap((page) =>
  readBlocks(readFileSync(path.join(ROOT, page), 'utf8')).map((block) => ({ page, ...block })),
);

test('every block of commands is run, or says why not', () => {
  const unmarked = blocks.filter(({ kind }) => kind === 'unmarked');
  assert.deepEqual(
    unmarked.map(({ page, line }) => `${page}:${line}`),
    [],
  );
  assert.ok(blocks.filter(({ kind }) => kind === 'run').length > 40);
});

test('the blocks that are not run are counted, and each has a reason', () => {
  const reasons = blocks.flatMap((block) => (block.kind === 'not_run' ? [block.reason] : []));
  assert.ok(reasons.every((reason) => reason.length > 10));
  assert.equal(reasons.length, NOT_RUN);
});

test('a block has what was typed before it, what is typed, and what came of it', () => {
  const page =
    '# p\n\n<!-- before\n$ weft run true\n3\n-->\n```\n$ weft \\\n  wait 3; echo $?\n3 ok\n0\n```\n';
  assert.deepEqual(readBlocks(page), [
    {
      kind: 'run',
      line: 7,
      before: [{ command: 'weft run true', output: ['3'] }],
      typed: [{ command: 'weft \\\n  wait 3; echo $?', output: ['3 ok', '0'] }],
    },
  ]);
});

test('a file that is typed is a part of its command, up to the word that ends it', () => {
  const page = "```\n$ cat > a.py <<'END'\nprint(1)\n\n$ no prompt\nEND\n$ weft run ./a\n1\n```\n";
  const [block] = readBlocks(page);
  assert.ok(block?.kind === 'run');
  assert.deepEqual(block.typed, [
    { command: "cat > a.py <<'END'\nprint(1)\n\n$ no prompt\nEND", output: [] },
    { command: 'weft run ./a', output: ['1'] },
  ]);
});

const SAME: readonly (readonly [shown: string, said: string])[] = [
  ['in 1h29m59s on n1', 'in 12s on n4'],
  ['starts at 2026-11-21T10:28:39Z, in 5m', 'starts at 2027-01-02T00:00:00Z, in 1h3m'],
  ['5  long   anna  running  1.2s  n1', '17  long  anna  running  13s  n1,n2'],
  ['arch=x64,docker,os=linux', 'arch=arm64,os=linux'],
  ['from 18:00:00 for 2h', 'from Nov 22 02:00 for 30m'],
  ['Its secret: …', 'Its secret: wt_0123456789ab_abc'],
];
const OTHER: readonly (readonly [shown: string, said: string])[] = [
  ['5 long running', '5 long pending'],
  ['Job 9 is held.', 'Job 9 is not held.'],
  ['a', ''],
  ['rank 0 of 2', 'rank 0 of n2'],
];

test('two outputs have one shape when they differ in numbers, times and widths only', () => {
  for (const [shown, said] of SAME) assert.ok(hasShape([shown], [said]), said);
  for (const [shown, said] of OTHER) assert.ok(!hasShape([shown], [said]), said);
  assert.ok(hasShape(['a', '…', 'b'], ['a', 'x', 'y', 'b']));
  assert.ok(!hasShape(['a', 'b'], ['a', 'x', 'b']));
});
