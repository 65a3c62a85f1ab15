// Long lists on the page: pages put together, rows that changed, the search, what is in sight; the
// life of a job, the load over time, and events out of pieces of a stream.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HistoryTask } from '../../../../src/kernel/api/history.ts';
import type { JobView } from '../../../../src/kernel/api/jobs.ts';
import { columnWidths } from '../../../../src/kernel/page/pure/column-widths.ts';
import { EventReader } from '../../../../src/kernel/page/pure/event-stream.ts';
import {
  inPlaces,
  placesOf,
  putPage,
  shownRows,
  windowOf,
} from '../../../../src/kernel/page/pure/job-rows.ts';
import { curvesOf } from '../../../../src/kernel/page/pure/load.ts';
import { bySorting, sortingOf } from '../../../../src/kernel/page/pure/sorting.ts';
import { stretchesOf } from '../../../../src/kernel/page/pure/timeline.ts';

function job(id: number, more: Partial<JobView> = {}): JobView {
  const perNode = { cpuCount: 2, memoryBytes: 1, gpuCount: 0, counted: {} };
  const request = { nodeCount: 2, processesPerNode: 1, perNode, exclusive: false };
  return {
    id,
    name: `job-${id}`,
    owner: 'alice',
    partition: 'default',
    state: 'running',
    outcome: null,
    reason: null,
    notice: null,
    priority: null,
    taskCount: 1,
    taskCounts: {},
    outcomeCounts: {},
    array: null,
    submittedAt: 0,
    startedAt: 0,
    runStartedAt: 0,
    endedAt: null,
    nodes: ['n1'],
    exit: null,
    command: 'x',
    directory: null,
    held: false,
    request: { ...request, labels: [], nodeNames: [] },
    walltimeMs: null,
    ...more,
  } as JobView;
}
const ids = (rows: readonly JobView[]): number[] => rows.map(({ id }) => id);
const page = (list: number[], next: number | null) => ({ jobs: list.map((id) => job(id)), next });

test('pages follow each other, and a page that is asked again replaces its rows', () => {
  let rows = putPage([], page([9, 8, 7], 7), undefined);
  rows = putPage(rows, page([6, 5, 3], null), 7);
  assert.deepEqual(ids(rows), [9, 8, 7, 6, 5, 3]);
  // 10 is new, 8 is gone: no filter has it any more.
  assert.deepEqual(ids(putPage(rows, page([10, 9, 7], 7), undefined)), [10, 9, 7, 6, 5, 3]);
  assert.deepEqual(ids(putPage(rows, page([5], 5), 7)), [9, 8, 7, 5, 3], '6 is gone');
  assert.deepEqual(ids(putPage(rows, page([], null), 7)), [9, 8, 7], 'nothing is left below');
  // A search looked down to 5 and found nothing.
  assert.deepEqual(ids(putPage(rows, page([], 5), 8)), [9, 8, 3]);
});

test('sorting has the newest first among equals', () => {
  const rows = [
    job(3, { name: 'b' }),
    job(2, { owner: 'bob' }),
    job(1, { name: 'a', nodes: ['n7'] }),
  ];
  const by = (key: 'id' | 'name' | 'owner', down: boolean) =>
    ids(shownRows(rows, { key, down }, 0));
  assert.deepEqual(by('id', true), [3, 2, 1]);
  assert.deepEqual(by('name', false), [1, 3, 2]);
  assert.deepEqual(by('owner', false), [3, 1, 2]);
});

test('the order of a table stands in an address, and any text there is one', () => {
  const keys = ['id', 'name'] as const;
  for (const text of ['id', '-id', 'name', '-name'])
    assert.equal(bySorting(sortingOf(text, keys)), text);
  assert.deepEqual(sortingOf('-name', keys), { key: 'name', down: true });
  for (const text of ['', 'nonsense', '--']) assert.equal(sortingOf(text, keys).key, 'id');
});

test('only rows in sight are in the document, always equally many, of however many', () => {
  const sight = { height: 290, rowHeight: 29 };
  assert.deepEqual(windowOf(100_000, { top: 0, ...sight }), { from: 0, until: 27 });
  assert.deepEqual(windowOf(100_000, { top: 29 * 50_000 + 3, ...sight }), {
    from: 49_992,
    until: 50_019,
  });
  assert.deepEqual(windowOf(100_000, { top: 29 * 99_990, ...sight }), {
    from: 99_973,
    until: 100_000,
  });
  assert.deepEqual(windowOf(3, { top: 29 * 500, ...sight }), { from: 0, until: 3 });
});

test('a row that stays keeps its place, and one that comes has that of one that went', () => {
  const first = placesOf(new Map(), ['e', 'd', 'c', 'b', 'a']);
  assert.deepEqual(first, [0, 1, 2, 3, 4]);
  const kept = new Map(['e', 'd', 'c', 'b', 'a'].map((id, row) => [id, first[row] as number]));
  assert.deepEqual(placesOf(kept, ['f', 'e', 'd', 'c', 'b']), [4, 0, 1, 2, 3], 'a new one on top');
  assert.deepEqual(placesOf(kept, ['c', 'b', 'a', 'z', 'y']), [2, 3, 4, 0, 1], 'scrolled');
  assert.deepEqual(placesOf(kept, ['a', 'c', 'b', 'd', 'e', 'x']), [4, 2, 3, 1, 0, 5], 'sorted');
  assert.deepEqual(placesOf(kept, ['e', 'e', 'd']), [0, 2, 1], 'no place twice');
});

test('rows at rest stand in their order, and those that move where their places stood', () => {
  const at = (order: number[] | null) => inPlaces(2, [4, 0, 1], order).map((one) => one.at);
  assert.deepEqual(at(null), [2, 3, 4]);
  assert.deepEqual(at([1, 4, 0]), [4, 2, 3]);
  assert.deepEqual(at([0, 1]), [3, 4, 2], 'a new place is the last');
});

test('a life is waits and runs, with why each ended', () => {
  const epoch = (number: number, startedAt: number, endedAt: number, final: boolean) =>
    ({
      id: '1',
      jobId: 1,
      index: null,
      epoch: number,
      final,
      nodes: ['n1'],
      startedAt,
      endedAt,
      userUs: 0,
      systemUs: 0,
      memoryPeakBytes: 0,
      outcome: { kind: 'node_fail', exit: null, process: null, detail: 'n1 is gone' },
    }) satisfies HistoryTask;
  const running = job(1, { submittedAt: 10, runStartedAt: 50, nodes: ['n2'] });
  const stretches = stretchesOf(running, [epoch(1, 20, 40, false)]);
  assert.deepEqual(
    stretches.map(({ kind, from, until, words }) => [kind, from, until, words]),
    [
      ['wait', 10, 20, 'waited'],
      ['run', 20, 40, 'ran on n1: node fail, n1 is gone; requeued'],
      ['wait', 40, 50, 'waited'],
      ['run', 50, null, 'running on n2'],
    ],
  );
  const pending = job(1, { state: 'pending', runStartedAt: null, submittedAt: 10 });
  assert.deepEqual(
    stretchesOf(pending, []).map(({ until }) => until),
    [null],
  );
});

test('[D11] the load has a gap where no head looked, and ends with the present', () => {
  const point = { ms: 10, cpusTotal: 8 };
  const points = [
    { ...point, at: 100, cpus: 1, waiting: 5 },
    { ...point, at: 110, cpus: 2, waiting: 4 },
    { ...point, at: 200, cpus: 3, waiting: 0 },
  ];
  assert.deepEqual(curvesOf({ points, now: 204 }, { cpus: 7, waiting: 9 }), {
    times: [100, 110, 120, 200, 204],
    cpus: [1, 2, null, 3, 7],
    waiting: [5, 4, null, 0, 9],
  });
  assert.deepEqual(curvesOf({ points: points.slice(0, 1), now: 104 }, null).cpus, [1, 1]);
  assert.deepEqual(curvesOf({ points: [], now: 1 }, { cpus: 0, waiting: 0 }).times, []);
});

test('events are whole, in whatever pieces they come', () => {
  const text = 'id: 7\ndata: {"seq":7}\n\n:\n\nid: 9\n\n';
  for (const size of [1, 5, 100]) {
    const reader = new EventReader();
    const all = [];
    for (let at = 0; at < text.length; at += size)
      all.push(...reader.push(text.slice(at, at + size)));
    assert.deepEqual(all, [
      { id: '7', data: '{"seq":7}' },
      { id: null, data: '' },
      { id: '9', data: '' },
    ]);
  }
});

test('on a phone the columns beside names give way, so that names are left', () => {
  const columns = [{ width: '16%' }, { width: '112px' }, { width: '60px', spare: true }, {}];
  const { wide, narrow, phone } = columnWidths(columns, ['30px']);
  assert.equal(wide, '30px 16% 112px 60px minmax(0, 1fr)');
  assert.equal(narrow, '30px minmax(0, 16fr) 112px minmax(0, 1fr)');
  assert.equal(phone, '30px minmax(96px, 1fr) minmax(0, 112px) minmax(96px, 1fr)');
});
