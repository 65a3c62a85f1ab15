// To which cpus processes of steps are bound.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCpuList } from '../../../../../src/kernel/base/cpu-list.ts';
import {
  type BindTo,
  CpuClaims,
  cpusOf,
  formatCpus,
  tooFewCpus,
} from '../../../../../src/wings/steps/core/binding.ts';
import type { Cpu } from '../../../../../src/wings/steps/model/cpu.ts';

/** Two parts of memory of four cores each, each of two cpus: 0 and 8 are one core. */
const CPUS: readonly Cpu[] = Array.from({ length: 16 }, (_, id) => {
  return { id, core: id % 8, numa: id % 8 < 4 ? 0 : 1 };
});

function claimed(claims: CpuClaims, task: string, count: number): readonly Cpu[] {
  const held = claims.claim(task, count);
  assert.ok(held.ok);
  return held.value;
}

test('[Z12] a task has whole cores near each other, and nobody else has them', () => {
  const claims = new CpuClaims(CPUS);
  assert.equal(formatCpus(claimed(claims, 'a', 4)), '0-1,8-9');
  assert.equal(formatCpus(claimed(claims, 'b', 6)), '4-6,12-14');
  assert.equal(formatCpus(claimed(claims, 'c', 4)), '2-3,10-11');
  assert.equal(formatCpus(claimed(claims, 'a', 4)), '0-1,8-9');
  const more = claims.claim('d', 3);
  assert.match(
    more.ok ? '' : more.error,
    /has 3 cpus, and its machine has 16 cpus, 14 of them bound/,
  );
  claims.giveBack('a');
  claims.giveBack('unknown');
  assert.equal(formatCpus(claimed(claims, 'd', 6)), '0-1,7-9,15');
});

test('[Z12] a task with gpus has cpus near them, where there are enough', () => {
  const claims = new CpuClaims(CPUS);
  const near = (task: string, count: number, ...numas: number[]): string => {
    const held = claims.claim(task, count, numas);
    return held.ok ? formatCpus(held.value) : held.error;
  };
  assert.equal(near('a', 2, 1), '4,12');
  assert.equal(
    near('b', 7, 1),
    '0-3,8-10',
    'there are not enough near it, and of the others there are',
  );
  assert.equal(near('c', 6, 1, 7), '5-7,13-15');
  claims.giveBack('a');
  claims.giveBack('c');
  assert.equal(near('d', 9, 1), '4-7,11-15', 'those near it come first');
});

test('[Z12] processes share the cpus of their task evenly, or have those near their own', () => {
  const held = claimed(new CpuClaims(CPUS), 'a', 16);
  const of = (to: BindTo, count: number) => {
    return Array.from({ length: count }, (_, local) => {
      return formatCpus(cpusOf(held, { to, local, of: count }));
    });
  };
  assert.deepEqual(of('core', 4), ['0-1,8-9', '2-3,10-11', '4-5,12-13', '6-7,14-15']);
  assert.deepEqual(of('numa', 2), ['0-3,8-11', '4-7,12-15']);
  const parts = of('core', 5).flatMap(parseCpuList);
  assert.equal(new Set(parts).size, 16);
});

test('[Z12] more processes than cpus cannot have one each', () => {
  assert.equal(tooFewCpus('core', 2, 2), null);
  assert.equal(tooFewCpus('numa', 9, 2), null);
  assert.match(tooFewCpus('core', 3, 1) ?? '', /3 processes .* the task has 1 cpu there/);
  assert.match(tooFewCpus('numa', 1, 0) ?? '', /0 cpus/);
});

test('lists of cpus are read as Linux writes them, and what is none has none', () => {
  assert.deepEqual(parseCpuList('0-2,8\n'), [0, 1, 2, 8]);
  for (const text of ['', 'x', '-1', '3-1', '1-2-3']) assert.deepEqual(parseCpuList(text), []);
  assert.equal(parseCpuList('0-999999').length, 1024);
});
