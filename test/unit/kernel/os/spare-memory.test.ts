// Garbage after a burst goes back while the program is idle, and never while it is busy.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { collectWhenIdle } from '../../../../src/kernel/os/spare-memory.ts';
import type { Clock } from '../../../../src/kernel/ports/clock.ts';

const MIB = 1_048_576;

/** A heap and a clock under the test's hand; `pass` lets two seconds go by at this CPU time. */
function world() {
  const heap = { mib: 20, aliveMib: 20, cpu: 0, collections: 0, collectionMs: 0 };
  let monotonic = 0;
  let due: (() => void) | null = null;
  const clock: Clock = {
    now: () => 0,
    monotonic: () => monotonic,
    soon: (then) => then(),
    after(_, then) {
      due = then;
      return { cancel: () => (due = null) };
    },
  };
  const sparing = collectWhenIdle(clock, {
    occupiedBytes: () => heap.mib * MIB,
    cpuMs: () => heap.cpu,
    collect() {
      heap.collections += 1;
      heap.mib = heap.aliveMib;
      heap.cpu += heap.collectionMs;
    },
  });
  const pass = (cpuMs: number): void => {
    heap.cpu += cpuMs;
    monotonic += 2000;
    due?.();
  };
  return { heap, pass, ...sparing };
}

test('a heap that has grown is collected in the first quiet moment, once', () => {
  const { heap, pass } = world();
  heap.mib = 150;
  heap.aliveMib = 70;
  pass(900);
  assert.equal(heap.collections, 0, 'busy');
  pass(20);
  assert.equal(heap.collections, 1);
  heap.mib = 80;
  pass(20);
  assert.equal(heap.collections, 1, 'little has gathered since');
});

test('a program that is always a little busy spends a twentieth of its work on collections', () => {
  const { heap, pass } = world();
  heap.collectionMs = 150;
  for (let look = 0; look < 1000; look += 1) {
    heap.mib = 60;
    pass(190);
  }
  const spentMs = heap.collections * heap.collectionMs;
  assert.ok(spentMs > 0.02 * 190 * 1000, `${spentMs} ms`);
  assert.ok(spentMs < 0.075 * 190 * 1000, `${spentMs} ms`);
});

test('a heap is collected soon after a second burst, if that was worth it, else in a while', () => {
  const { heap, pass } = world();
  heap.collectionMs = 150;
  const burst = (cpuMs: number): void => {
    heap.mib = 150;
    pass(cpuMs);
    pass(20);
  };
  burst(900);
  assert.equal(heap.collections, 1);
  burst(3000);
  assert.equal(heap.collections, 2, 'large');
  burst(900);
  assert.equal(heap.collections, 2, 'small');
  for (let look = 0; look < 30; look += 1) pass(20);
  assert.equal(heap.collections, 3, 'a minute later');
});

test('a heap is collected at once after work that leaves garbage, whatever the last one took', () => {
  const { heap, pass, allowOne } = world();
  heap.collectionMs = 500;
  heap.mib = 150;
  pass(900);
  pass(20);
  assert.equal(heap.collections, 1);
  allowOne();
  heap.mib = 250;
  pass(900);
  assert.equal(heap.collections, 1, 'busy with it');
  pass(20);
  assert.equal(heap.collections, 2);
  heap.mib = 250;
  pass(20);
  assert.equal(heap.collections, 2, 'one alone');
});

test('a heap whose collection would hold everybody up is left alone', () => {
  const { heap, pass } = world();
  heap.mib = 600;
  pass(0);
  assert.equal(heap.collections, 0);
});

test('nothing is looked at after the end', () => {
  const { heap, pass, end } = world();
  end();
  heap.mib = 150;
  pass(0);
  assert.equal(heap.collections, 0);
});

test('a heap that may grow is searched for garbage less often, until it is as it was started', () => {
  const module = import.meta.resolve('../../../../src/kernel/os/spare-memory.ts');
  const searches = (begin: string): number[] => {
    const program = `
      import { growFreely } from '${module}';
      const kept = [];
      const fill = () => {
        for (let at = 0; at < 1_000_000; at += 1) kept.push({ at, text: 'job ' + at });
      };
      const back = ${begin};
      fill();
      back();
      gc();
      console.log('half');
      fill();`;
    const flags = [
      '--heap-growing-percent=10',
      '--max-semi-space-size=4',
      '--trace-gc',
      '--expose-gc',
    ];
    const args = [...flags, '--input-type=module', '-e', program];
    const said = execFileSync(process.execPath, args, { encoding: 'utf8' });
    return said.split('half').map((part) => part.split('Mark-Compact').length - 1);
  };
  const [kept = 0] = searches('() => undefined');
  const [free = 0, after = 0] = searches('growFreely()');
  assert.ok(free < kept, `${free} and ${kept}`);
  assert.ok(after > 0, 'the next collection sets what it may grow to');
});
