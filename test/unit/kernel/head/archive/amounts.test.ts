// How much is kept of a job, counted once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Amounts, TASKS_COUNTED_MAX } from '../../../../../src/kernel/head/archive/amounts.ts';

const task = (index: number) => ({ index, files: 2, bytes: 10, leftOut: 1 });

function counter(tasks: { index: number; files: number; bytes: number; leftOut: number }[]) {
  const state = { lists: 0, amounts: new Amounts() };
  const list = () => {
    state.lists += 1;
    return Promise.resolve(tasks.slice(0, TASKS_COUNTED_MAX + 1));
  };
  return { state, list, ask: () => state.amounts.of(7, list) };
}

test('who asks again reads nothing again, and what came meanwhile is counted once', async () => {
  const { state, ask } = counter([task(0), task(1)]);
  const two = { tasks: 2, files: 4, bytes: 20, leftOut: 2, more: false };
  assert.deepEqual([await ask(), await ask(), state.lists], [two, two, 1]);
  state.amounts.published(7, task(1));
  state.amounts.published(8, task(5));
  assert.deepEqual(await ask(), two, 'it was seen when they were counted');
  state.amounts.published(7, task(2));
  const three = { tasks: 3, files: 6, bytes: 30, leftOut: 3, more: false };
  assert.deepEqual([await ask(), state.lists], [three, 1]);
});

test('what has gone is counted no more, and a job without files has no amounts', async () => {
  const tasks = [task(0)];
  const { state, ask } = counter(tasks);
  assert.equal((await ask())?.tasks, 1);
  tasks.pop();
  state.amounts.forget();
  assert.deepEqual([await ask(), await ask(), state.lists], [null, null, 2]);
});

test('a count during which something came or went is not kept', async () => {
  const { state, list } = counter([task(0)]);
  for (const happen of [() => state.amounts.forget(), () => state.amounts.published(7, task(3))]) {
    const asked = state.amounts.of(7, async () => {
      const listed = await list();
      happen();
      return listed;
    });
    assert.equal((await asked)?.tasks, 1);
  }
  await state.amounts.of(7, list);
  assert.equal(state.lists, 3);
});

test('of very many tasks some are counted, and more is said', async () => {
  const tasks = Array.from({ length: TASKS_COUNTED_MAX }, (_, index) => task(index));
  const { state, ask } = counter(tasks);
  assert.deepEqual([(await ask())?.tasks, (await ask())?.more], [TASKS_COUNTED_MAX, false]);
  state.amounts.published(7, task(TASKS_COUNTED_MAX));
  assert.deepEqual([(await ask())?.tasks, (await ask())?.more], [TASKS_COUNTED_MAX, true]);
});
