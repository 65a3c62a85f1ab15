// Ids, node names, refusals, amounts, array indices.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readIndices } from '../../../../src/kernel/machine/jobs/indices.ts';
import {
  CODES,
  type Code,
  formatRefusal,
  KINDS,
  refuse,
} from '../../../../src/kernel/model/errors.ts';
import {
  formatEpochId,
  formatTaskId,
  type JobId,
  parseNodeName,
  parseTaskId,
} from '../../../../src/kernel/model/ids.ts';
import {
  addResources,
  fitsIn,
  resourcesKey,
  subtractResources,
} from '../../../../src/kernel/model/resources.ts';
import { resources } from '../../../support/nodes.ts';

test('a printed task id reads as the same place', () => {
  const index = fc.option(fc.nat(999_999_999));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e15 - 1 }), index, (jobId, at) => {
      const read = parseTaskId(formatTaskId(jobId as JobId, at));
      assert.deepEqual(read, { ok: true, value: { jobId, index: at } });
    }),
  );
});

for (const text of ['', '0', '-1', '1.5', '1[', '1[]', '1[-2]', '[3]', '1[2][3]', 'a', '1#2']) {
  test(`'${text}' is no task id`, () => {
    const read = parseTaskId(text);
    assert.ok(!read.ok && read.error.includes(`'${text}'`));
  });
}

test('an epoch prints after its task', () => {
  assert.equal(formatEpochId(formatTaskId(42 as JobId, 7), 2), '42[7]#2');
});

const NAMES: readonly [string, boolean][] = [
  ['n1', true],
  ['a', true],
  ['node-01.site_b.example', true],
  ['', false],
  ['-n', false],
  ['n.', false],
  ['a/b', false],
  ['a b', false],
  ['..', false],
  ['n'.repeat(254), true],
  ['n'.repeat(255), false],
];

for (const [name, good] of NAMES) {
  test(`'${name.slice(0, 20)}' (${name.length}) is ${good ? 'a' : 'no'} node name`, () => {
    assert.equal(parseNodeName(name).ok, good);
  });
}

test('every code has a kind, and its words take all of their details', () => {
  for (const [code, { kind, text }] of Object.entries(CODES)) {
    assert.ok(kind in KINDS, code);
    const details = Object.fromEntries(
      [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name as string, `<${name}>`]),
    );
    const words = formatRefusal({ code: code as Code, details, hint: 'Do this.' });
    assert.ok(!/[{}]/.test(words) && words.endsWith(' Do this.'), words);
    assert.match(code, /^[a-z]+\.[a-z_]+$/);
  }
});

test('a refusal names what it is about', () => {
  assert.equal(formatRefusal(refuse('job.not_found', { job: '7' })), 'No job 7.');
});

const amounts = fc
  .record({
    cpus: fc.nat(9),
    memory: fc.nat(9),
    gpus: fc.nat(9),
    counted: fc.dictionary(fc.constantFrom('x', 'y', 'z'), fc.nat(9)),
  })
  .map(resources);

test('[A2] amounts add, subtract and compare in every dimension', () => {
  fc.assert(
    fc.property(amounts, amounts, (a, b) => {
      const sum = addResources(a, b);
      assert.equal(resourcesKey(subtractResources(sum, b)), resourcesKey(a));
      assert.ok(fitsIn(a, sum) && fitsIn(b, sum));
      const left = subtractResources(a, b);
      const parts = [
        left.cpuCount,
        left.memoryBytes,
        left.gpuCount,
        ...Object.values(left.counted),
      ];
      assert.equal(fitsIn(b, a), Math.min(...parts) >= 0);
      assert.equal(resourcesKey(a) === resourcesKey(b), fitsIn(a, b) && fitsIn(b, a));
    }),
  );
});

const INDICES: readonly [string, string][] = [
  ['0-99', '0-99'],
  ['1,5,9', '1,5,9'],
  ['3,2,1', '1-3'],
  ['0-100:50', '0,50,100'],
  [' 1 , 2-3 ', '1-3'],
  ['7-7', '7'],
];

for (const [text, wanted] of INDICES) {
  test(`the indices '${text}' are ${wanted}`, () => {
    const read = readIndices(text);
    assert.ok(read.ok);
    assert.equal(read.value.toString(), wanted);
  });
}
