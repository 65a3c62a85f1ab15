// Orders that reach their node late, when something else is set aside there by then.

import assert from 'node:assert/strict';
import { kinds, OPERATOR, START_AT, scenario } from '../../../support/controller.ts';
import { HOUR, MINUTE, reserve } from '../../../support/reservations.ts';

scenario('[N6, R1] a start that comes late does not run into what is set aside', (head) => {
  head.connect('n1');
  head.command(reserve({ at: START_AT + HOUR, nodes: ['n1'] }), OPERATOR);
  head.submit({ walltimeMs: 50 * MINUTE, onNodeLoss: { kind: 'wait' } });
  assert.deepEqual(head.schedule(), ['1#1@n1']);
  head.disconnect('n1');
  head.at = START_AT + 5 * MINUTE;
  assert.deepEqual(kinds(head.connect('n1')), ['node_connected']);
  assert.deepEqual(head.orders('n1'), ['launch 1#1']);
  head.disconnect('n1');
  head.at = START_AT + 20 * MINUTE;
  assert.deepEqual(kinds(head.connect('n1')), ['node_connected', 'part_ended', 'task_requeued']);
  assert.deepEqual(head.orders('n1'), []);
  assert.deepEqual(head.schedule(), []);
  assert.equal(head.task('1').crashes, 0);
  head.at = START_AT + 2 * HOUR;
  head.tick();
  assert.deepEqual(head.schedule(), ['1#2@n1']);
});

scenario('[N6] a part told late stays where taking it back would end its task', (head) => {
  for (const name of ['n1', 'n2']) head.connect(name);
  head.command(reserve({ at: START_AT + HOUR, nodes: ['n2'] }), OPERATOR);
  head.submit({ walltimeMs: 50 * MINUTE, nodeCount: 2, requeue: false });
  head.schedule();
  head.started('1#1', 'n1');
  head.disconnect('n2');
  head.at = START_AT + 20 * MINUTE;
  assert.deepEqual(kinds(head.connect('n2')), ['node_connected']);
  assert.deepEqual(head.orders('n2'), ['launch 1#1']);
});
