// The steps of one node that a maintenance wants stopped at its site, as values.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  givenBack,
  type NodeStop,
  noted,
  refuse,
  type Stopping,
  shown,
  taken,
  withoutRefusal,
} from '../../../../../../src/wings/sites/fabric/site/node-stop.ts';
import type { StopNote } from '../../../../../../src/wings/sites/fabric/site/stop-note.ts';

const NOTE: StopNote = {
  maintenance: 'm1',
  until: 1000,
  reason: 'weft maintenance m1',
  phase: 'stopping',
  open: ['n1'],
  reasonBefore: null,
};
const REFUSED = { maintenance: 'm1', why: 'no' };

function stopping(): Stopping {
  const stop = noted(undefined, NOTE);
  assert.ok(stop.phase === 'stopping');
  return stop;
}

function returning(from: NodeStop): NodeStop {
  return noted(from, { ...NOTE, phase: 'returning' });
}

const states = (stop: NodeStop | null): string[] =>
  stop === null ? [] : shown('n1', stop, () => true).map(({ state, why }) => `${state} ${why}`);

test('[M9] what a site took without showing it counts from the first time, until it is stopped', () => {
  const since = taken(taken(stopping(), 10), 20);
  assert.equal(since.takenAt, 10);
  const stopped = noted(since, { ...NOTE, phase: 'stopped' });
  assert.deepEqual(noted(stopped, NOTE), stopping());
});

test('[M9] a refusal is told while the node goes back and after that, until nobody wants the node', () => {
  const refused = returning(refuse(stopping(), REFUSED));
  assert.deepEqual(states(refused), ['returning null', 'refused no']);
  assert.deepEqual(states(givenBack(refused)), ['refused no']);
  assert.deepEqual(states(withoutRefusal(refused)), ['returning null']);
  assert.equal(givenBack(withoutRefusal(refused) ?? undefined), null);
});

test('[M9] a node that is stopped anew does not tell what kept it from being given back before', () => {
  const back = returning(stopping());
  assert.ok(back.phase === 'returning');
  const kept = { ...back, problem: 'no answer' };
  assert.deepEqual(states(kept), ['returning no answer']);
  assert.deepEqual(states(noted(kept, { ...NOTE, phase: 'stopped' })), ['stopped null']);
});
