// Tasks whose card somebody else uses, or that is ill: they go on, and it is said.

import assert from 'node:assert/strict';
import { gpusInUse } from '../../../../src/kernel/api/gpus-in-use.ts';
import { gpuNotice, gpuNoticeOfJob } from '../../../../src/kernel/head/answers/gpu-notice.ts';
import { gpusOf } from '../../../../src/kernel/head/answers/gpu-view.ts';
import { viewNode } from '../../../../src/kernel/head/answers/node-view.ts';
import { resourceFigures, unusableGpus } from '../../../../src/kernel/head/answers/overview.ts';
import { scenario } from '../../../support/controller.ts';
import { card, GIB } from '../../../support/nodes.ts';

scenario('[V28] whoever uses more of a gpu than the share of it is told so', (head) => {
  head.connect('n1', { gpus: 1, cards: [card(0)] });
  head.submit({ gpuShareBytes: 8 * GIB });
  head.submit({ gpuShareBytes: 8 * GIB });
  head.schedule();
  head.running();
  const over = [{ task: '2#1', memoryBytes: 12 * GIB }];
  head.tellCards('n1', [card(0, { over })]);
  assert.equal(gpuNotice(head.state, head.task('1')), null);
  const said = 'It uses 12G of gpu 0 of n1, more than its share of 8G.';
  assert.equal(gpuNotice(head.state, head.task('2')), said);
  assert.deepEqual(gpusOf(head.node('n1'))?.cards[0]?.over, over);
});

scenario('[V2, V3] whoever has a card that others use or that is ill is told so', (head) => {
  head.connect('n1', { gpus: 2, cards: [card(0), card(1)] });
  head.submit({ gpuCount: 1 });
  head.submit({ gpuCount: 1 });
  head.schedule();
  head.running();
  const said = (id: number): string | null => gpuNoticeOfJob(head.state, head.job(id));
  assert.deepEqual([said(1), said(2)], [null, null]);
  const why = 'used outside Weft by ann (python, 21G)';
  head.tellCards('n1', [card(0), card(1, { state: 'used_outside', why })]);
  assert.equal(said(1), null);
  assert.equal(said(2), `Gpu 1 of n1, which it has, is ${why}. It goes on.`);
  assert.equal(gpuNotice(head.state, head.task('2')), said(2));
  const view = gpusOf(head.node('n1'));
  assert.deepEqual(
    view?.cards.map(({ label, state, tasks }) => [label, state, tasks]),
    [
      ['0', 'given', ['1#1']],
      ['1', 'used_outside', ['2#1']],
    ],
  );
});

scenario('[V2, V3] gpus that none may be given are neither free nor in use', (head) => {
  head.connect('n1', { gpus: 4, cards: [card(0), card(1), card(2), card(3)] });
  head.submit({ gpuCount: 2 });
  head.schedule();
  head.running();
  const live = { load: null, clockOffsetMs: null, presence: null, heardAt: 0 };
  const seen = () => {
    const view = viewNode(head.state, head.node('n1'), live);
    return [gpusInUse(view), view.free.gpuCount, view.gpusUnusable];
  };
  assert.deepEqual(seen(), [2, 2, undefined]);
  // One that a task has is in use, whoever else uses it.
  const outside = { state: 'used_outside', why: 'used outside Weft' } as const;
  const ill = { state: 'ill', why: 'ill' } as const;
  head.tellCards('n1', [card(0), card(1, outside), card(2, ill), card(3)]);
  assert.deepEqual(seen(), [2, 1, 1]);
  head.tellCards('n1', [card(0), card(1), card(2, ill), card(3, outside)]);
  assert.deepEqual([seen(), unusableGpus(head.state)], [[2, 0, 2], { gpusUnusable: 2 }]);
  const { total, free, used, unusable } = resourceFigures(head.state);
  assert.deepEqual(
    [total, free, used, unusable].map(({ gpus }) => gpus),
    [4, 0, 2, 2],
  );
});

scenario('[V2] a task that uses a gpu which it has not been given is told so', (head) => {
  head.connect('n1', { gpus: 2, cards: [card(0), card(1)] });
  head.submit({});
  head.schedule();
  head.running();
  assert.equal(gpuNoticeOfJob(head.state, head.job(1)), null);
  const ann = { pid: 7, user: 'ann', program: 'python', memoryBytes: GIB, since: 0, task: '1#1' };
  head.tellCards('n1', [card(0), card(1, { state: 'used_outside', users: [ann] })]);
  const said = 'It uses gpu 1 of n1, which it has not been given; ask for gpus with --gpus.';
  assert.equal(gpuNoticeOfJob(head.state, head.job(1)), said);
  assert.equal(gpuNotice(head.state, head.task('1')), said);
});

scenario(
  '[V29] a gpu that is kept is shown so, and numbers that are no gpus are told of',
  (head) => {
    head.connect('n1', { gpus: 4, cards: [card(0), card(1)] });
    head.tellCards('n1', [
      card(0, { state: 'used_outside', kept: true, why: 'kept for ann' }),
      card(1),
    ]);
    const view = gpusOf(head.node('n1'));
    assert.deepEqual(
      view?.cards.map(({ state }) => state),
      ['kept', 'free'],
    );
    assert.deepEqual(view?.notes, [
      '4 gpus are declared and 2 are found; tasks may be given numbers that are no gpus',
    ]);
  },
);
