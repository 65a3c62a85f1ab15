// Keys of `weft top`, and what they make of what is shown.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  openingView,
  press,
  type Shown,
  type View,
} from '../../../../../src/kernel/cli/top/view.ts';

const PANES = ['jobs', 'nodes'] as const;
const SHOWN: Shown = { panes: PANES, names: ['3', '2', '1'], lineCount: 0, height: 2 };

function after(keys: readonly string[], view: View = openingView(''), shown = SHOWN) {
  let wish = null;
  for (const key of keys) ({ view, wish } = press(view, key, shown));
  return { view, wish };
}

test('arrows choose a row by name, and a list that changes keeps it', () => {
  const { view } = after(['down']);
  assert.equal(view.chosen.jobs, '2');
  assert.equal(after(['up', 'up']).view.chosen.jobs, '3');
  assert.equal(after(['G', 'down']).view.chosen.jobs, '1');
  const longer = { ...SHOWN, names: ['5', '4', '3', '2', '1'] };
  assert.equal(after(['up'], view, longer).view.chosen.jobs, '3');
});

test('cancel asks first: only y does it', () => {
  assert.equal(after(['c']).wish, null);
  assert.equal(after(['c', 'x']).wish, null);
  assert.equal(after(['c', 'enter']).view.prompt, null);
  const action = { kind: 'cancel', subject: '3' };
  assert.deepEqual(after(['c', 'y']).wish, { kind: 'do', action });
  assert.equal(after(['c', 'x', 'y']).wish, null, 'a no is no');
});

test('hold and release are done at once; nothing is done to no job', () => {
  const action = { kind: 'hold', subject: '2' };
  assert.deepEqual(after(['down', 'h']).wish, { kind: 'do', action });
  assert.equal(after(['h'], openingView(''), { ...SHOWN, names: [] }).wish, null);
});

test('a drain needs a reason', () => {
  const nodes = { ...SHOWN, names: ['n1', 'n2'] };
  const asked = after(['tab', 'd'], openingView(''), nodes);
  assert.equal(asked.view.prompt?.kind, 'reason');
  assert.equal(after(['enter'], asked.view, nodes).wish, null);
  const typed = after(['d', 'i', 's', 'x', 'backspace', 'k', 'enter'], asked.view, nodes);
  assert.deepEqual(typed.wish, {
    kind: 'do',
    action: { kind: 'drain', subject: 'n1', reason: 'disk' },
  });
  assert.equal(after(['escape'], asked.view, nodes).view.prompt, null);
});

test('keys of jobs do nothing to nodes', () => {
  const nodes = { ...SHOWN, names: ['n1'] };
  for (const key of ['c', 'h', 'l', 'w']) {
    const { view, wish } = after(['tab', key], openingView(''), nodes);
    assert.deepEqual([view.prompt, view.page, wish], [null, null, null]);
  }
});

test('s sorts by priority and back, and the head is asked at once', () => {
  const sorted = after(['s']);
  assert.deepEqual([sorted.view.isByPriority, sorted.wish], [true, { kind: 'refresh' }]);
  const back = after(['s'], sorted.view);
  assert.deepEqual([back.view.isByPriority, back.wish], [false, { kind: 'refresh' }]);
});

test('a filter is typed and seen at once; Esc takes it away', () => {
  const { view } = after(['/', 'q', ' ', 'c']);
  assert.equal(view.filter, 'q c');
  assert.equal(after(['enter'], view).view.prompt, null);
  assert.equal(after(['enter', 'escape'], view).view.filter, '');
  assert.equal(after(['escape'], view).view.filter, '');
});

test('a log follows its end until somebody moves up, and again from the end on', () => {
  const long = { ...SHOWN, lineCount: 10, height: 4 };
  const open = after(['l']);
  assert.deepEqual(open.wish, { kind: 'refresh' });
  assert.deepEqual(open.view.page, { kind: 'logs', subject: '3', top: null });
  const up = after(['up'], open.view, long);
  assert.equal(up.view.page?.top, 5);
  assert.equal(after(['end'], up.view, long).view.page?.top, null);
  assert.equal(after(['q'], up.view, long).view.page, null);
});

test('Ctrl-C quits from everywhere, q from the list only', () => {
  for (const before of [[], ['c'], ['/'], ['l']]) {
    assert.deepEqual(after([...before, 'ctrl-c']).wish, { kind: 'quit' });
  }
  assert.deepEqual(after(['q']).wish, { kind: 'quit' });
  assert.equal(after(['/', 'q']).wish, null);
});

test('the output of one task of an array is opened by its index', () => {
  const asked = after(['down', 't', '1', '7']);
  assert.deepEqual([asked.view.prompt?.kind, asked.view.prompt?.subject], ['task', '2']);
  const open = after(['enter'], asked.view);
  assert.deepEqual(open.view.page, { kind: 'logs', subject: '2[17]', top: null });
  assert.deepEqual([open.view.prompt, open.wish], [null, { kind: 'refresh' }]);
  const other = after(['t', '3', 'enter'], open.view);
  assert.equal(other.view.page?.subject, '2[3]', 'from there the next one');
  assert.equal(after(['t', 'x', 'enter']).view.page, null);
});

test('Tab goes round the lists that there are, and of a gpu its node is shown', () => {
  const all = { ...SHOWN, panes: [...PANES, 'gpus'] as const, names: ['n1/0', 'n1/1'] };
  const pane = (keys: readonly string[], shown: Shown = all) =>
    after(keys, openingView(''), shown).view.pane;
  assert.deepEqual(
    [pane(['tab', 'tab']), pane(['tab', 'tab', 'tab']), pane(['back-tab'])],
    ['gpus', 'jobs', 'gpus'],
  );
  const { view } = after(['back-tab', 'down', 'enter'], openingView(''), all);
  assert.deepEqual(view.page, { kind: 'node', subject: 'n1', top: 0 });
  for (const key of ['c', 'd', 'Q', 't']) {
    assert.deepEqual(after(['back-tab', key], openingView(''), all).wish, null);
  }
  const { view: onGpus } = after(['back-tab'], openingView(''), all);
  assert.equal(after(['tab'], onGpus, SHOWN).view.pane, 'jobs', 'the last card is gone');
});
