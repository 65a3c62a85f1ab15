// The picture of `weft top`: whatever it shows, it fits the terminal and cannot drive it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutLine } from '../../../../../src/kernel/cli/output/cut-line.ts';
import { PLAIN, paintFor } from '../../../../../src/kernel/cli/output/paint.ts';
import { displayWidth } from '../../../../../src/kernel/cli/output/table.ts';
import type { Facts } from '../../../../../src/kernel/cli/top/facts.ts';
import { drawFrame, drawOnce, meter, windowAt } from '../../../../../src/kernel/cli/top/frame.ts';
import { logLines } from '../../../../../src/kernel/cli/top/pages.ts';
import { openingView, type View } from '../../../../../src/kernel/cli/top/view.ts';
import { gpuCard, jobView, nodeView } from '../views.ts';
import { infoView } from './info-view.ts';

const COLOURED = paintFor('terminal', {});

function facts(fields: Partial<Facts> = {}): Facts {
  return { info: infoView(), jobs: [], nodes: [nodeView()], isCut: false, ...fields };
}

function draw(
  of: Facts,
  view: View = openingView(''),
  paint = PLAIN,
  size = { columns: 80, rows: 24 },
) {
  return drawFrame({ facts: of, view, page: [], size, paint, trouble: null });
}

const MANY = facts({ jobs: Array.from({ length: 100 }, (_, at) => jobView({ id: 100 - at })) });

test('a picture has the lines of the terminal, and none is wider', () => {
  const name = '漢字'.repeat(60);
  const wide = facts({ jobs: [jobView({ name, nodes: ['a'.repeat(90)] })] });
  for (const size of [
    { columns: 80, rows: 24 },
    { columns: 20, rows: 8 },
    { columns: 9, rows: 3 },
  ]) {
    for (const shown of [MANY, wide, facts()]) {
      const lines = draw(shown, openingView(''), COLOURED, size);
      assert.equal(lines.length, size.rows);
      const widths = lines.map((line) => displayWidth(line.replace(/\u001b\[\d*m/g, '')));
      assert.ok(Math.max(...widths) <= size.columns, `${Math.max(...widths)} of ${size.columns}`);
    }
  }
});

test('the chosen row is marked and on the screen, wherever the list ends', () => {
  const view = { ...openingView(''), chosen: { jobs: '50', nodes: null, gpus: null } };
  const marked = draw(MANY, view).filter((line) => line.startsWith('> '));
  assert.equal(marked.length, 1);
  assert.match(marked[0] ?? '', /^> +50 +hello/);
  assert.deepEqual([windowAt(0, 9, 4), windowAt(5, 9, 4), windowAt(8, 9, 4)], [0, 3, 5]);
  assert.equal(windowAt(1, 2, 4), 0);
});

test('names with control characters are shown, and do nothing', () => {
  const evil = facts({ jobs: [jobView({ name: 'a\u001b[2Jb\u202ec\n' })] });
  const lines = draw(evil);
  assert.ok(lines.some((line) => line.includes('a?[2Jb?c?')));
  assert.ok(lines.every((line) => !/[\u001b\u202e\n]/.test(line)));
});

test('the filter looks at all that a row is, in any order', () => {
  const two = facts({
    jobs: [jobView({ id: 1, owner: 'bob' }), jobView({ id: 2, name: 'Train' })],
  });
  const shown = (filter: string) => draw(two, openingView(filter)).join('\n');
  assert.match(shown('alice TRAIN'), /^> +2 +Train/m);
  assert.doesNotMatch(shown('alice train'), /bob/);
  assert.match(shown('none such'), /No jobs match 'none such'; Esc takes the filter away\./);
});

test('a head that is away is told in place of the counts', () => {
  const size = { columns: 80, rows: 24 };
  const parts = { facts: facts(), view: openingView(''), page: [], size, paint: PLAIN };
  const [, , third] = drawFrame({ ...parts, trouble: 'the head is away' });
  assert.equal(third, 'the head is away');
  const narrow = {
    ...parts,
    size: { columns: 12, rows: 24 },
    trouble: 'the head is away for long',
  };
  assert.deepEqual(drawFrame(narrow).slice(1, 3), ['the head is', '  away for …'], 'not all of it');
  assert.equal(draw(facts())[2], 'Nodes: 1 up  Jobs: 1 running');
});

test('a bar shows that something is in use, and is never longer than all', () => {
  assert.equal(meter(0, 8, String), '░░░░░░░░░░░░ 0/8');
  assert.equal(meter(1, 800, String), '█░░░░░░░░░░░ 1/800');
  assert.equal(meter(9, 8, String), '████████████ 9/8');
  assert.equal(meter(0, 0, String), '░░░░░░░░░░░░ 0/0');
});

test('a cut line ends its colour', () => {
  assert.equal(cutLine('ab\u001b[31mcdef\u001b[39m', 4), 'ab\u001b[31mcd\u001b[39m');
  assert.equal(cutLine('ab\u001b[31mcd\u001b[39m', 4), 'ab\u001b[31mcd\u001b[39m');
  assert.equal(cutLine('漢字', 3), '漢');
});

test('lines of a log are what a terminal would have left of them', () => {
  const text = 'one\n10%\r20%\r30%\n\u001b[1;31mred\u001b[0m\tx\u0007\r\nlast';
  assert.deepEqual(logLines(text), ['one', '30%', 'red    x?', 'last']);
});

test('once: both lists, whole', () => {
  const lines = drawOnce(MANY, { filter: '', paint: PLAIN, width: null });
  assert.equal(lines.filter((line) => /^ *\d+ +hello/.test(line)).length, 100);
  assert.ok(lines.some((line) => line.startsWith('n1 ')));
});

test('on a narrow terminal the time of the day is whole, and the name of the cluster gives way', () => {
  const clock = /\d\d:\d\d:\d\d$/;
  for (const columns of [80, 40, 24]) {
    const [first = ''] = draw(facts(), openingView(''), PLAIN, { columns, rows: 24 });
    assert.match(first.trimEnd(), clock, `${columns} columns: ${first}`);
  }
});

test('[V20] gpus are rows where nodes tell of some, with who has them', () => {
  const why = 'used outside Weft by ann (python, 21G)';
  const users = [{ pid: 7, user: 'ann', program: 'python', memoryBytes: null, since: 0 }];
  const cards = [
    gpuCard('0', { state: 'given', tasks: ['42#1'], owners: ['ben'] }),
    gpuCard('1', { state: 'used_outside', why, users }),
  ];
  const gpus = { cards, driver: null, remark: null };
  const some = facts({ nodes: [nodeView({ gpus })] });
  const shown = (filter: string) => draw(some, { ...openingView(filter), pane: 'gpus' }).join('\n');
  assert.match(shown(''), /^ jobs {3}nodes {2}\[gpus\]/m);
  assert.match(shown(''), /^> n1\/0 +rtx4090 +24G +given +42#1 +ben *$/m);
  assert.match(shown('python'), /^> n1\/1 +rtx4090 +24G +used outside +- +ann +used outside/m);
  assert.doesNotMatch(shown('python'), /42#1/);
  assert.match(drawOnce(some, { filter: '', paint: PLAIN, width: null }).join('\n'), /n1\/0/);
  assert.doesNotMatch(draw(facts()).join('\n'), /gpus/);
});
