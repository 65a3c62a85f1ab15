// Time for the build of a batch, as the head reckons with it, and the nodes that need none any
// more.

import assert from 'node:assert/strict';
import { outstanding } from '../../../../../src/kernel/machine/outstanding.ts';
import { timeLeft } from '../../../../../src/kernel/machine/tasks/time-limit.ts';
import type { SubmitBatch } from '../../../../../src/wings/batches/machine/commands.ts';
import { findBatch } from '../../../../../src/wings/batches/machine/find.ts';
import {
  ANN,
  BOB,
  kinds,
  OPERATOR,
  scenario,
  type TestHead,
} from '../../../../support/controller.ts';
import { MINUTE, reserve } from '../../../../support/reservations.ts';

const KEY = 'b'.repeat(40);

function submit(names: readonly string[], more: Partial<SubmitBatch> = {}): SubmitBatch {
  const program = { kind: 'script', text: 'eval "$1"', args: ['{line}'] } as const;
  const each = names.map((name) => ({ name, line: `./run ${name}` }));
  const submission = { program, each, cpuCount: 1, walltimeMs: 10 * MINUTE };
  const numbers = names.map((_, at) => at);
  const prints = names.map((name) => `print of ${name}`);
  return {
    kind: 'submit_batch',
    namespace: 'ann',
    name: 'sweep',
    origin: 'weft',
    after: [],
    mode: 'new',
    parts: [{ submission, numbers, prints }],
    key: null,
    build: KEY,
    buildMs: 20 * MINUTE,
    ...more,
  };
}

function ready(head: TestHead, name = 'sweep'): string[] {
  const found = findBatch(head.state, { namespace: 'ann', name, version: null });
  assert.ok(found.ok);
  return [...(found.value.build?.ready ?? [])];
}

function buildTimeOf(head: TestHead, name: string): number | undefined {
  const order = outstanding(head.state, head.node(name), head.settings).find(
    ({ kind }) => kind === 'launch',
  );
  assert.ok(order?.kind === 'launch');
  return order.batch?.buildMs;
}

scenario('[B9] a node gets time for the build until it has it, and no more then', (head) => {
  head.connect('n1', { cpus: 1 });
  head.command(submit(['a', 'b', 'c']), ANN);
  assert.deepEqual(head.schedule(), ['1[0]#1@n1']);
  assert.equal(buildTimeOf(head, 'n1'), 20 * MINUTE);
  head.started('1[0]#1');
  assert.equal(timeLeft(head.task('1[0]'), head.at), 30 * MINUTE);
  head.at += 5 * MINUTE;
  assert.deepEqual(kinds(head.built('1[0]#1', 5 * MINUTE)), ['part_built']);
  assert.equal(timeLeft(head.task('1[0]'), head.at), 10 * MINUTE);
  assert.deepEqual(ready(head), ['n1']);
  head.crash();
  head.connect('n1', { cpus: 1, held: head.heldBy('n1') });
  assert.deepEqual(ready(head), ['n1'], 'it is a fact');
  head.ended('1[0]#1');
  assert.deepEqual(head.schedule(), ['1[1]#1@n1']);
  assert.equal(buildTimeOf(head, 'n1'), undefined);
});

scenario('[B9] a task that has completed tells of its build, one that failed does not', (head) => {
  head.connect('n1', { cpus: 1 });
  head.command(submit(['a', 'b', 'c']), ANN);
  head.schedule();
  head.ended('1[0]#1', { code: 125 });
  assert.deepEqual(ready(head), []);
  head.schedule();
  head.ended('1[1]#1');
  assert.deepEqual(ready(head), ['n1']);
});

scenario(
  '[B9] built anew it takes its time again, and another batch of its owner shares it',
  (head) => {
    head.connect('n1', { cpus: 1 });
    head.command(submit(['a']), ANN);
    head.schedule();
    head.ended('1[0]#1');
    head.command(submit(['a'], { name: 'next' }), ANN);
    assert.deepEqual(ready(head, 'next'), ['n1']);
    head.command(submit(['a'], { namespace: 'bob' }), BOB);
    const found = findBatch(head.state, { namespace: 'bob', name: 'sweep', version: null });
    assert.equal(found.ok && found.value.build?.ready.size, 0, 'builds are kept by user');
    const batch = { namespace: 'ann', name: 'next', version: null };
    head.command({ kind: 'rebuild_batch', batch }, ANN);
    assert.deepEqual(ready(head, 'next'), []);
  },
);

scenario('[B9] a build that runs into its limit has failed on its node', (head) => {
  for (const name of ['n1', 'n2']) head.connect(name, { cpus: 1 });
  head.command(submit(['a']), ANN);
  head.schedule();
  head.started('1[0]#1');
  const detail = 'reached the time limit of a build, 20m';
  const events = head.ended('1[0]#1', { cause: 'timeout', detail });
  assert.deepEqual(kinds(events), ['part_ended', 'task_requeued', 'build_failed']);
  assert.deepEqual(head.schedule(), ['1[0]#2@n2']);
  head.started('1[0]#2');
  head.built('1[0]#2', 1000);
  head.ended('1[0]#2', { cause: 'timeout', detail: 'reached its time limit of 10m' });
  assert.equal(head.outcome(1), 'timeout', 'its own time');
});

scenario(
  '[B9, R1] the time of a build is kept free of what is reserved, where it is needed',
  (head) => {
    for (const name of ['n1', 'n2']) head.connect(name, { cpus: 1 });
    head.command(reserve({ at: head.at + 15 * MINUTE, nodes: ['n1', 'n2'] }), OPERATOR);
    head.command(submit(['a', 'b'], { build: null }), ANN);
    assert.deepEqual(head.schedule(), ['1[0]#1@n1', '1[1]#1@n2'], 'without a build both fit');
    head.ended('1[0]#1');
    head.ended('1[1]#1');
    head.command(submit(['a'], { name: 'built' }), ANN);
    assert.deepEqual(head.schedule(), []);
    head.command(submit(['a'], { name: 'quick', build: 'c'.repeat(40), buildMs: 4 * MINUTE }), ANN);
    assert.deepEqual(head.schedule(), ['3[0]#1@n1']);
  },
);

scenario('[B9] resumed with another solver it is built again, wherever the old one is', (head) => {
  head.connect('n1', { cpus: 2 });
  head.command(submit(['a', 'b', 'c']), ANN);
  head.schedule();
  head.ended('1[0]#1');
  head.ended('1[1]#1', { code: 3 });
  assert.deepEqual(ready(head), ['n1']);
  head.command(submit(['a', 'b', 'c'], { mode: 'resume', build: 'c'.repeat(40) }), ANN);
  assert.deepEqual(ready(head), []);
  head.schedule();
  head.ended('1[2]#1');
  assert.deepEqual(ready(head), [], 'it had the old one');
  head.ended('2[1]#1');
  assert.deepEqual(ready(head), ['n1']);
});
