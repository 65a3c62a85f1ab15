// Cards of nodes: which of them tasks are given, and what is said of the others.

import assert from 'node:assert/strict';
import { viewLookAhead } from '../../../../src/kernel/head/answers/prospect-view.ts';
import { lookAhead, pendingOf } from '../../../../src/kernel/machine/answers/explain.ts';
import { scenario, type TestHead } from '../../../support/controller.ts';
import { card, GIB } from '../../../support/nodes.ts';
import { why } from '../../../support/why.ts';

const OUTSIDE = {
  state: 'used_outside',
  why: 'used outside Weft by ann (python, 21G)',
} as const;
const LOST = { state: 'ill', why: 'ill: GPU is lost' } as const;

function gpusOf(head: TestHead, task: string): readonly number[] {
  return [...head.task(task).parts.values()].flatMap((part) => part.share.gpus);
}

scenario('[V2] a card that is used outside is given to no task, and why names the user', (head) => {
  head.connect('n1', { gpus: 2, cards: [card(0, OUTSIDE), card(1)] });
  head.submit({ gpuCount: 1 });
  head.submit({ gpuCount: 1 });
  assert.deepEqual(head.schedule(), ['1#1@n1']);
  assert.deepEqual(gpusOf(head, '1'), [1]);
  assert.equal(
    why(head, 2),
    'resources: needs 1 node with 1 cpu, 1 gpu; ' +
      'n1 has only 0 gpus free (gpu 0 is used outside Weft by ann (python, 21G); ' +
      'gpu 1 is given to 1 of ann)',
  );
  head.tellCards('n1', [card(0), card(1)]);
  assert.deepEqual(head.schedule(), ['2#1@n1']);
  assert.deepEqual(gpusOf(head, '2'), [0]);
});

scenario(
  '[V2] what waits for a gpu that others use is not told that it can never start',
  (head) => {
    head.connect('n1', { gpus: 2, cards: [card(0, OUTSIDE), card(1)] });
    head.submit({ gpuCount: 2 });
    assert.deepEqual(head.schedule(), []);
    const ahead = lookAhead(head.state, head.settings, pendingOf(head.job(1), 0), head.at);
    assert.match(
      viewLookAhead(ahead, 'task').words,
      /It starts when enough gpus may be given again\.$/m,
    );
  },
);

scenario(
  '[V8] why names no card that the job could not use, and offers none without gpus',
  (head) => {
    const cards = [card(0, { ...OUTSIDE, type: 'rtx4090' }), card(1, { type: 'rtx3090' })];
    head.connect('n1', { gpus: 2, cards });
    head.submit({ gpuCount: 1, gpuTypes: ['rtx3090'] });
    head.submit({ gpuCount: 1, gpuTypes: ['rtx3090'] });
    assert.deepEqual(head.schedule(), ['1#1@n1']);
    assert.match(why(head, 2), /n1 has only 0 rtx3090 free \(gpu 1 is given to 1 of ann\)$/);
    const ahead = lookAhead(head.state, head.settings, pendingOf(head.job(2), 0), head.at);
    assert.doesNotMatch(viewLookAhead(ahead, 'task').words, /no gpu/);
  },
);

scenario('[V2] a task keeps a card that somebody else uses, too', (head) => {
  head.connect('n1', { gpus: 1, cards: [card(0)] });
  head.submit({ gpuCount: 1 });
  assert.deepEqual(head.schedule(), ['1#1@n1']);
  head.tellCards('n1', [card(0, OUTSIDE)]);
  head.running();
  head.ended('1#1');
  assert.equal(head.outcome(1), 'completed');
  head.submit({ gpuCount: 1 });
  assert.deepEqual(head.schedule(), []);
});

scenario('[V3] an ill card takes only itself out, and what needs both waits for it', (head) => {
  head.connect('n1', { gpus: 2, cards: [card(0), card(1, LOST)] });
  head.submit({ gpuCount: 2 });
  head.submit({ gpuCount: 1 });
  head.submit({ cpuCount: 1 });
  assert.deepEqual(head.schedule(), ['2#1@n1', '3#1@n1']);
  assert.match(why(head, 1), /free \(gpu 1 is ill: GPU is lost; gpu 0 is given to 2 of ann\)/);
  head.ended('2#1');
  assert.deepEqual(head.schedule(), []);
  assert.match(why(head, 1), /only 1 gpu free \(gpu 1 is ill: GPU is lost\)/);
  head.tellCards('n1', [card(0), card(1)]);
  assert.deepEqual(head.schedule(), ['1#1@n1']);
});

scenario('[V3] what was said in an older session, or said again, changes nothing', (head) => {
  head.connect('n1', { gpus: 1, cards: [card(0)] });
  assert.deepEqual(head.tellCards('n1', [card(0)]), []);
  assert.equal(head.tellCards('n1', [card(0, LOST)]).length, 1);
  head.connect('n1', { gpus: 1, memory: GIB });
  head.submit({ gpuCount: 1 });
  assert.deepEqual(head.schedule(), ['1#1@n1'], 'an agent that tells of no cards gives them all');
});
